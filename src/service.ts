import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { v7 as uuidv7 } from "uuid";
import type { Deps } from "./actions/deps.ts";
import { createApp, WEBHOOK_PATH } from "./app.ts";
import { createGitHubForge } from "./forge/github/connect-github.ts";
import { startWorker } from "./jobs/start-worker.ts";
import { connect } from "./store/connect.ts";
import { createTurns } from "./store/forge-turns.ts";
import { declareOthersDead, freeDeadWorkers } from "./store/instances.ts";
import { migrate } from "./store/migrate.ts";

export interface ServiceOptions {
  readonly databaseUrl: string;
  readonly host: string;
  readonly port: number;
  readonly github: {
    readonly apiUrl: string;
    readonly appId: string | number;
    readonly privateKey: string;
    readonly webhookSecrets: readonly string[];
    /** Paces the calls of all processes together. Off for the sandbox forge, which asks for no patience. */
    readonly paceWrites: boolean;
  };
  /** No other process can be at work on this database, so what others held is free at once. */
  readonly isAlone?: boolean;
  /** False leaves out what runs by the clock and at the start: for tests, which run it themselves. */
  readonly followsTimetable?: boolean;
  readonly log: Logger;
}

export interface RunningService {
  readonly deps: Deps;
  readonly baseUrl: string;
  readonly webhookUrl: string;
  /** Takes no more calls, finishes those under way and the jobs at work, and resolves. */
  stop(): Promise<void>;
}

/** Connects, migrates, listens and starts working. What it needs must be there; what it starts ends with `stop`. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { databaseUrl, github, log } = options;
  const db = connect({
    connectionString: databaseUrl,
    onError: (error) => log.warn({ err: error }, "a database connection broke"),
  });
  try {
    await migrate(db, databaseUrl);
    const forge = createGitHubForge({
      appId: github.appId,
      privateKey: github.privateKey,
      baseUrl: github.apiUrl,
      webhookSecret: github.webhookSecrets[0] ?? "",
      turns: github.paceWrites ? createTurns(db) : undefined,
      log,
    });
    const deps: Deps = { db, forge, log, instanceId: uuidv7(), newId: uuidv7 };
    if (options.isAlone) {
      await declareOthersDead(db, deps.instanceId);
      await freeDeadWorkers(db, 0);
    }
    const server = createServer(createApp(deps, { webhookSecrets: github.webhookSecrets }));
    // Before the first call, so that what it holds is held by a process that is known to be alive.
    const worker = await startWorker(deps, databaseUrl, options.followsTimetable ?? true);
    const baseUrl = await listen(server, options).catch(async (error: unknown) => {
      await worker.stop();
      throw error;
    });
    const stop = async (): Promise<void> => {
      await close(server);
      await worker.stop();
      await db.destroy();
    };
    return { deps, baseUrl, webhookUrl: `${baseUrl}${WEBHOOK_PATH}`, stop };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

async function listen(server: Server, { host, port }: ServiceOptions): Promise<string> {
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${bound}`;
}

/** Resolves when the last call under way has been answered. */
const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
  });
