import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCrashingPostgres, type CrashingPostgres } from "../../../faults/world/postgres.ts";
import { WEBHOOK_PATH } from "../../../src/app.ts";
import { startForge, type RunningForge } from "../../../sandbox/forge/start-forge.ts";
import { connect, type Db } from "../../../src/store/db/connect.ts";
import { depsForChildProcess } from "./deps-for-child-process.ts";
import { shipService, type ShippedOptions, type ShippedProcess } from "./shipped-service.ts";
import { makeBoard, type TestBoard } from "../world.ts";
import { githubOptions } from "../forge/github-options.ts";

/** The built service as a child process, with a durable PostgreSQL that can crash. */
export interface CrashingWorld {
  readonly postgres: CrashingPostgres;
  readonly databaseUrl: string;
  readonly db: Db;
  readonly forge: RunningForge;
  /** The current process. */
  readonly service: () => ShippedProcess;
  /** Starts the next process at the same address after the previous one has ended. */
  restart(): Promise<void>;
  board(): Promise<TestBoard>;
  stop(): Promise<void>;
}

/** `paceWrites` as with GitHub itself. */
export async function startCrashingWorld(paceWrites: boolean): Promise<CrashingWorld> {
  const dataDir = await mkdtemp(join(tmpdir(), "trunkline-crashing-"));
  const [postgres, shipped] = await Promise.all([startCrashingPostgres(), shipService()]);
  const databaseUrl = await postgres.createDatabase("crashing");
  const forge = await startForge({ dataDir, port: 0, webhookUrl: null, seed: false });
  const options: ShippedOptions = { databaseUrl, github: githubOptions(forge, paceWrites) };
  let service = await shipped.start(options);
  const { baseUrl } = service;
  forge.setWebhookUrl(`${baseUrl}${WEBHOOK_PATH}`);
  const db = connect({ connectionString: databaseUrl, onError: () => undefined });
  return {
    postgres,
    databaseUrl,
    db,
    forge,
    service: () => service,
    restart: async () => {
      service = await shipped.start({ ...options, port: Number(new URL(baseUrl).port) });
    },
    board: () => makeBoard(forge, { deps: depsForChildProcess(db, forge), baseUrl }, {}),
    stop: async () => {
      await service.kill();
      await forge.stop();
      await db.destroy();
      await postgres.stop();
      await shipped.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
