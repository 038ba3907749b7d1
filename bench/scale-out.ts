/**
 * Compares reads at two processes with reads at one, on one PostgreSQL, under the same load from
 * two load processes. Also prints the ratio by CPU time per call, for machines with few cores.
 * Exits 1 if the goal is missed and there are enough cores.
 */
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { measureInTurns, type Pace } from "./compare.ts";
import type { Call } from "./load.ts";
import { runAndCleanUp, startLoader, type Cleanups, type Loader } from "./processes.ts";
import { median } from "./report.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import { auth } from "./workloads.ts";
import { cpuSecondsOf, memoryOf, startService, startSurroundings } from "./world.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string" }, only: { type: "string" }, short: { type: "boolean" } },
});
const isShort = values.short === true;
const pace: Pace = { isShort, rounds: Number(values.rounds ?? (isShort ? 1 : 5)), seconds: isShort ? 1 : 3 };

/** Two processes ÷ one. */
const GOAL = 1.6;
/** Two services, PostgreSQL and the load need a core each. */
const CORES = 4;
/** Per load process. */
const CONNECTIONS = 16;

interface Bench {
  readonly services: readonly { readonly url: string; readonly pid: number }[];
  readonly loaders: readonly Loader[];
  readonly board: BenchBoard;
}

async function start(cleanups: Cleanups): Promise<Bench> {
  const surroundings = await startSurroundings(cleanups);
  const services = [await startService(surroundings), await startService(surroundings)];
  await sleep(isShort ? 0 : 5_000);
  for (const { pid } of services) {
    console.log(`idle memory: ${Math.round(await memoryOf(pid, "VmRSS"))} MB`);
  }
  return {
    services,
    loaders: [startLoader(cleanups), startLoader(cleanups)],
    board: await seedBoard(surroundings.seeding, isShort ? 50 : 500),
  };
}

interface Result {
  /** Calls per second. */
  readonly rate: number;
  /** CPU milliseconds of the services per call, including jobs. */
  readonly cpu: number;
}

/** Sends the same load to the first service or to both. */
async function measure({ services, loaders }: Bench, calls: readonly Call[], on: 1 | 2): Promise<Result> {
  const cpuSeconds = async (): Promise<number> =>
    (await Promise.all(services.map(({ pid }) => cpuSecondsOf(pid)))).reduce((sum, each) => sum + each, 0);
  const before = await cpuSeconds();
  const results = await Promise.all(
    loaders.map((loader, at) =>
      loader.run({
        url: services[at % on]?.url ?? "",
        calls,
        connections: CONNECTIONS,
        seconds: pace.seconds,
      }),
    ),
  );
  const answered = results.reduce((sum, each) => sum + each.answered, 0);
  const rate = results.reduce((sum, each) => sum + each.rate, 0);
  return { rate, cpu: (((await cpuSeconds()) - before) * 1_000) / answered };
}

async function compare(bench: Bench, name: string, calls: readonly Call[]): Promise<number> {
  const two = (): Promise<Result> => measure(bench, calls, 2);
  // Warms up both processes.
  await two();
  const pairs = await measureInTurns(pace, two, () => measure(bench, calls, 1));
  const gain = median(pairs.map(([both, one]) => both.rate / one.rate));
  const [rates, cpus] = (["rate", "cpu"] as const).map((what) =>
    [0, 1].map((side) =>
      median(pairs.map((pair) => pair[side]?.[what] ?? 0)).toFixed(what === "rate" ? 0 : 3),
    ),
  );
  const byCpu = median(pairs.map(([both, one]) => (2 * one.cpu) / both.cpu));
  console.log(
    `${name}: ${gain.toFixed(2)} times (${rates?.join(" and ")} a second at two processes and at one); ` +
      `by CPU ${byCpu.toFixed(2)} times (${cpus?.join(" and ")} ms a call)`,
  );
  return gain;
}

await runAndCleanUp(async (cleanups) => {
  const bench = await start(cleanups);
  const headers = auth(bench.board);
  const reads: Readonly<Record<string, readonly Call[]>> = {
    "board unchanged": [{ method: "GET", path: "/v1/board", headers }],
    card: Array.from({ length: 50 }, (_, at) => ({ method: "GET", path: `/v1/cards/${at + 1}`, headers })),
  };
  const gains: number[] = [];
  for (const [name, calls] of Object.entries(reads)) {
    if (new RegExp(values.only ?? "").test(name)) gains.push(await compare(bench, name, calls));
  }
  const cores = availableParallelism();
  const isMissed = gains.some((gain) => gain < GOAL);
  if (cores < CORES) console.log(`${cores} cores are too few to check the goal of ${GOAL} times.`);
  else if (isMissed) console.log(`The goal of ${GOAL} times is missed.`);
  return isMissed && cores >= CORES && !isShort ? 1 : 0;
});
