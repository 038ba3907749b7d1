/**
 * Compares calls to two processes with calls to one, on one PostgreSQL, under the same load from
 * two load processes. Also prints the ratio by CPU time per call, for machines with few cores, and
 * the CPU time of PostgreSQL, which limits the number of processes.
 * Exits 1 if the goal is missed and there are enough cores.
 */
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { readPostmasterFile } from "../sandbox/postgres/postmaster-file.ts";
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
  /** PostgreSQL's folder. */
  readonly dataDir: string;
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
    dataDir: surroundings.dataDir,
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
  /** The same of PostgreSQL. */
  readonly database: number;
}

/** The CPU time of PostgreSQL's processes, in seconds. */
async function databaseSeconds({ dataDir }: Bench): Promise<number> {
  const { pid = 0 } = (await readPostmasterFile(join(dataDir, "postgres"))) ?? {};
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const pids = children.split(" ").filter((each) => each.trim() !== "");
  return sum(await Promise.all(pids.map((each) => cpuSecondsOf(Number(each)))));
}

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

/** Sends the same load to the first service or to both. */
async function measure(bench: Bench, calls: readonly Call[], on: 1 | 2): Promise<Result> {
  const { services, loaders } = bench;
  const cpuSeconds = async (): Promise<number> =>
    sum(await Promise.all(services.map(({ pid }) => cpuSecondsOf(pid))));
  const [before, databaseBefore] = [await cpuSeconds(), await databaseSeconds(bench)];
  const results = await Promise.all(
    loaders.map((loader, at) =>
      loader.run({
        url: services[at % on]?.url ?? "",
        calls,
        fresh: "key",
        connections: CONNECTIONS,
        seconds: pace.seconds,
      }),
    ),
  );
  const answered = sum(results.map((each) => each.answered));
  const perCall = (seconds: number): number => (seconds * 1_000) / answered;
  return {
    rate: sum(results.map((each) => each.rate)),
    cpu: perCall((await cpuSeconds()) - before),
    database: perCall((await databaseSeconds(bench)) - databaseBefore),
  };
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
  const database = median(pairs.map(([, one]) => one.database)) ?? 0;
  const byCpu = median(pairs.map(([both, one]) => (2 * one.cpu) / both.cpu));
  console.log(
    `${name}: ${gain.toFixed(2)} times (${rates?.join(" and ")} a second at two processes and at one); ` +
      `by CPU ${byCpu.toFixed(2)} times (${cpus?.join(" and ")} ms a call); ` +
      `PostgreSQL ${database.toFixed(3)} ms a call`,
  );
  return gain;
}

await runAndCleanUp(async (cleanups) => {
  const bench = await start(cleanups);
  const headers = auth(bench.board);
  const workloads: Readonly<Record<string, readonly Call[]>> = {
    "board unchanged": [{ method: "GET", path: "/v1/board", headers }],
    card: Array.from({ length: 50 }, (_, at) => ({ method: "GET", path: `/v1/cards/${at + 1}`, headers })),
    comment: Array.from({ length: 50 }, (_, at) => {
      const body = JSON.stringify({ body: "A comment of the bench" });
      return { method: "POST", path: `/v1/cards/${at + 1}/comments`, headers, body };
    }),
  };
  const gains: number[] = [];
  for (const [name, calls] of Object.entries(workloads)) {
    if (!new RegExp(values.only ?? "").test(name)) continue;
    const gain = await compare(bench, name, calls);
    // The goal is that of reads: the writes of one board wait for each other.
    if (name !== "comment") gains.push(gain);
  }
  const cores = availableParallelism();
  const isMissed = gains.some((gain) => gain < GOAL);
  if (cores < CORES) console.log(`${cores} cores are too few to check the goal of ${GOAL} times.`);
  else if (isMissed) console.log(`The goal of ${GOAL} times is missed.`);
  return isMissed && cores >= CORES && !isShort ? 1 : 0;
});
