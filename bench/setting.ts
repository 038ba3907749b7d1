import type { RunningForge } from "../src/sandbox/forge/start-forge.ts";
import type { Db } from "../src/store/connect.ts";
import { script, startNode } from "./processes.ts";
import type { BenchBoard } from "./seed.ts";
import type { Sides } from "./workloads.ts";

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
