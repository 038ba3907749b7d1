import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Deps } from "../../src/actions/deps.ts";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { startForge, type RunningForge } from "../../sandbox/forge/start-forge.ts";
import { connect } from "../../src/store/db/connect.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { depsForChildProcess } from "../../test/support/processes/deps-for-child-process.ts";
import { makeBoard, type TestBoard } from "../../test/support/world.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import { recordForge, type ForgeRecord } from "./forge-record.ts";
import type { CrashingPostgres } from "./postgres.ts";
import { createShared, type SharedRepository } from "./shared-repository.ts";
import { makeServiceProcess, serviceEnvironment, type ServiceProcess } from "./service-process.ts";

/** What the invariants are checked on: a service, its forge and some boards. */
export interface CheckedWorld {
  readonly forge: RunningForge;
  readonly record: ForgeRecord;
  /** Direct access to the database and the forge. */
  readonly deps: Deps;
  readonly boards: readonly TestBoard[];
  /** Secrets that must not occur in logs, tables and responses: name → text. */
  readonly secrets: Map<string, string>;
  readonly logFolder: string;
}

/** Two processes of the service, with a repository that changes hands. */
export interface FaultWorld extends CheckedWorld {
  readonly postgres: CrashingPostgres;
  readonly processes: readonly ServiceProcess[];
  readonly shared: SharedRepository;
  stop(): Promise<void>;
}

interface WorldOptions {
  readonly seed: number;
  readonly random: SeededRandom;
  readonly postgres: CrashingPostgres;
  readonly folder: string;
  /** The folder of the compiled service. */
  readonly root: string;
  readonly boards: number;
  readonly history: History;
}

const REPOSITORIES = ["web", "api"];

/** Possible errors of the second process's clock. */
const SKEWS_MS = [0, 0, 600_000, -600_000, 86_400_000, -86_400_000];

export async function startFaultWorld(options: WorldOptions): Promise<FaultWorld> {
  const { random, postgres, folder, history } = options;
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
        const process = deliveryRandom.pick(processes);
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
  const env = { LOG_LEVEL: "debug", METRICS_TOKEN: metricsToken };
  const processes = await makeProcesses(options, serviceEnvironment(databaseUrl, forge, env));
  const deliveryRandom = random.for("deliveries");
  await Promise.all(processes.map((process) => process.start()));
  const deps = depsForChildProcess(db, forge);
  const boards: TestBoard[] = [];
  const baseUrl = processes[0]?.baseUrl ?? "";
  for (let made = 0; made < options.boards; made++) {
    boards.push(await makeBoard(forge, { deps, baseUrl }, { repositories: REPOSITORIES }));
  }
  const [home, foreign] = boards;
  if (!home || !foreign) throw new Error("the shared repository needs two boards");
  const shared = await createShared(forge, deps, home, foreign);
  return {
    postgres,
    forge,
    record,
    deps,
    processes,
    boards,
    shared,
    logFolder: folder,
    secrets: new Map([
      ["the webhook secret", forge.app.webhookSecret],
      ["the App's key", forge.app.privateKey.split("\n")[3] ?? ""],
      ["the database's password", postgres.password],
      ["the metrics token", metricsToken],
      ...boards.map(({ owner, api }) => [`an API key of ${owner}`, secretOf(api.apiKey)] as const),
      ...shared.possibleOwners.map(
        ({ name, apiKey }) => [`the API key of the possible owner ${name}`, secretOf(apiKey)] as const,
      ),
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

/** Two processes that are not started. The clock of the second one may be wrong. */
async function makeProcesses(
  { root, folder, random }: WorldOptions,
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess[]> {
  const skew = random.for("clock").pick(SKEWS_MS) ?? 0;
  const ports = await freePorts(2);
  return ports.map((port, at) =>
    makeServiceProcess({
      name: `process-${at + 1}`,
      root,
      port,
      env,
      logFolder: folder,
      clockSkewMs: at === 0 ? 0 : skew,
    }),
  );
}

/** Records calls to the forge and their responses. An interrupted or hanging call has none. */
export function recordCalls({ control }: RunningForge, history: History): void {
  control.observe({
    onCall: ({ id, method, path, query, body }) =>
      history.forge({ id, asked: `${method} ${path}`, query: query.toString(), body: body.toString("utf8") }),
    onResponse: ({ id }, { status, body }) => history.forge({ id, status, body }),
  });
}

/** The secret half of an API key. */
export const secretOf = (apiKey: string): string => apiKey.slice(apiKey.lastIndexOf("_") + 1);
