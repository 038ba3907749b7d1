import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WEBHOOK_PATH } from "../../src/app.ts";
import type { Deps } from "../../src/actions/deps.ts";
import { startForge, type RunningForge } from "../../sandbox/forge/start-forge.ts";
import { connect } from "../../src/store/db/connect.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { depsForChildProcess } from "../../test/support/processes/deps-for-child-process.ts";
import { makeBoard, METRICS_TOKEN, type TestBoard } from "../../test/support/world.ts";
import { consoleEnvironment } from "../actors/console-person.ts";
import { startCrashingPostgres } from "../world/postgres.ts";
import { makeServiceProcess, serviceEnvironment, type ServiceProcess } from "../world/service-process.ts";

/** One process of the compiled service, its forge, its PostgreSQL, and some boards. */
export interface SoakWorld {
  readonly service: ServiceProcess;
  readonly forge: RunningForge;
  /** Direct access to the database and the forge. */
  readonly deps: Deps;
  readonly boards: readonly TestBoard[];
  /** The service's folder for temporary files. */
  readonly temporaryFolder: string;
  stop(): Promise<void>;
}

interface SoakWorldOptions {
  readonly folder: string;
  /** The folder of the compiled service. */
  readonly root: string;
  readonly boards: number;
  /** What to leak, and how often; null for nothing. */
  readonly leak: { readonly what: string; readonly everyMs: number } | null;
}

const IN_SERVICE = pathToFileURL(join(import.meta.dirname, "in-service.mjs")).href;

export async function startSoakWorld({ folder, root, boards, leak }: SoakWorldOptions): Promise<SoakWorld> {
  const temporary = join(folder, "tmp");
  mkdirSync(temporary, { recursive: true });
  const postgres = await startCrashingPostgres();
  const databaseUrl = await postgres.createDatabase("soak");
  const [port = 0] = await freePorts(1);
  const forge = await startForge({
    dataDir: join(folder, "forge"),
    port: 0,
    webhookUrl: `http://127.0.0.1:${port}${WEBHOOK_PATH}`,
    seed: false,
  });
  const env = {
    LOG_LEVEL: "info",
    METRICS_TOKEN,
    TMPDIR: temporary,
    WEBHOOK_ALLOWED_ADDRESSES: "127.0.0.0/8",
    ...consoleEnvironment(forge),
    NODE_OPTIONS: `--import=${IN_SERVICE}`,
    ...(leak !== null && { SOAK_LEAK: leak.what, SOAK_LEAK_MS: String(leak.everyMs) }),
  };
  const service = makeServiceProcess({
    name: "service",
    root,
    port,
    env: serviceEnvironment(databaseUrl, forge, env),
    logFolder: folder,
    clockSkewMs: 0,
  });
  await service.start();
  // The application name distinguishes these connections from those of the service.
  const db = connect({ connectionString: withName(databaseUrl), max: 4, onError: () => undefined });
  const deps = depsForChildProcess(db, forge);
  const made: TestBoard[] = [];
  for (let at = 0; at < boards; at++)
    made.push(await makeBoard(forge, { deps, baseUrl: service.baseUrl }, {}));
  return {
    service,
    forge,
    deps,
    boards: made,
    temporaryFolder: temporary,
    stop: async () => {
      await service.kill();
      await forge.stop();
      await db.destroy();
      await postgres.stop();
      await rm(join(folder, "forge"), { recursive: true, force: true });
    },
  };
}

/** The application name of the harness's connections. */
export const HARNESS = "soak harness";

function withName(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set("application_name", HARNESS);
  return url.href;
}
