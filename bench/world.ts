import { randomBytes } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningForge } from "../src/sandbox/forge/start-forge.ts";
import type { Db } from "../src/store/connect.ts";
import type { Ends } from "./ends.ts";
import { startLoader, type Loader } from "./processes.ts";
import { startService, startSurroundings } from "./setting.ts";

/** What everything is measured in: PostgreSQL, a forge, the compiled service and the process that loads it. */
export interface BenchWorld {
  readonly ends: Ends;
  readonly connectionString: string;
  readonly db: Db;
  /** For what takes longer than a service lets a statement run. */
  readonly seeding: Db;
  readonly forge: RunningForge;
  readonly service: string;
  /** What the kernel says of the service's memory, in MB; 0 where it says nothing. */
  memory(what: "VmRSS" | "VmHWM"): Promise<number>;
  readonly loader: Loader;
  readonly env: Readonly<Record<string, string>>;
  /** How often transactions deadlocked so far. */
  deadlocks(): Promise<number>;
}

const PREFIX = "trunkline-bench-";

/** Starts it all. What is to be done at the end goes to `ends` as soon as there is something to end. */
export async function startBenchWorld(ends: Ends): Promise<BenchWorld> {
  await removeLeftovers();
  const { connectionString, forge, db, seeding } = await startSurroundings(ends, `${PREFIX}${process.pid}-`);
  const hookSecret = randomBytes(24).toString("hex");
  const env = { BENCH_HOOK_SECRET: hookSecret };
  // Deliveries are signed here, too.
  Object.assign(process.env, env);
  const service = await startService(connectionString, forge, hookSecret);
  ends.push(service.stop);
  const loader = startLoader(env);
  ends.push(() => loader.stop());
  return {
    ends,
    connectionString,
    db,
    seeding,
    forge,
    service: service.url,
    memory: async (what) => {
      const status = await readFile(`/proc/${service.pid}/status`, "utf8").catch(() => "");
      return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024;
    },
    loader,
    env,
    deadlocks: async () => {
      const found: { rows: { deadlocks: string }[] } = await db.raw(
        "select deadlocks from pg_stat_database where datname = current_database()",
      );
      return Number(found.rows[0]?.deadlocks ?? 0);
    },
  };
}

/** Folders of runs that were killed. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) {
      await rm(join(tmpdir(), name), { recursive: true, force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
