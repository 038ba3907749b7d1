import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { recordForge } from "../faults/world/forge-record.ts";
import { consoleEnvironment } from "../faults/actors/console-person.ts";
import { AUDIT } from "../faults/world/audit.ts";
import { RECORDED_CHANGES } from "../faults/world/recorded-changes.ts";
import { openHistory, type History } from "../faults/history.ts";
import {
  makeServiceProcess,
  serviceEnvironment,
  type ServiceProcess,
} from "../faults/world/service-process.ts";
import { recordCalls, type CheckedWorld } from "../faults/world/world.ts";
import { startForge } from "../sandbox/forge/start-forge.ts";
import { WEBHOOK_PATH } from "../src/app.ts";
import { connect } from "../src/store/db/connect.ts";
import { freePorts } from "../test/support/free-ports.ts";
import { depsForChildProcess } from "../test/support/processes/deps-for-child-process.ts";
import { makeBoard, type TestBoard } from "../test/support/world.ts";
import type { Guide } from "./guide.ts";
import { startChild } from "./setup/child.ts";
import type { Programs } from "./setup/programs.ts";
import { SERVICE_PASSWORD, startReplicated, type Replicated } from "./setup/replicated.ts";

/** The reference setup: HAProxy, two processes of the service, and a replicated PostgreSQL. */
export interface HaWorld extends CheckedWorld {
  readonly postgres: Replicated;
  readonly guide: Guide;
  readonly programs: Programs;
  /** HAProxy's URL. */
  readonly baseUrl: string;
  readonly processes: readonly ServiceProcess[];
  readonly history: History;
  /** Ends a process with SIGTERM and starts one at its address, maybe of another version or database. */
  restart(process: ServiceProcess, change?: ProcessChange): Promise<number | null>;
  /** The folder of the compiled service. */
  readonly root: string;
  /** For data; everybody may read it. */
  readonly folder: string;
  stop(): Promise<void>;
}

export interface ProcessChange {
  readonly databaseUrl?: string;
  /** The folder of the compiled service. */
  readonly root?: string;
}

export interface HaOptions {
  readonly programs: Programs;
  readonly guide: Guide;
  /** The folder of the compiled service. */
  readonly root: string;
}

const BOARDS = 2;
/** HAProxy's next check finds a process that has started. The guide waits as long. */
const UNTIL_CHECKED_MS = 3_000;
const REPOSITORIES = ["web", "api"];
const CONFIGURATION = join(import.meta.dirname, "../deploy/ha");

export async function startHaWorld(options: HaOptions): Promise<HaWorld> {
  const { programs, guide, root } = options;
  const folder = await mkdtemp(join(tmpdir(), "trunkline-ha-"));
  await chmod(folder, 0o755);
  const history = openHistory(join(folder, "record"));
  const postgres = await startReplicated(programs.postgres, folder, guide);
  const { databaseUrl } = postgres;
  const [proxyPort = 0, ...ports] = await freePorts(3);
  const baseUrl = `http://127.0.0.1:${proxyPort}`;
  const webhookUrl = `${baseUrl}${WEBHOOK_PATH}`;
  const forge = await startForge({ dataDir: join(folder, "forge"), port: 0, webhookUrl, seed: false });
  recordCalls(forge, history);
  const record = recordForge(forge);
  const processAt = (
    name: string,
    port: number,
    own: { databaseUrl: string; root: string },
  ): ServiceProcess =>
    makeServiceProcess({
      name,
      root: own.root,
      port,
      // The default of DRAIN_SECONDS, which HAProxy's checks are configured for.
      env: serviceEnvironment(own.databaseUrl, forge, { DRAIN_SECONDS: "5", ...consoleEnvironment(forge) }),
      logFolder: history.folder,
      clockSkewMs: 0,
    });
  const processes = ports.map((port, at) => processAt(`process-${at + 1}`, port, { databaseUrl, root }));
  for (const process of processes) await process.start();
  const [one = "", two = ""] = processes.map((process) => new URL(process.baseUrl).host);
  const proxy = startChild({
    command: programs.haproxy,
    args: ["-db", "-f", join(CONFIGURATION, "haproxy.cfg")],
    env: { BIND: `127.0.0.1:${proxyPort}`, ONE: one, TWO: two },
    cwd: folder,
    log: join(folder, "haproxy.log"),
  });
  await proxy.until(() => isReady(baseUrl));
  const db = connect({ connectionString: postgres.databaseUrl, max: 4, onError: () => undefined });
  await db.raw(AUDIT);
  await db.raw(RECORDED_CHANGES);
  const deps = depsForChildProcess(db, forge);
  const boards: TestBoard[] = [];
  for (let made = 0; made < BOARDS; made++) {
    boards.push(await makeBoard(forge, { deps, baseUrl }, { repositories: REPOSITORIES }));
  }
  return {
    postgres,
    guide,
    programs,
    baseUrl,
    processes,
    history,
    root,
    folder,
    forge,
    record,
    deps,
    boards,
    logFolder: history.folder,
    secrets: new Map([
      ["the webhook secret", forge.app.webhookSecret],
      ["the App's key", forge.app.privateKey.split("\n")[3] ?? ""],
      ["the database's password", SERVICE_PASSWORD],
    ]),
    restart: async (process, change = {}) => {
      const code = await process.terminate();
      const { name, baseUrl: at } = process;
      const next = processAt(name, Number(new URL(at).port), { databaseUrl, root, ...change });
      processes[processes.indexOf(process)] = next;
      await next.start();
      await sleep(UNTIL_CHECKED_MS);
      return code;
    },
    stop: async () => {
      await Promise.all([...processes.map((process) => process.kill()), proxy.stop()]);
      await forge.stop();
      await db.destroy();
      await postgres.stop();
    },
  };
}

async function isReady(baseUrl: string): Promise<void> {
  const { ok } = await fetch(`${baseUrl}/readyz`);
  if (!ok) throw new Error("HAProxy finds no process that is ready.");
}

/** The next version of the service: this one with a migration that follows the compatibility rule. */
export async function nextVersion(root: string, folder: string): Promise<string> {
  const next = join(folder, "next");
  await mkdir(next);
  for (const name of ["dist", "migrations", "package.json", "app.yml", "openapi.json", "sandbox"]) {
    await cp(join(root, name), join(next, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(next, "node_modules"));
  await writeFile(join(next, "migrations/9999_next.sql"), NEXT);
  return next;
}

const NEXT = `
alter table cards add column added_later text not null default 'later';
alter table timeline_items add column added_later integer;
create table later_things (workspace_id uuid not null references workspaces on delete cascade, note text);
create index on cards (added_later);
`;

export const removeWorld = ({ folder }: HaWorld): Promise<void> =>
  rm(folder, { recursive: true, force: true });
