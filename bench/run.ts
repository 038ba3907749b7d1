/**
 * Measures the service as shipped against floors on the same PostgreSQL, in turns, and writes the table to bench/README.md. `--short` proves only that
 * it runs, `--growth` compares a large board with small ones instead. Exits 1 when a goal is missed, except with `--short`.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startForge } from "../src/sandbox/forge/start-forge.ts";
import { lockDataDir } from "../src/sandbox/data-dir-lock.ts";
import { startPostgres } from "../src/sandbox/postgres/start-postgres.ts";
import { connect, type Db } from "../src/store/connect.ts";
import { migrate } from "../src/store/migrate.ts";
import type { Measured } from "./load.ts";
import { growthWorkloads, LARGE, TINY } from "./growth-workloads.ts";
import { measure } from "./processes.ts";
import { isMissed, writeReport, type Row } from "./report.ts";
import { reportWorkloads } from "./report-workloads.ts";
import { seedHistory } from "./seed-history.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import { copyTables, startFloors, startService } from "./setting.ts";
import { workloadsOf, type Side, type Workload } from "./workloads.ts";

const { values } = parseArgs({
  options: {
    short: { type: "boolean" },
    growth: { type: "boolean" },
    only: { type: "string" },
    rounds: { type: "string" },
  },
});
const isShort = values.short === true;
const rounds = Number(values.rounds ?? (isShort ? 1 : 5));
const seconds = isShort ? 1 : 2;
const sizes = isShort ? [50] : [500, 5_000];
const wanted = new RegExp(values.only ?? "");

const WRITE_EVERY_MS = 3;

const ends: (() => Promise<unknown>)[] = [];
const hookSecret = randomBytes(24).toString("hex");
const env = { BENCH_HOOK_SECRET: hookSecret };

/** Writes one card of a board over and over, until what it gives is called. */
function keepWriting(db: Db, { projectId }: BenchBoard): () => Promise<void> {
  const over = new AbortController();
  const writing = (async (): Promise<void> => {
    while (!over.signal.aborted) {
      await db.raw("update cards set title = title where project_id = ? and number = 1", [projectId]);
      await sleep(WRITE_EVERY_MS);
    }
  })();
  return () => {
    over.abort();
    return writing;
  };
}

async function compare(workload: Workload, connections: number): Promise<Row> {
  const pairs: { ratio: number; rate: number; floor: number; p50: number; p99: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const of = (side: Side): Promise<Measured> => measure({ ...side, connections, seconds }, env);
    const inTurns = async () => [await of(workload.service), await of(workload.floor)] as const;
    // Side by side takes half as long, and says nothing but that both run.
    const [service, floor] = await (isShort
      ? Promise.all([of(workload.service), of(workload.floor)])
      : inTurns());
    pairs.push({
      ratio: service.rate / floor.rate,
      rate: service.rate,
      floor: floor.rate,
      p50: service.p50,
      p99: service.p99,
    });
  }
  const median = (of: (pair: (typeof pairs)[number]) => number): number => {
    const sorted = pairs.map(of).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  const row: Row = {
    name: workload.name,
    connections,
    service: median(({ rate }) => rate),
    floor: median(({ floor }) => floor),
    ratio: median(({ ratio }) => ratio),
    goal: workload.atLeast[connections] ?? 0,
    p50: median(({ p50 }) => p50),
    p99: median(({ p99 }) => p99),
    spread: workload.spread ?? null,
  };
  console.log(
    `${row.name} @${connections}: ${row.service.toFixed(0)} / ${row.floor.toFixed(0)} = ${row.ratio.toFixed(2)} (goal ${row.goal})`,
  );
  return row;
}

async function main(): Promise<readonly Row[]> {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
  const dir = await mkdtemp(join(tmpdir(), "trunkline-bench-"));
  ends.push(() => rm(dir, { recursive: true, force: true }));
  const postgres = await startPostgres({ dataDir: await lockDataDir(join(dir, "data"), process.pid) });
  ends.push(() => postgres.stop());
  const { connectionString } = postgres;
  const forge = await startForge({ dataDir: join(dir, "forge"), port: 0, webhookUrl: null });
  ends.push(() => forge.stop());
  const db = connect({ connectionString, onError: () => undefined });
  ends.push(() => db.destroy());
  await migrate(db, connectionString);
  const service = await startService(connectionString, forge, hookSecret);
  ends.push(service.stop);
  const memory = (what: "VmRSS" | "VmHWM"): Promise<number> => megabytesOf(service.pid, what);
  await sleep(isShort ? 0 : 3_000);
  const idle = await memory("VmRSS");
  const { url: serviceUrl } = service;
  const table: Row[] = [];
  if (values.growth === true) return compareGrowth(connectionString, serviceUrl);
  const compareAll = async (board: BenchBoard, workloadsFor: typeof workloadsOf): Promise<void> => {
    await copyTables(db);
    const { stop, ...floors } = await startFloors(connectionString, board, env);
    const headers = { authorization: `Bearer ${board.apiKey}` };
    const etag = (await fetch(`${serviceUrl}/v1/board`, { headers })).headers.get("etag") ?? "";
    for (const workload of workloadsFor({ service: serviceUrl, ...floors }, board, etag)) {
      if (!wanted.test(workload.name)) continue;
      const stopWriting = workload.isBoardWritten ? keepWriting(db, board) : null;
      for (const connections of isShort ? [4] : Object.keys(workload.atLeast).map(Number)) {
        table.push(await compare(workload, connections));
      }
      await stopWriting?.();
    }
    await stop();
  };
  for (const size of sizes) await compareAll(await seedBoard(db, size), workloadsOf);
  await compareAll(await seedHistory(db, isShort ? 50 : 5_000), reportWorkloads);
  table.push(memoryRow("idle", idle, 150), memoryRow("at most, under this load", await memory("VmHWM"), 400));
  return table;
}

/** What the kernel says of a process's memory; 0 where it says nothing. */
async function megabytesOf(pid: number | undefined, what: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024;
}

/** A limit as a row: the limit ÷ what is used, which is to be at least 1. */
function memoryRow(name: string, used: number, limit: number): Row {
  const row = {
    name: `memory ${name}, MB`,
    connections: 0,
    service: used,
    floor: limit,
    p50: 0,
    p99: 0,
    spread: null,
  };
  console.log(`${row.name}: ${used.toFixed(0)} of ${limit}`);
  return { ...row, ratio: used === 0 ? 0 : limit / used, goal: 1 };
}

async function compareGrowth(connectionString: string, service: string): Promise<Row[]> {
  // One connection, so that it keeps the patience a million rows take.
  const db = connect({ connectionString, max: 1, onError: () => undefined });
  ends.push(() => db.destroy());
  await db.raw("set statement_timeout = 0");
  const small = await seedBoard(db, 500);
  const tiny = await seedBoard(db, TINY);
  const large = await seedBoard(db, LARGE);
  await db.raw("vacuum analyze");
  const table: Row[] = [];
  for (const workload of growthWorkloads(service, large, small, tiny)) {
    if (wanted.test(workload.name)) table.push(await compare(workload, 1));
  }
  return table;
}

try {
  const table = await main();
  const missed = table.filter(isMissed);
  if (!isShort && !values.growth && !values.only) await writeReport(table);
  if (missed.length > 0) console.log(`${missed.length} of ${table.length} goals missed`);
  process.exitCode = missed.length > 0 && !isShort ? 1 : 0;
} finally {
  for (const end of ends.toReversed()) await end();
}
