import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { z } from "zod";
import type { CallLimits } from "./http/call-limiter.ts";
import type { ConsoleSettings } from "./http/console/console.ts";
import type { ConnectionLimits } from "./http/listen.ts";
import {
  type commonSettings,
  forgeSettings,
  githubSettingsFor,
  sandboxSettings,
  type Env,
} from "./settings.ts";
import type { Retention } from "./store/ops/retention.ts";

interface Listening {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly logLevel: string;
  /** Undefined selects by the standard output: text for a terminal, else JSON. */
  readonly logFormat: "json" | "pretty" | undefined;
  readonly limits: CallLimits;
  readonly connections: Pick<ConnectionLimits, "keepAliveMs" | "maxConnections">;
  /** Ranges of addresses (CIDR) that outgoing webhooks may reach besides public ones. */
  readonly webhookAddresses: readonly string[];
  /** Claims that a credential may hold at a time. */
  readonly claimsPerCredential: number;
  readonly console: Pick<ConsoleSettings, "publicUrl" | "idleMs">;
}

/** Without credentials: the service starts its own database and forge. */
export interface SandboxConfig extends Listening {
  readonly mode: "sandbox";
  readonly dataDir: string;
  readonly forgePort: number;
  /** Replaces the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
}

/** With a GitHub App and a PostgreSQL database. */
export interface GitHubConfig extends Listening {
  readonly mode: "github";
  readonly databaseUrl: string;
  readonly app: {
    readonly id: string;
    /** PEM. */
    readonly privateKey: string;
  };
  /** The current secret and, during a change, the previous one. */
  readonly webhookSecrets: readonly string[];
  /** The base URL of GitHub's REST API. */
  readonly apiUrl: string;
  readonly console: ConsoleSettings;
  /** The token for `/metrics`. Null turns the endpoint off. */
  readonly metricsToken: string | null;
  /** Seconds in which a shutdown still accepts calls, until load balancers notice it. */
  readonly drainSeconds: number;
  readonly retention: Retention;
}

export type Config = SandboxConfig | GitHubConfig;

/** All settings that are missing or invalid, each with what to do about it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "ERR_CONFIG";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Invalid configuration:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/** The folder of the sandbox's state. */
export const dataDirOf = (env: Env, cwd: string): string =>
  resolve(cwd, env["TRUNKLINE_DATA_DIR"] || ".trunkline");

/** Checks the settings of a schema. An empty setting counts as missing. Throws `ConfigError`. */
function check<Schema extends z.ZodObject>(schema: Schema, env: Env): z.output<Schema> {
  const names = Object.keys(schema.shape);
  const set = Object.fromEntries(names.map((name) => [name, env[name] || undefined]));
  // Without a host the protocol has no effect.
  if (set["GHE_HOST"] === undefined) delete set["GHE_PROTOCOL"];
  const parsed = schema.safeParse(set);
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.map(({ path: [name], message }) => `${String(name)} ${message}`));
}

const APP_SETTINGS = ["APP_ID", "PRIVATE_KEY", "PRIVATE_KEY_PATH", "WEBHOOK_SECRET"];

/**
 * Reads and checks the environment. Without any setting of an App it configures the sandbox, except
 * in production. Throws `ConfigError` with all settings that are missing or invalid.
 */
export function readConfig(
  env: Env,
  cwd: string,
  readFile: (path: string) => string = (path) => readFileSync(path, "utf8"),
): Config {
  if (env["NODE_ENV"] !== "production" && !APP_SETTINGS.some((name) => env[name])) {
    const set = check(sandboxSettings, env);
    return {
      mode: "sandbox",
      ...listeningOf(set),
      forgePort: set.SANDBOX_FORGE_PORT,
      dataDir: dataDirOf(env, cwd),
      databaseUrl: set.DATABASE_URL,
    };
  }
  const set = check(githubSettingsFor(env, readFile), env);
  const listening = listeningOf(set);
  const forge = forgeUrlsOf(set);
  return {
    mode: "github",
    ...listening,
    databaseUrl: set.DATABASE_URL,
    app: {
      id: set.APP_ID,
      privateKey: "PRIVATE_KEY" in set ? set.PRIVATE_KEY : set.PRIVATE_KEY_PATH,
    },
    webhookSecrets: [set.WEBHOOK_SECRET, set.WEBHOOK_SECRET_PREVIOUS ?? []].flat(),
    apiUrl: forge.api,
    console: {
      ...listening.console,
      forgeUrl: forge.pages,
      clientId: set.CLIENT_ID,
      clientSecret: set.CLIENT_SECRET,
      isSandbox: false,
    },
    metricsToken: set.METRICS_TOKEN,
    drainSeconds: set.DRAIN_SECONDS,
    retention: {
      deliveryDays: set.RETAIN_DELIVERIES_DAYS,
      historyDays: set.RETAIN_HISTORY_DAYS,
      auditDays: set.RETAIN_AUDIT_DAYS,
    },
  };
}

const listeningOf = (set: z.output<typeof commonSettings>): Listening => ({
  host: set.HOST,
  port: set.PORT,
  logLevel: set.LOG_LEVEL,
  logFormat: set.LOG_FORMAT,
  limits: {
    callsAtOnce: set.CALLS_AT_ONCE,
    streamsAtOnce: set.STREAMS_AT_ONCE,
    boardStreamsAtOnce: set.BOARD_STREAMS_AT_ONCE,
    callsPerSecond: set.CALLS_PER_SECOND,
    boardCallsAtOnce: set.BOARD_CALLS_AT_ONCE,
    boardCallsWaiting: set.BOARD_CALLS_WAITING,
    failedKeysPerMinute: set.FAILED_KEYS_PER_MINUTE,
    storedMegabytesPerDay: set.STORED_RESPONSES_MB,
  },
  connections: {
    keepAliveMs: set.KEEP_ALIVE_SECONDS * 1_000,
    maxConnections: set.MAX_CONNECTIONS,
  },
  webhookAddresses: set.WEBHOOK_ALLOWED_ADDRESSES,
  claimsPerCredential: set.CLAIMS_PER_CREDENTIAL,
  console: {
    publicUrl: set.PUBLIC_URL?.replace(/\/$/, "") ?? null,
    idleMs: set.SESSION_IDLE_MINUTES * 60_000,
  },
});

interface ForgeUrls {
  readonly pages: string;
  readonly api: string;
}

function forgeUrlsOf({ GHE_HOST, GHE_PROTOCOL }: z.output<typeof forgeSettings>): ForgeUrls {
  if (GHE_HOST === undefined) return { pages: "https://github.com", api: "https://api.github.com" };
  const pages = `${GHE_PROTOCOL}://${GHE_HOST}`;
  return { pages, api: `${pages}/api/v3` };
}

/** The base URLs of GitHub's pages and of its REST API. Throws `ConfigError`. */
export const readForgeUrls = (env: Env): ForgeUrls => forgeUrlsOf(check(forgeSettings, env));
