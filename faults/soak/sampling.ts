import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { firstRow } from "../../src/store/db/connect.ts";
import { readQueueStatistics } from "../../src/store/ops/queue-statistics.ts";
import { METRICS_TOKEN } from "../../test/support/world.ts";
import type { Sample } from "./flatness.ts";
import { HARNESS, type SoakWorld } from "./world.ts";

/** How long a collection of garbage is given before its result is read, in milliseconds. */
const COLLECTING_MS = 500;

/** Looks at everything once. */
export async function takeSample(world: SoakWorld, at: number, cards: number): Promise<Sample> {
  const pid = world.service.pid();
  if (pid === undefined || !world.service.isUp()) throw new Error("the service has ended");
  process.kill(pid, "SIGUSR2");
  await sleep(COLLECTING_MS);
  const { db } = world.deps;
  const numbers = await readMetrics(world);
  const { queueDepth, waiting } = await readQueueStatistics(db);
  const found = await firstRow<{ connections: number; jobs: number; size: number }>(
    db,
    `select (select count(*) from pg_stat_activity
              where datname = current_database() and application_name <> :harness) as connections,
            (select count(*) from graphile_worker._private_jobs) as jobs,
            pg_total_relation_size('graphile_worker._private_jobs') as size`,
    { harness: HARNESS },
  );
  return {
    at,
    cards,
    rss: megabytes(numbers("process_resident_memory_bytes")),
    heap: megabytes(numbers("nodejs_heap_size_used_bytes") + numbers("nodejs_external_memory_bytes")),
    files: (await readdir(`/proc/${pid}/fd`)).length,
    connections: found?.connections ?? 0,
    queue: queueDepth + waiting,
    jobs: found?.jobs ?? 0,
    jobsSize: megabytes(found?.size ?? 0),
    temporary: (await readdir(world.temporary)).length,
  };
}

const megabytes = (bytes: number): number => bytes / 1_048_576;

async function readMetrics({ service }: SoakWorld): Promise<(name: string) => number> {
  const response = await fetch(`${service.baseUrl}/metrics`, {
    // A connection of its own: one kept from the last look may be closed just as it is used again.
    headers: { authorization: `Bearer ${METRICS_TOKEN}`, connection: "close" },
  });
  const text = await response.text();
  return (name) => {
    const [, value] = new RegExp(`^${name} (\\S+)$`, "m").exec(text) ?? [];
    if (value === undefined) throw new Error(`the service tells no ${name}`);
    return Number(value);
  };
}

/** The service's processor time so far, in seconds, of which a shared machine takes nothing. */
export async function processorSeconds({ service }: SoakWorld): Promise<number> {
  const fields = (await readFile(`/proc/${service.pid()}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
