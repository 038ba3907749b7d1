import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockDataDir } from "../src/sandbox/data-dir-lock.ts";
import { startForge, type RunningForge } from "../src/sandbox/forge/start-forge.ts";
import { startPostgres } from "../src/sandbox/postgres/start-postgres.ts";
import { connect, type Db } from "../src/store/connect.ts";
import { migrate } from "../src/store/migrate.ts";
import type { Ends } from "./ends.ts";
import { script, startNode } from "./processes.ts";
import type { BenchBoard } from "./seed.ts";
import type { Sides } from "./workloads.ts";

/** What every measurement needs. */
export interface Surroundings {
  readonly connectionString: string;
  /** PostgreSQL's. */
  readonly dataDir: string;
  readonly forge: RunningForge;
  readonly db: Db;
  /** For what takes longer than a service lets a statement run. */
  readonly seeding: Db;
}

/** Connections that may take as long as they like; asked for in the address, since a pool replaces those that were idle. */
function unhurried(connectionString: string): string {
  const url = new URL(connectionString);
  url.searchParams.set("statement_timeout", "0");
  url.searchParams.set("idle_in_transaction_session_timeout", "0");
  return url.href;
}

/**
 * Builds the service, and starts a migrated PostgreSQL and a forge in a folder of their own. What is to be done at the end goes to `ends` as soon as there is something
 * to end.
 */
export async function startSurroundings(ends: Ends, prefix: string): Promise<Surroundings> {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
  const dir = await mkdtemp(join(tmpdir(), prefix));
  ends.push(() => rm(dir, { recursive: true, force: true }));
  const dataDir = join(dir, "data");
  const postgres = await startPostgres({ dataDir: await lockDataDir(dataDir, process.pid) });
  ends.push(() => postgres.stop());
  const { connectionString } = postgres;
  const forge = await startForge({ dataDir: join(dir, "forge"), port: 0, webhookUrl: null });
  ends.push(() => forge.stop());
  const db = connect({ connectionString, onError: () => undefined });
  ends.push(() => db.destroy());
  // One connection, which keeps what is set.
  const seeding = connect({
    connectionString: unhurried(connectionString),
    max: 1,
    onError: () => undefined,
  });
  ends.push(() => seeding.destroy());
  await migrate(db, connectionString);
  return { connectionString, dataDir, forge, db, seeding };
}

type Env = Readonly<Record<string, string>>;

/** A process that is measured. */
interface Started {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Copies of the tables as they stand, indexes included, foreign keys and triggers not. */
export async function copyTables(db: Db): Promise<void> {
  await db.raw("drop schema if exists floor cascade; create schema floor");
  for (const table of ["cards", "workspaces", "timeline_items", "deliveries"]) {
    await db.raw(`create table floor.${table} (like public.${table} including all)`);
    await db.raw(`insert into floor.${table} overriding system value select * from public.${table}`);
  }
  await db.raw("analyze");
}

const addressOf = (port: number): string => `http://127.0.0.1:${port}`;

/** Starts the floors on a board. */
export async function startFloors(
  connectionString: string,
  { workspaceId, projectId, userId, stages }: BenchBoard,
  env: Env,
): Promise<Omit<Sides, "service"> & Started> {
  const [backlog, doing] = stages.map(({ id }) => id);
  const board = [workspaceId, projectId, userId, doing ?? "", backlog ?? ""];
  const { line, stop, child } = await startNode(
    ["--import", "tsx", script("floors.ts"), connectionString, ...board],
    env,
    (each) => each.startsWith("{"),
  );
  const { port, helloPort } = JSON.parse(line) as { port: number; helloPort: number };
  return { floors: addressOf(port), hello: addressOf(helloPort), stop, pid: child.pid ?? 0 };
}

const ADDRESS = /https?:\/\/127\.0\.0\.1:\d+/;

/** Starts the compiled service as shipped, this build or the one whose `main.js` is named. */
export async function startService(
  connectionString: string,
  forge: RunningForge,
  hookSecret: string,
  main = "dist/main.js",
): Promise<Started & { readonly url: string }> {
  const { line, stop, child } = await startNode(
    [main],
    {
      NODE_ENV: "production",
      PORT: "0",
      DATABASE_URL: connectionString,
      APP_ID: String(forge.app.id),
      PRIVATE_KEY: forge.app.privateKey,
      WEBHOOK_SECRET: hookSecret,
      GHE_HOST: new URL(forge.rootUrl).host,
      GHE_PROTOCOL: "http",
    },
    (each) => ADDRESS.test(each) && !each.includes(forge.rootUrl),
  );
  return { url: ADDRESS.exec(line)?.[0] ?? "", stop, pid: child.pid ?? 0 };
}
