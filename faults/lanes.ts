import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Order } from "./lane.ts";
import type { Played } from "./play-seed.ts";

/** Plays as many seeds at once as there are lanes; who comes later waits for a free one. */
export interface Lanes {
  play(order: Order): Promise<Played>;
  stop(): Promise<void>;
}

/** Past this a seed is given up, and is broken: every wait within it ends much earlier. */
const LONGEST_MS = 600_000;

export function openLanes(count: number): Lanes {
  const free: (ChildProcess | null)[] = Array.from({ length: count }, () => null);
  const waiting: ((lane: ChildProcess | null) => void)[] = [];
  const take = (): Promise<ChildProcess | null> =>
    free.length > 0
      ? Promise.resolve(free.pop() ?? null)
      : new Promise((resolve) => void waiting.push(resolve));
  const giveBack = (lane: ChildProcess | null): void => {
    const next = waiting.shift();
    if (next) next(lane);
    else free.push(lane);
  };
  return {
    async play(order) {
      const lane = (await take()) ?? fork(join(import.meta.dirname, "lane.ts"));
      const began = Date.now();
      lane.send(order);
      const played = await answerOf(lane);
      giveBack(played === null ? null : lane);
      return played ?? unfinished(order, (Date.now() - began) / 1_000);
    },
    async stop() {
      const lanes = free.filter((lane) => lane !== null);
      for (const lane of lanes) lane.disconnect();
      await Promise.all(lanes.map((lane) => once(lane, "exit")));
    },
  };
}

/** Null where the lane ended, or had to be ended, without an answer. */
async function answerOf(lane: ChildProcess): Promise<Played | null> {
  const tooLong = setTimeout(() => lane.kill(), LONGEST_MS);
  const settled = new AbortController();
  const { signal } = settled;
  try {
    return await Promise.race([
      once(lane, "message", { signal }).then(([played]) => played as Played),
      once(lane, "exit", { signal }).then(() => null),
    ]);
  } finally {
    clearTimeout(tooLong);
    settled.abort();
  }
}

const unfinished = ({ seed, folder }: Order, seconds: number): Played => ({
  seed,
  folder: join(folder, `seed-${seed}`),
  violations: [{ invariant: "the run", text: "did not come to its end; what it says is above" }],
  calls: 0,
  happened: {},
  seconds,
});
