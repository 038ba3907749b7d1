/**
 * Measures what a second process brings: reads at one process and at two on one PostgreSQL, in turns, under the same load from two load processes. Beside what came
 * of it on these cores, it counts the service's CPU time a call, from which follows what two processes give where cores are not short. Exits 1
 * where there are cores enough and the goal is missed. `--rounds N`, `--seconds N`, `--only <pattern>`, `--short`.
 */
import { readdir, readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { runToItsEnd, type Ends } from "./ends.ts";
import type { Load } from "./load.ts";
import { startLoader, startNode, type Loader } from "./processes.ts";
import { startSurroundings } from "./setting.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string" },
    seconds: { type: "string" },
    only: { type: "string" },
    short: { type: "boolean" },
  },
});
const rounds = Number(values.rounds ?? (values.short ? 1 : 5));
const seconds = Number(values.seconds ?? (values.short ? 1 : 3));
const wanted = new RegExp(values.only ?? "");

/** What two processes are to give of what one gives. */
const GOAL = 1.6;
/** Two services, PostgreSQL and the load want a core each; on fewer, two processes share what one had. */
const CORES = 4;
/** Of each of the two load processes. */
const CONNECTIONS = 16;
const TICKS_A_SECOND = 100;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** The fields of `/proc/<pid>/stat` behind the process's name: 1 is its parent, 11 and 12 its own ticks, 13 and 14 those of children that have ended. */
async function statOf(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

const ticks = (stat: readonly string[], fields: readonly number[]): number =>
  fields.reduce((sum, field) => sum + Number(stat[field] ?? 0), 0) / TICKS_A_SECOND;

/** CPU seconds that processes have taken so far. */
async function cpuOf(pids: readonly number[]): Promise<number> {
  const stats = await Promise.all(pids.map(statOf));
  return stats.reduce((sum, stat) => sum + ticks(stat, [11, 12]), 0);
}

/** The same of a PostgreSQL: what it has running, and what has ended. */
async function cpuOfPostgres(dataDir: string): Promise<number> {
  const [postmaster = ""] = (await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n");
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(pids.map(statOf));
  const running = stats.filter((stat) => stat[1] === postmaster);
  const ended = ticks(await statOf(Number(postmaster)), [11, 12, 13, 14]);
  return running.reduce((sum, stat) => sum + ticks(stat, [11, 12]), ended);
}

interface Taken {
  /** Calls a second. */
  readonly rate: number;
  /** Milliseconds of CPU time a call, of the service's processes and of PostgreSQL's. */
  readonly service: number;
  readonly postgres: number;
}

interface Bench {
  readonly urls: readonly [string, string];
  readonly pids: readonly number[];
  readonly dataDir: string;
  readonly loaders: readonly [Loader, Loader];
}

/** The same load, on as many processes as there are addresses. */
async function take(
  bench: Bench,
  load: Omit<Load, "url" | "connections" | "seconds">,
  on: 1 | 2,
): Promise<Taken> {
  const before = [await cpuOf(bench.pids), await cpuOfPostgres(bench.dataDir)] as const;
  const measured = await Promise.all(
    bench.loaders.map((loader, at) =>
      loader.measure({ ...load, url: bench.urls[at % on] ?? "", connections: CONNECTIONS, seconds }),
    ),
  );
  const rate = measured.reduce((sum, each) => sum + each.rate, 0);
  const calls = rate * seconds;
  const after = [await cpuOf(bench.pids), await cpuOfPostgres(bench.dataDir)] as const;
  // What pulses and jobs take meanwhile is in it.
  return {
    rate,
    service: ((after[0] - before[0]) / calls) * 1_000,
    postgres: ((after[1] - before[1]) / calls) * 1_000,
  };
}

async function start(ends: Ends): Promise<Bench & { board: BenchBoard }> {
  const { connectionString, dataDir, forge, seeding } = await startSurroundings(ends, "trunkline-scale-out-");
  const startService = () =>
    startNode(
      ["dist/main.js"],
      {
        NODE_ENV: "production",
        PORT: "0",
        DRAIN_SECONDS: "0",
        LOG_LEVEL: "info",
        DATABASE_URL: connectionString,
        APP_ID: String(forge.app.id),
        PRIVATE_KEY: forge.app.privateKey,
        WEBHOOK_SECRET: forge.app.webhookSecret,
        GHE_HOST: new URL(forge.rootUrl).host,
        GHE_PROTOCOL: "http",
      },
      (line) => line.includes('"listening"'),
    );
  const services = [await startService(), await startService()] as const;
  const loaders = [startLoader({}), startLoader({})] as const;
  for (const started of [...services, ...loaders]) ends.push(() => started.stop());
  const [first, second] = services.map(({ line }) => (JSON.parse(line) as { baseUrl: string }).baseUrl);
  const pids = services.map(({ child }) => child.pid ?? 0);
  await sleep(values.short ? 0 : 5_000);
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    console.log(`idle memory: ${Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024)} MB`);
  }
  return {
    urls: [first ?? "", second ?? ""],
    pids,
    dataDir,
    loaders,
    board: await seedBoard(seeding, values.short ? 50 : 500),
  };
}

/** What two processes give ÷ what one gives, on these cores. */
async function compare(bench: Bench, name: string, load: Parameters<typeof take>[1]): Promise<number> {
  // A process that has answered little yet is slower than it will be.
  if (!values.short) await take(bench, load, 2);
  const taken: { one: Taken; two: Taken }[] = [];
  for (let round = 0; round < rounds; round++) {
    taken.push({ one: await take(bench, load, 1), two: await take(bench, load, 2) });
  }
  const gain = median(taken.map(({ one, two }) => two.rate / one.rate));
  const cost = median(taken.map(({ one, two }) => two.service / one.service));
  const of = (what: keyof Taken, side: "one" | "two"): string =>
    median(taken.map((pair) => pair[side][what])).toFixed(what === "rate" ? 0 : 3);
  console.log(
    `${name}: ${of("rate", "two")} a second at two processes, ${of("rate", "one")} at one: ${gain.toFixed(2)} times.\n` +
      `  CPU a call at two and one: service ${of("service", "two")} and ${of("service", "one")} ms, PostgreSQL ${of("postgres", "two")} and ${of("postgres", "one")} ms;` +
      ` by the service's, ${(2 / cost).toFixed(2)} times where cores are not short.`,
  );
  return gain;
}

await runToItsEnd(async (ends) => {
  const cores = availableParallelism();
  const bench = await start(ends);
  const headers = { authorization: `Bearer ${bench.board.apiKey}` };
  const loads: Record<string, Parameters<typeof take>[1]> = {
    "board unchanged, 500 cards": { method: "GET", paths: ["/v1/board"], headers },
    card: {
      method: "GET",
      paths: Array.from({ length: 50 }, (_, at) => `/v1/cards/${at + 1}`),
      headers,
    },
  };
  const gains: number[] = [];
  for (const [name, load] of Object.entries(loads)) {
    if (wanted.test(name)) gains.push(await compare(bench, name, load));
  }
  const isMissed = gains.some((gain) => gain < GOAL);
  if (cores < CORES) console.log(`${cores} cores: too few to say whether ${GOAL} times is reached.`);
  else if (isMissed) console.log(`The goal of ${GOAL} times is missed.`);
  return isMissed && cores >= CORES && !values.short ? 1 : 0;
});
