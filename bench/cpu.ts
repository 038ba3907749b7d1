/**
 * What a call costs in processor time, which a busy machine hardly changes: so many calls to the service as shipped and as many to the floor, in turns, and the
 * microseconds that node and PostgreSQL worked for each. `--only <pattern>` picks workloads, `--calls N` and `--rounds N` how many, `--connections 1,16` at which,
 * `--beside <main.js>` another build of the service that is measured, too.
 */
import { readdir, readFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { runToItsEnd, type Ends } from "./ends.ts";
import { copyTables, startFloors, startService, startSurroundings } from "./setting.ts";
import { startLoader } from "./processes.ts";
import { seedBoard } from "./seed.ts";
import { workloadsOf, type Side } from "./workloads.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    calls: { type: "string", default: "4000" },
    rounds: { type: "string", default: "3" },
    cards: { type: "string", default: "500" },
    connections: { type: "string", default: "1,16" },
    beside: { type: "string" },
  },
});
const wanted = new RegExp(values.only);
/** It compares the service with itself, and so says nothing here. */
const NOT_HERE = /^replay/;
const calls = Number(values.calls);
const env = { BENCH_HOOK_SECRET: randomBytes(24).toString("hex") };
const loader = startLoader(env);

/** Nanoseconds that all threads of a process have worked. */
async function workedBy(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const each = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8").catch(() => "0")),
  );
  return each.reduce((sum, text) => sum + Number(text.split(" ")[0]), 0);
}

/** What the kernel tells of a process, from its parent on: the name before may hold anything. */
const statOf = async (pid: number): Promise<string[]> =>
  (await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")).replace(/^.*\) \S /s, "").split(" ");

const NANOSECONDS_A_TICK = 10_000_000;

/** Nanoseconds that the processes of a server have worked, those that have ended included. */
async function workedByServer(postmaster: number): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map(async (pid) => [pid, Number((await statOf(pid))[0])] as const));
  const children = parents.filter(([, parent]) => parent === postmaster).map(([pid]) => pid);
  const each = await Promise.all(children.map(workedBy));
  const stat = await statOf(postmaster);
  const ended = (Number(stat[12]) + Number(stat[13])) * NANOSECONDS_A_TICK;
  return each.reduce((sum, one) => sum + one, ended);
}

/** Of one call: microseconds of the processor. */
interface Cost {
  readonly node: number;
  readonly postgres: number;
  /** Calls a second. */
  readonly rate: number;
}

/** A process that is measured, by what it is asked. */
interface Measured {
  readonly name: string;
  readonly pid: number;
  readonly side: Side;
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

async function measureCost({ pid, side }: Measured, postmaster: number, connections: number): Promise<Cost> {
  const worked = async () => ({ node: await workedBy(pid), postgres: await workedByServer(postmaster) });
  const before = await worked();
  const { rate } = await loader.measure({ ...side, connections, amount: calls });
  const after = await worked();
  const each = (what: "node" | "postgres"): number => (after[what] - before[what]) / calls / 1_000;
  return { node: each("node"), postgres: each("postgres"), rate };
}

/** Asks each side in turns, once more before so that all of it is compiled, and gives a line of what came of it. */
async function compare(
  sides: readonly Measured[],
  postmaster: number,
  connections: number,
): Promise<readonly string[]> {
  const costs = sides.map((): Cost[] => []);
  for (let round = -1; round < Number(values.rounds); round++) {
    for (const [at, side] of sides.entries()) {
      const cost = await measureCost(side, postmaster, connections);
      if (round >= 0) costs[at]?.push(cost);
    }
  }
  return sides.map(({ name }, at) => {
    const of = (what: keyof Cost): string => median((costs[at] ?? []).map((one) => one[what])).toFixed(0);
    return `${name} ${of("node")} + ${of("postgres")} (${of("rate")})`;
  });
}

async function main(ends: Ends): Promise<number> {
  ends.push(() => loader.stop());
  const { connectionString, forge, db, seeding } = await startSurroundings(ends, "trunkline-cpu-");
  const start = async (mainFile?: string) => {
    const started = await startService(connectionString, forge, env.BENCH_HOOK_SECRET, mainFile);
    ends.push(started.stop);
    return started;
  };
  const service = await start();
  const beside = values.beside === undefined ? null : await start(values.beside);
  const board = await seedBoard(seeding, Number(values.cards));
  await copyTables(seeding);
  const floors = await startFloors(connectionString, board, env);
  ends.push(floors.stop);
  const { rows } = await db.raw<{ rows: { pid: number }[] }>("select pg_backend_pid() as pid");
  const postmaster = Number((await statOf(rows[0]?.pid ?? 0))[0]);
  const headers = { authorization: `Bearer ${board.apiKey}` };
  const etag = (await fetch(`${service.url}/v1/board`, { headers })).headers.get("etag") ?? "";
  console.log("µs a call of node + PostgreSQL (calls a second), medians");
  for (const workload of workloadsOf({ service: service.url, ...floors }, board, etag)) {
    if (!wanted.test(workload.name) || NOT_HERE.test(workload.name)) continue;
    const sides = [
      { name: "service", pid: service.pid, side: workload.service },
      ...(beside
        ? [{ name: "beside", pid: beside.pid, side: { ...workload.service, url: beside.url } }]
        : []),
      { name: "floor", pid: floors.pid, side: workload.floor },
    ];
    for (const connections of values.connections.split(",").map(Number)) {
      const shown = await compare(sides, postmaster, connections);
      console.log(`${workload.name} @${connections}`.padEnd(34), shown.join(" | "));
    }
  }
  return 0;
}

await runToItsEnd(main);
