import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Deps } from "../../src/actions/deps.ts";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { startForge, type RunningForge } from "../../sandbox/forge/start-forge.ts";
import { connect } from "../../src/store/db/connect.ts";
import { outsideDeps } from "../../test/support/processes/outside-deps.ts";
import { environmentOf } from "../../test/support/processes/shipped-service.ts";
import { makeBoard, type TestBoard } from "../../test/support/world.ts";
import type { Dice } from "../dice.ts";
import type { History } from "../history.ts";
import { recordForge, type ForgeRecord } from "./forge-record.ts";
import { recordCalls } from "./record-calls.ts";
import { freePort, type CrashingPostgres } from "./postgres.ts";
import { makeServiceProcess, type ServiceProcess } from "./service-process.ts";

/** Two processes of the service, the forge they work on, and some boards. */
export interface FaultWorld {
  readonly postgres: CrashingPostgres;
  readonly forge: RunningForge;
  readonly record: ForgeRecord;
  /** The harness's own way into the database and to the forge. */
  readonly deps: Deps;
  readonly processes: readonly ServiceProcess[];
  readonly boards: readonly TestBoard[];
  /** What must never be read anywhere but where it belongs: name → text. */
  readonly secrets: Map<string, string>;
  readonly logFolder: string;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly seed: number;
  readonly dice: Dice;
  readonly postgres: CrashingPostgres;
  readonly folder: string;
  /** Where the compiled service is. */
  readonly root: string;
  readonly boards: number;
  readonly history: History;
}

const REPOSITORIES = ["web", "api"];

/** How wrong the second process's clock may be. */
const SKEWS_MS = [0, 0, 600_000, -600_000, 86_400_000, -86_400_000];

export async function startFaultWorld(options: WorldOptions): Promise<FaultWorld> {
  const { dice, postgres, folder, history } = options;
  mkdirSync(folder, { recursive: true });
  const name = `faults_${options.seed}_${randomBytes(3).toString("hex")}`;
  const databaseUrl = await postgres.createDatabase(name);
  const forge = await startForge({
    dataDir: join(folder, "forge"),
    port: 0,
    webhookUrl: "http://127.0.0.1:9/",
    seed: false,
    hooks: {
      aroundDelivery: async (delivery, send) => {
        const { id, guid, event, action, body } = delivery;
        const process = deliveryDice.pick(processes);
        await send({ ...delivery, url: `${process?.baseUrl ?? ""}${WEBHOOK_PATH}` });
        const { statusCode = null, status = null } = forge.context.state.deliveries.get(id) ?? {};
        history.webhook({ guid, event, action, body, to: process?.name, statusCode, status });
      },
    },
    webhookTimeoutMs: 3_000,
  });
  forge.control.seed(options.seed);
  recordCalls(forge, history);
  const record = recordForge(forge);
  const db = connect({ connectionString: databaseUrl, max: 4, onError: () => undefined });
  const metricsToken = `canary-metrics-${randomBytes(12).toString("hex")}`;
  const github = {
    apiUrl: forge.apiUrl,
    appId: forge.app.id,
    privateKey: forge.app.privateKey,
    webhookSecrets: [forge.app.webhookSecret],
    paceWrites: true,
  };
  const env = environmentOf({
    databaseUrl,
    github,
    env: { LOG_LEVEL: "debug", METRICS_TOKEN: metricsToken },
  });
  const skew = dice.for("clock").pick(SKEWS_MS) ?? 0;
  const processes = await Promise.all(
    [0, skew].map(async (clockSkewMs, at) =>
      makeServiceProcess({
        name: `process-${at + 1}`,
        root: options.root,
        port: await freePort(),
        env,
        logFolder: folder,
        clockSkewMs,
      }),
    ),
  );
  const deliveryDice = dice.for("deliveries");
  await Promise.all(processes.map((process) => process.start()));
  const deps = outsideDeps(db, forge);
  const boards: TestBoard[] = [];
  const baseUrl = processes[0]?.baseUrl ?? "";
  for (let made = 0; made < options.boards; made++) {
    boards.push(await makeBoard(forge, { deps, baseUrl }, { repositories: REPOSITORIES }));
  }
  return {
    postgres,
    forge,
    record,
    deps,
    processes,
    boards,
    logFolder: folder,
    secrets: new Map([
      ["the webhook secret", forge.app.webhookSecret],
      ["the App's key", forge.app.privateKey.split("\n")[3] ?? ""],
      ["the database's password", postgres.password],
      ["the metrics token", metricsToken],
      ...boards.map(({ owner, api }) => [`an API key of ${owner}`, secretOf(api.apiKey)] as const),
      ...forge.users.map(({ login, token }) => [`the token of ${login}`, token] as const),
    ]),
    stop: async () => {
      await Promise.all(processes.map((process) => process.kill()));
      await forge.stop();
      await db.destroy();
      await postgres.dropDatabase(name);
      await rm(join(folder, "forge"), { recursive: true, force: true });
    },
  };
}

/** The half of an API key that is secret. */
export const secretOf = (apiKey: string): string => apiKey.slice(apiKey.lastIndexOf("_") + 1);
