import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { column, firstRow, rows, type Db } from "../../src/store/db/connect.ts";
import { readQueueStatistics } from "../../src/store/ops/queue-statistics.ts";
import { METRICS_TOKEN } from "../../test/support/world.ts";
import { RETAINED } from "./ageing.ts";
import type { Sample } from "./flatness.ts";
import { HARNESS, type SoakWorld } from "./world.ts";

/** The time for a garbage collection before memory is read. */
const COLLECTING_MS = 500;

export async function takeSample(world: SoakWorld, at: number, cards: number): Promise<Sample> {
  const pid = world.service.pid();
  if (pid === undefined || !world.service.isUp()) throw new Error("The service has ended.");
  process.kill(pid, "SIGUSR2");
  await sleep(COLLECTING_MS);
  const { db } = world.deps;
  const metric = await readMetrics(world);
  const { queueDepth, waiting } = await readQueueStatistics(db);
  const found = await firstRow<{ connections: number; jobs: number; size: number }>(
    db,
    `select (select count(*) from pg_stat_activity
              where datname = current_database() and application_name <> :harness) as connections,
            (select count(*) from graphile_worker._private_jobs) as jobs,
            pg_total_relation_size('graphile_worker._private_jobs') as size`,
    { harness: HARNESS },
  );
  const tables = await readTables(db);
  const retained = tables.filter(({ name }) => name in RETAINED);
  const items = tables.filter(({ name }) => name === "cards" || name === "timeline_items");
  const others = tables.filter(({ name }) => !(name in RETAINED));
  return {
    at,
    cards,
    rss: megabytes(metric("process_resident_memory_bytes")),
    heap: megabytes(metric("nodejs_heap_size_used_bytes") + metric("nodejs_external_memory_bytes")),
    files: (await readdir(`/proc/${pid}/fd`)).length,
    connections: found?.connections ?? 0,
    queue: queueDepth + waiting,
    jobs: found?.jobs ?? 0,
    jobsSize: megabytes(found?.size ?? 0),
    temporary: (await readdir(world.temporaryFolder)).length,
    overdue: await countOverdue(db),
    retainedSize: megabytes(sumOf(retained, "size")),
    perItem: sumOf(others, "count") / Math.max(1, sumOf(items, "count")),
  };
}

interface TableSize {
  readonly name: string;
  readonly count: number;
  /** With indexes, in bytes. */
  readonly size: number;
}

const sumOf = (tables: readonly TableSize[], field: "count" | "size"): number =>
  tables.reduce((sum, table) => sum + table[field], 0);

/** Counts the rows that the service should have deleted. A sample may be taken just before. */
async function countOverdue(db: Db): Promise<number> {
  const counts = Object.entries(RETAINED).map(
    ([table, column]) => `(select count(*) from ${table} where ${column} < now() - interval '400 days')`,
  );
  return (await firstRow<{ count: number }>(db, `select ${counts.join(" + ")} as count`))?.count ?? 0;
}

/** Counts the rows of the service's tables. */
async function readTables(db: Db): Promise<TableSize[]> {
  const names = await column<string>(db, "select tablename from pg_tables where schemaname = 'public'");
  const selects = names.map(
    (name) =>
      `select '${name}' as name, count(*) as count, pg_total_relation_size('public.${name}') as size from public.${name}`,
  );
  return rows<TableSize>(db, selects.join(" union all "));
}

const megabytes = (bytes: number): number => bytes / 1_048_576;

async function readMetrics({ service }: SoakWorld): Promise<(name: string) => number> {
  const response = await fetch(`${service.baseUrl}/metrics`, {
    // The server may close a reused connection at the moment of the request.
    headers: { authorization: `Bearer ${METRICS_TOKEN}`, connection: "close" },
  });
  const text = await response.text();
  return (name) => {
    const [, value] = new RegExp(`^${name} (\\S+)$`, "m").exec(text) ?? [];
    if (value === undefined) throw new Error(`The service has no metric ${name}.`);
    return Number(value);
  };
}

/** The CPU time of the service so far, in seconds. It does not depend on other load. */
export async function readCpuSeconds({ service }: SoakWorld): Promise<number> {
  const fields = (await readFile(`/proc/${service.pid()}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
