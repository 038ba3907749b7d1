import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockDataDir } from "../sandbox/data-dir-lock.ts";
import { startForge, type RunningForge } from "../sandbox/forge/start-forge.ts";
import { startPostgres } from "../sandbox/postgres/start-postgres.ts";
import { connect, type Db } from "../src/store/db/connect.ts";
import { migrate } from "../src/store/db/migrate.ts";
import { WEBHOOK_SECRET } from "./webhook-signature.ts";
import { script, startLoader, startNode, type Cleanups, type Loader } from "./processes.ts";
import type { BenchBoard } from "./seed.ts";

/** The addresses of the two sides; `hello` is bare Express. */
export interface Addresses {
  readonly service: string;
  readonly floors: string;
  readonly hello: string;
}

/** PostgreSQL and a forge. */
export interface Surroundings {
  readonly cleanups: Cleanups;
  readonly connectionString: string;
  /** PostgreSQL's data directory. */
  readonly dataDir: string;
  readonly forge: RunningForge;
  readonly db: Db;
  /** One connection without a limit on the time of a statement. */
  readonly seeding: Db;
}

/** The measured service and its surroundings. */
export interface BenchWorld extends Surroundings {
  /** The address of the compiled service. */
  readonly service: string;
  readonly pid: number;
  readonly loader: Loader;
}

/** Builds the service and starts a migrated, durable PostgreSQL and a forge in a new folder. */
export async function startSurroundings(cleanups: Cleanups): Promise<Surroundings> {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
  const dir = await mkdtemp(join(tmpdir(), "trunkline-bench-"));
  cleanups.push(() => rm(dir, { recursive: true, force: true }));
  const dataDir = join(dir, "data");
  const postgres = await startPostgres({ dataDir: await lockDataDir(dataDir, process.pid) });
  cleanups.push(() => postgres.stop());
  const { connectionString } = postgres;
  const forge = await startForge({ dataDir: join(dir, "forge"), port: 0, webhookUrl: null });
  cleanups.push(() => forge.stop());
  const db = connect({ connectionString, onError: ignore });
  cleanups.push(() => db.destroy());
  const seeding = connect({ connectionString, max: 1, hasTimeouts: false, onError: ignore });
  cleanups.push(() => seeding.destroy());
  await migrate(connectionString);
  return { cleanups, connectionString, dataDir, forge, db, seeding };
}

/** A connection error also fails the call that uses the connection. */
const ignore = (): void => undefined;

export async function startBenchWorld(cleanups: Cleanups): Promise<BenchWorld> {
  const surroundings = await startSurroundings(cleanups);
  const { url: service, pid } = await startService(surroundings);
  return { ...surroundings, service, pid, loader: startLoader(cleanups) };
}

/** Starts the compiled service as shipped, but without a limit on the rate of calls. */
export async function startService(
  { cleanups, forge, ...surroundings }: Surroundings,
  connectionString = surroundings.connectionString,
  env: Readonly<Record<string, string>> = {},
) {
  const { nextLine, pid, stop } = startNode(cleanups, ["dist/src/main.js"], {
    NODE_ENV: "production",
    PORT: "0",
    DRAIN_SECONDS: "0",
    CALLS_PER_SECOND: "1000000",
    CALLS_AT_ONCE: "10000",
    STREAMS_AT_ONCE: "10000",
    BOARD_STREAMS_AT_ONCE: "10000",
    DATABASE_URL: connectionString,
    APP_ID: String(forge.app.id),
    PRIVATE_KEY: forge.app.privateKey,
    WEBHOOK_SECRET: WEBHOOK_SECRET,
    GHE_HOST: new URL(forge.rootUrl).host,
    GHE_PROTOCOL: "http",
    ...env,
  });
  const line = await nextLine((each) => each.includes('"listening"'));
  return { url: (JSON.parse(line) as { baseUrl: string }).baseUrl, pid, stop };
}

/** Starts the floors of some boards on copies of the current tables. */
export async function startFloors(
  { cleanups, connectionString, seeding }: Surroundings,
  boards: readonly BenchBoard[],
): Promise<Omit<Addresses, "service"> & { readonly stop: () => Promise<void> }> {
  await seeding.raw("drop schema if exists floor cascade; create schema floor");
  for (const table of ["cards", "workspaces", "timeline_items", "deliveries"]) {
    await seeding.raw(`create table floor.${table} (like public.${table} including all)`);
    await seeding.raw(`insert into floor.${table} overriding system value select * from public.${table}`);
  }
  await seeding.raw("analyze");
  const { nextLine, stop } = startNode(cleanups, [
    ...script("floors.ts"),
    connectionString,
    JSON.stringify(boards),
  ]);
  const [floors, hello] = (JSON.parse(await nextLine()) as number[]).map(
    (port) => `http://127.0.0.1:${port}`,
  );
  return { floors: floors ?? "", hello: hello ?? "", stop };
}

/** Megabytes according to the kernel; 0 if it has no `/proc`. */
export async function memoryOf(pid: number, what: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024;
}

const TICKS_PER_SECOND = 100;

/** The CPU time of a process in seconds: fields 14 and 15 of `/proc/<pid>/stat`. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}
