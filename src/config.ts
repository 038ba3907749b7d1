import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { DEFAULT_CLAIMS_PER_CREDENTIAL } from "./actions/claims/claims.ts";
import { DEFAULT_LIMITS, type CallLimits } from "./http/call-limiter.ts";
import { DEFAULT_CONNECTION_LIMITS, type ConnectionLimits } from "./http/listen.ts";
import { isAppKey } from "./forge/github/app.ts";
import { DEFAULT_RETENTION, type Retention } from "./store/ops/retention.ts";

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
export interface RealConfig extends Listening {
  readonly mode: "real";
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
  /** The token for `/metrics`. Null turns the endpoint off. */
  readonly metricsToken: string | null;
  /** Seconds in which a shutdown still accepts calls, until load balancers notice it. */
  readonly drainSeconds: number;
  readonly retention: Retention;
}

export type Config = SandboxConfig | RealConfig;

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

type Env = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
export const EXAMPLE_URL = "https://trunkline.example.com";

/** Whether this is an HTTP URL to which a path can be appended. */
export const isServiceUrl = (text: string): boolean =>
  /^https?:\/\/[^\s/?#@][^\s?#@]*$/i.test(text) && URL.canParse(text);

/** The folder of the sandbox's state. */
export const dataDirOf = (env: Env, cwd: string): string =>
  resolve(cwd, env["TRUNKLINE_DATA_DIR"] || ".trunkline");

// The messages below follow the name of the setting.
const wholeNumber = (fallback: number, least: number, most: number, message?: string) =>
  z
    .string()
    .default(String(fallback))
    .refine(
      (text) => /^\d{1,7}$/.test(text) && Number(text) >= least && Number(text) <= most,
      message ?? `must be a whole number from ${least} to ${most}.`,
    )
    .transform(Number);
const port = (fallback: number) => wholeNumber(fallback, 0, 65_535, "must be a port number from 0 to 65535.");
const required = (advice: string) => z.string(`is not set. ${advice}`);
// A short secret can be guessed offline from one signed delivery. GitHub generates 40 characters.
const webhookSecret = required("Set it to the App's webhook secret.").min(
  32,
  "must have at least 32 characters. Generate one with `openssl rand -hex 32`, and set it in the App too.",
);
const addressRanges = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) => text.split(",").map((range) => range.trim()))
    .transform((ranges) => ranges.filter((range) => range !== ""))
    .refine(
      (ranges) => ranges.every((range) => addressRange.safeParse(range).success),
      "must be ranges of addresses such as 10.20.0.0/16, separated by commas.",
    );
const addressRange = z.union([z.cidrv4(), z.cidrv6()]);
const DATABASE_EXAMPLE = "Example: postgres://user:password@host:5432/trunkline.";

const commonSettings = z.object({
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}.`).default("info"),
  LOG_FORMAT: z.enum(["json", "pretty"], "must be json or pretty.").optional(),
  HOST: z.string().default("127.0.0.1"),
  PORT: port(3000),
  CALLS_AT_ONCE: wholeNumber(DEFAULT_LIMITS.callsAtOnce, 1, 1_000_000),
  CALLS_PER_SECOND: wholeNumber(DEFAULT_LIMITS.callsPerSecond, 1, 1_000_000),
  BOARD_CALLS_AT_ONCE: wholeNumber(DEFAULT_LIMITS.boardCallsAtOnce, 1, 1_000_000),
  BOARD_CALLS_WAITING: wholeNumber(DEFAULT_LIMITS.boardCallsWaiting, 1, 1_000_000),
  FAILED_KEYS_PER_MINUTE: wholeNumber(DEFAULT_LIMITS.failedKeysPerMinute, 1, 1_000_000),
  STORED_ANSWERS_MB: wholeNumber(DEFAULT_LIMITS.storedMegabytesPerDay, 1, 1_000_000),
  CLAIMS_PER_CREDENTIAL: wholeNumber(DEFAULT_CLAIMS_PER_CREDENTIAL, 1, 1_000),
  KEEP_ALIVE_SECONDS: wholeNumber(DEFAULT_CONNECTION_LIMITS.keepAliveMs / 1_000, 1, 3_600),
  MAX_CONNECTIONS: wholeNumber(DEFAULT_CONNECTION_LIMITS.maxConnections, 16, 1_000_000),
  WEBHOOK_ALLOWED_ADDRESSES: addressRanges(""),
  SANDBOX_FORGE_PORT: port(3001),
  // Only the command line uses it. The service checks it too, to report a mistake when it starts.
  PUBLIC_URL: z
    .string()
    .refine(
      isServiceUrl,
      `must be the URL of the service, such as ${EXAMPLE_URL}, without a password, ? and #.`,
    )
    .optional(),
});
const sandboxSettings = commonSettings.extend({
  DATABASE_URL: z.string().nullable().default(null),
  WEBHOOK_ALLOWED_ADDRESSES: addressRanges("127.0.0.0/8,::1/128"),
});
const forgeSettings = z.object({
  GHE_HOST: z
    .string()
    .regex(
      /^[\w.-]+(:\d{1,5})?$/,
      "must be a host name such as github.example.com, without https:// and without a path.",
    )
    .optional(),
  GHE_PROTOCOL: z.enum(["https", "http"], "must be https or http.").default("https"),
});

const privateKey = z
  .string("or PRIVATE_KEY_PATH is not set. Generate a key in the App's settings, under Private keys.")
  // The formats of probot: the PEM, its line breaks as they are or as \n, or the PEM in base64.
  .transform((key) =>
    key.includes("-----BEGIN") ? key.replaceAll("\\n", "\n") : Buffer.from(key, "base64").toString("utf8"),
  )
  .refine(
    isAppKey,
    "is not a private key. Set it to the text of the PEM file, with its line breaks as they are or as \\n, or in base64.",
  );

/** Neither setting of the key takes precedence: the other one may be a key that was replaced. */
const privateKeyTwice = z
  .string()
  .refine(
    () => false,
    "and PRIVATE_KEY_PATH are both set. Set one: remove PRIVATE_KEY to read the key from the file that PRIVATE_KEY_PATH names, or remove PRIVATE_KEY_PATH to use the key in PRIVATE_KEY.",
  );

const privateKeyFile = (readFile: (path: string) => string) =>
  z.string().transform((path, context) => {
    try {
      const pem = readFile(path);
      if (isAppKey(pem)) return pem;
      context.addIssue(`names ${path}, which is not a private key. Use the downloaded .pem file unchanged.`);
    } catch (error) {
      context.addIssue(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
    return z.NEVER;
  });

const realSettings = commonSettings.extend({
  WEBHOOK_SECRET: webhookSecret,
  WEBHOOK_SECRET_PREVIOUS: webhookSecret.optional(),
  APP_ID: required("Set it to the App ID in the App's settings, under About.").regex(
    /^\d*$/,
    "must be the App ID, the number in the App's settings, under About.",
  ),
  DATABASE_URL: required(DATABASE_EXAMPLE).regex(
    /^(postgres(ql)?|socket):/,
    `is not a URL of PostgreSQL. ${DATABASE_EXAMPLE}`,
  ),
  PRIVATE_KEY: privateKey,
  ...forgeSettings.shape,
  METRICS_TOKEN: z
    .string()
    .regex(
      /^\S{16,}$/,
      "must have 16 or more characters and no spaces. Generate one with `openssl rand -hex 32`.",
    )
    .nullable()
    .default(null),
  DRAIN_SECONDS: wholeNumber(5, 0, 300),
  // GitHub can redeliver for three days, and a redelivery must be recognized.
  RETAIN_DELIVERIES_DAYS: wholeNumber(DEFAULT_RETENTION.deliveryDays, 4, 3_650),
  RETAIN_HISTORY_DAYS: wholeNumber(DEFAULT_RETENTION.historyDays, 4, 3_650),
  RETAIN_AUDIT_DAYS: wholeNumber(DEFAULT_RETENTION.auditDays, 4, 3_650),
});

/** The settings of real mode, with the key in PRIVATE_KEY or in a file. */
function realSettingsFor(env: Env, readFile: (path: string) => string) {
  if (!env["PRIVATE_KEY_PATH"]) return realSettings;
  if (env["PRIVATE_KEY"]) return realSettings.extend({ PRIVATE_KEY: privateKeyTwice });
  return realSettings.omit({ PRIVATE_KEY: true }).extend({ PRIVATE_KEY_PATH: privateKeyFile(readFile) });
}

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
  const set = check(realSettingsFor(env, readFile), env);
  return {
    mode: "real",
    ...listeningOf(set),
    databaseUrl: set.DATABASE_URL,
    app: {
      id: set.APP_ID,
      privateKey: "PRIVATE_KEY" in set ? set.PRIVATE_KEY : set.PRIVATE_KEY_PATH,
    },
    webhookSecrets: [set.WEBHOOK_SECRET, set.WEBHOOK_SECRET_PREVIOUS ?? []].flat(),
    apiUrl: forgeUrlsOf(set).api,
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
    callsPerSecond: set.CALLS_PER_SECOND,
    boardCallsAtOnce: set.BOARD_CALLS_AT_ONCE,
    boardCallsWaiting: set.BOARD_CALLS_WAITING,
    failedKeysPerMinute: set.FAILED_KEYS_PER_MINUTE,
    storedMegabytesPerDay: set.STORED_ANSWERS_MB,
  },
  connections: {
    keepAliveMs: set.KEEP_ALIVE_SECONDS * 1_000,
    maxConnections: set.MAX_CONNECTIONS,
  },
  webhookAddresses: set.WEBHOOK_ALLOWED_ADDRESSES,
  claimsPerCredential: set.CLAIMS_PER_CREDENTIAL,
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
