import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const BYTES = 16;
/** For so many ids random bytes are asked for at once: an id takes 0.3 µs, and 2 where they are asked for each. */
const AHEAD = 128;

const ahead = Buffer.alloc(AHEAD * BYTES);
let next = ahead.length;
let msecs = -Infinity;
let seq = 0;

/** A UUIDv7. Each that a process makes comes after those it has made before. */
export function newId(): string {
  if (next === ahead.length) {
    randomFillSync(ahead);
    next = 0;
  }
  const random = ahead.subarray(next, (next += BYTES));
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    // Half of what it may count to is left for counting.
    seq = random.readUInt32BE(6) & 0x7fff_ffff;
  } else {
    seq = (seq + 1) | 0;
    if (seq === 0) msecs++;
  }
  return v7({ random, msecs, seq });
}
