import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startForge, type RunningForge } from "../../../sandbox/forge/start-forge.ts";
import type { ServiceOptions } from "../../../src/service.ts";
import { connect, type Db } from "../../../src/store/db/connect.ts";
import { createTestDatabase } from "../../support/database/database.ts";
import { depsForChildProcess } from "../../support/processes/deps-for-child-process.ts";
import { makeBoard, type BoardOptions, type TestBoard } from "../../support/world.ts";
import { githubOptions } from "../../support/forge/github-options.ts";

/** A forge and a database for services that are child processes. */
export interface Surroundings {
  readonly forge: RunningForge;
  readonly databaseUrl: string;
  readonly db: Db;
  /** The service's access to the forge. */
  readonly github: ServiceOptions["github"];
  /** A board, with an API at the service with this address. */
  board(baseUrl: string, options?: BoardOptions): Promise<TestBoard>;
  stop(): Promise<void>;
}

/** Starts a forge and creates a database. */
export async function startSurroundings(): Promise<Surroundings> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "trunkline-faults-"));
  const forge = await startForge({ dataDir, port: 0, webhookUrl: null, seed: false });
  const db = connect({ connectionString: database.connectionString, onError: () => undefined });
  const github = githubOptions(forge);
  const deps = depsForChildProcess(db, forge);
  return {
    forge,
    databaseUrl: database.connectionString,
    db,
    github,
    board: (baseUrl, options) => makeBoard(forge, { deps, baseUrl }, options ?? {}),
    stop: async () => {
      await forge.stop();
      await db.destroy();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
