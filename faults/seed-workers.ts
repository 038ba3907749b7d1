import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { SeedOrder } from "./seed-worker.ts";
import type { SeedResult } from "./run-seed.ts";

/** Runs as many seeds at once as there are workers. Further seeds wait for a free worker. */
export interface SeedWorkers {
  run(order: SeedOrder): Promise<SeedResult>;
  stop(): Promise<void>;
}

/** A seed that takes longer fails. All waits within a seed end much earlier. */
const TIMEOUT_MS = 600_000;

export function startSeedWorkers(count: number): SeedWorkers {
  const free: (ChildProcess | null)[] = Array.from({ length: count }, () => null);
  const waiting: ((worker: ChildProcess | null) => void)[] = [];
  const take = (): Promise<ChildProcess | null> =>
    free.length > 0
      ? Promise.resolve(free.pop() ?? null)
      : new Promise((resolve) => void waiting.push(resolve));
  const release = (worker: ChildProcess | null): void => {
    const next = waiting.shift();
    if (next) next(worker);
    else free.push(worker);
  };
  return {
    async run(order) {
      const worker = (await take()) ?? fork(join(import.meta.dirname, "seed-worker.ts"));
      const startedAt = Date.now();
      worker.send(order);
      const result = await resultOf(worker);
      release(result === null ? null : worker);
      return result ?? unfinished(order, (Date.now() - startedAt) / 1_000);
    },
    async stop() {
      const workers = free.filter((worker) => worker !== null);
      for (const worker of workers) worker.disconnect();
      await Promise.all(workers.map((worker) => once(worker, "exit")));
    },
  };
}

/** Null if the worker ended or was killed before it sent a result. */
async function resultOf(worker: ChildProcess): Promise<SeedResult | null> {
  const timeout = setTimeout(() => worker.kill(), TIMEOUT_MS);
  const finished = new AbortController();
  const { signal } = finished;
  try {
    return await Promise.race([
      once(worker, "message", { signal }).then(([result]) => result as SeedResult),
      once(worker, "exit", { signal }).then(() => null),
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
