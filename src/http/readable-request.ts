import type { Request } from "express";
import { invalid, Problem } from "../errors.ts";

const MAX_ADDRESS = 8 * 1024;
/** Headers that decide who asks for what. Of two, node would silently take the first, or join them. */
const SINGLE = ["authorization", "idempotency-key", "x-service-workspace", "content-type"];

/** Refuses what could be read in two ways, or is too long to be meant. */
export function requireReadable(request: Request): void {
  if (request.url.length > MAX_ADDRESS) {
    throw new Problem("address_too_long", `The address is longer than ${MAX_ADDRESS / 1024} kB.`);
  }
  // None was sent twice. Else all are listed once more, which is dearer than everything else here.
  if (request.rawHeaders.length === 2 * Object.keys(request.headers).length) return;
  for (const name of SINGLE) {
    const count = request.headersDistinct[name]?.length ?? 0;
    if (count > 1) throw invalid(`The header ${name} was sent ${count} times. Send it once.`);
  }
}
