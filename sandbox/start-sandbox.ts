import type { Logger } from "pino";
import type { SandboxConfig } from "../src/config.ts";
import { startService, type RunningService } from "../src/service.ts";
import { lockDataDir, type LockedDataDir } from "./data-dir-lock.ts";
import { startForge, type RunningForge } from "./forge/start-forge.ts";
import { startPostgres, type RunningPostgres } from "./postgres/start-postgres.ts";
import { prepareSandbox, requireSandboxDatabase } from "./prepare-sandbox.ts";
import { newControlToken, type SandboxFile } from "./state-files.ts";

export interface RunningSandbox {
  readonly service: RunningService;
  readonly forge: RunningForge;
  /** The content of `sandbox.json`. */
  readonly file: SandboxFile;
  /** Resolves with the last output when the embedded PostgreSQL ends. */
  readonly databaseEnded: Promise<string>;
  /** Stops the service, then the forge and the database. */
  stop(): Promise<void>;
}

/** How long the shutdown waits for webhooks in transit, in milliseconds. */
const SETTLE_MS = 2_000;

/** Starts the embedded PostgreSQL, the sandbox forge and the service, and prepares a board. */
export async function startSandbox(
  config: SandboxConfig,
  host: { readonly pid: number; readonly searchPath: string | undefined },
  log: Logger,
): Promise<RunningSandbox> {
  const started: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of started.splice(0).toReversed()) await end();
  };
  try {
    const dataDir = await lockDataDir(config.dataDir, host.pid);
    started.push(dataDir.release);
    const database = await databaseOf(config, dataDir, log);
    started.push(database.stop);
    const forge = await startForge({
      dataDir: `${dataDir.path}/forge`,
      port: config.forgePort,
      webhookUrl: null,
      controlToken: newControlToken(),
      log,
      ...(host.searchPath !== undefined && { searchPath: host.searchPath }),
    });
    started.push(() => forge.stop());
    if (config.databaseUrl !== null) await requireSandboxDatabase(config.databaseUrl, forge);
    const service = await startService({
      databaseUrl: database.connectionString,
      host: config.host,
      port: config.port,
      github: {
        apiUrl: forge.apiUrl,
        appId: forge.app.id,
        privateKey: forge.app.privateKey,
        webhookSecrets: [forge.app.webhookSecret],
        paceWrites: false,
      },
      metrics: "open",
      limits: config.limits,
      connections: config.connections,
      webhooks: { allowedAddresses: config.webhookAddresses },
      claimsPerCredential: config.claimsPerCredential,
      console: { ...config.console, ...consoleAccess(forge) },
      isAlone: config.databaseUrl === null,
      log,
    });
    started.push(() => service.stop());
    // Before the service stops: it receives the webhooks of the last calls.
    started.push(() => forge.waitUntilIdle(SETTLE_MS));
    forge.setWebhookUrl(service.webhookUrl);
    const file = await prepareSandbox(service, forge, dataDir.path);
    return { service, forge, file, databaseEnded: database.ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What the console needs to know of the forge. */
export const consoleAccess = ({ rootUrl, app }: RunningForge) => ({
  forgeUrl: rootUrl,
  clientId: app.clientId,
  clientSecret: app.clientSecret,
  isSandbox: true,
});

async function databaseOf(
  config: SandboxConfig,
  dataDir: LockedDataDir,
  log: Logger,
): Promise<RunningPostgres> {
  if (config.databaseUrl === null) return startPostgres({ dataDir, log });
  return {
    connectionString: config.databaseUrl,
    ended: new Promise(() => undefined),
    stop: () => Promise.resolve(),
  };
}
