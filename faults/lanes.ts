import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { SeedOrder } from "./lane.ts";
import type { SeedResult } from "./run-seed.ts";

/** Runs as many seeds at once as there are lanes. Further seeds wait for a free lane. */
export interface Workers {
  play(order: SeedOrder): Promise<SeedResult>;
  stop(): Promise<void>;
}

/** A seed that takes longer fails. All waits within a seed end much earlier. */
const TIMEOUT_MS = 600_000;

export function openWorkers(count: number): Workers {
  const free: (ChildProcess | null)[] = Array.from({ length: count }, () => null);
  const waiting: ((lane: ChildProcess | null) => void)[] = [];
  const take = (): Promise<ChildProcess | null> =>
    free.length > 0
      ? Promise.resolve(free.pop() ?? null)
      : new Promise((resolve) => void waiting.push(resolve));
  const release = (lane: ChildProcess | null): void => {
    const next = waiting.shift();
    if (next) next(lane);
    else free.push(lane);
  };
  return {
    async play(order) {
      const lane = (await take()) ?? fork(join(import.meta.dirname, "lane.ts"));
      const startedAt = Date.now();
      lane.send(order);
      const result = await resultOf(lane);
      release(result === null ? null : lane);
      return result ?? unfinished(order, (Date.now() - startedAt) / 1_000);
    },
    async stop() {
      const lanes = free.filter((lane) => lane !== null);
      for (const lane of lanes) lane.disconnect();
      await Promise.all(lanes.map((lane) => once(lane, "exit")));
    },
  };
}

/** Null if the lane ended or was killed before it sent a result. */
async function resultOf(lane: ChildProcess): Promise<SeedResult | null> {
  const timeout = setTimeout(() => lane.kill(), TIMEOUT_MS);
  const finished = new AbortController();
  const { signal } = finished;
  try {
    return await Promise.race([
      once(lane, "message", { signal }).then(([result]) => result as SeedResult),
      once(lane, "exit", { signal }).then(() => null),
    ]);
  } finally {
    clearTimeout(timeout);
    finished.abort();
  }
}

const unfinished = ({ seed, folder }: SeedOrder, seconds: number): SeedResult => ({
  seed,
  folder: join(folder, `seed-${seed}`),
  violations: [{ invariant: "the run", text: "did not finish; its output is above" }],
  calls: 0,
  happened: {},
  seconds,
});
