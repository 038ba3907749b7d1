import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { DEFAULT_LIMITS, type CallLimits } from "./http/gate.ts";
import { isAppKey } from "./forge/github/app-key.ts";
import { DEFAULT_RETENTION, type Retention } from "./store/ops/retention.ts";

interface Listening {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly logLevel: string;
  readonly limits: CallLimits;
}

/** No credentials are configured: the database and the forge come with the service. */
export interface SandboxConfig extends Listening {
  readonly mode: "sandbox";
  readonly dataDir: string;
  readonly forgePort: number;
  /** A PostgreSQL of one's own in place of the embedded one. */
  readonly databaseUrl: string | null;
}

/** A GitHub App and a PostgreSQL of one's own. */
export interface RealConfig extends Listening {
  readonly mode: "real";
  readonly databaseUrl: string;
  readonly app: {
    readonly id: string;
    /** A PEM. */
    readonly privateKey: string;
  };
  /** The one in force, then the one before it while it is being changed. */
  readonly webhookSecrets: readonly string[];
  /** Where GitHub's REST API is. */
  readonly apiUrl: string;
  /** What `/metrics` is read with; null serves none. */
  readonly metricsToken: string | null;
  /** How long calls are still taken once the process was asked to end, so that load balancers notice, in seconds. */
  readonly drainSeconds: number;
  readonly retention: Retention;
}

export type Config = SandboxConfig | RealConfig;

/** Everything that is missing or wrong, each with what to do about it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not complete:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

const port = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .pipe(z.int().max(65_535));
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/**
 * Reads the environment as one checked value. Nothing of an App configured means the sandbox, except in production, where all is
 * required. Throws `ConfigError` naming every setting that is missing or wrong.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  readFile: (path: string) => string = (path) => readFileSync(path, "utf8"),
): Config {
  const problems: string[] = [];
  const set = (name: string): string | undefined => (env[name] === "" ? undefined : env[name]);
  const portOf = (name: string, fallback: number): number => {
    const parsed = port.safeParse(set(name) ?? String(fallback));
    if (!parsed.success) problems.push(`${name} is a port number, from 0 to 65535.`);
    return parsed.data ?? fallback;
  };
  const logLevel = set("LOG_LEVEL") ?? "info";
  if (!LOG_LEVELS.includes(logLevel)) problems.push(`LOG_LEVEL is one of ${LOG_LEVELS.join(", ")}.`);
  const listening: Listening = {
    host: set("HOST") ?? "127.0.0.1",
    port: portOf("PORT", 3000),
    logLevel,
    limits: limitsOf(set, problems),
  };
  const forgePort = portOf("SANDBOX_FORGE_PORT", 3001);
  // Only the command line asks for it. Whoever sets it with the others hears now that it is wrong.
  const publicUrl = set("PUBLIC_URL");
  if (publicUrl !== undefined && !isAddress(publicUrl)) {
    problems.push(
      `PUBLIC_URL is the address the service is reached at, such as ${EXAMPLE_ADDRESS}: with https:// or http://, and without a password, ? and #.`,
    );
  }
  const isSandbox =
    set("NODE_ENV") !== "production" &&
    !["APP_ID", "PRIVATE_KEY", "PRIVATE_KEY_PATH", "WEBHOOK_SECRET"].some((name) => set(name));
  const config = isSandbox
    ? sandboxConfig(set, cwd, listening, forgePort)
    : realConfig(set, readFile, listening, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

export const EXAMPLE_ADDRESS = "https://trunkline.example.com";

/** Whether this is where a service can be reached, and paths be added to. */
export const isAddress = (text: string): boolean =>
  /^https?:\/\/[^\s/?#@][^\s?#@]*$/i.test(text) && URL.canParse(text);

type Setting = (name: string) => string | undefined;

/** Where the sandbox keeps its state. */
export function dataDirOf(env: Readonly<Record<string, string | undefined>>, cwd: string): string {
  const dir = env["TRUNKLINE_DATA_DIR"] || ".trunkline";
  return isAbsolute(dir) ? dir : join(cwd, dir);
}

const sandboxConfig = (
  set: Setting,
  cwd: string,
  listening: Listening,
  forgePort: number,
): SandboxConfig => ({
  mode: "sandbox",
  ...listening,
  forgePort,
  dataDir: dataDirOf({ TRUNKLINE_DATA_DIR: set("TRUNKLINE_DATA_DIR") }, cwd),
  databaseUrl: set("DATABASE_URL") ?? null,
});

function realConfig(
  set: Setting,
  readFile: (path: string) => string,
  listening: Listening,
  problems: string[],
): RealConfig {
  const required = (name: string, advice: string): string => {
    const value = set(name);
    if (value === undefined) problems.push(`${name} is not set. ${advice}`);
    return value ?? "";
  };
  const webhookSecret = required("WEBHOOK_SECRET", "Take it from the App's settings, under Webhook.");
  const previous = set("WEBHOOK_SECRET_PREVIOUS");
  for (const [name, secret] of Object.entries({
    WEBHOOK_SECRET: webhookSecret,
    WEBHOOK_SECRET_PREVIOUS: previous,
  })) {
    // What probot falls back to when none is set.
    if (secret !== "development") continue;
    problems.push(`${name} is \`development\`, which everybody knows. Set a random one in the App too.`);
  }
  const id = required("APP_ID", "Take it from the App's settings, under About.");
  if (!/^\d*$/.test(id)) problems.push("APP_ID is the number in the App's settings, under About.");
  const like = "It looks like postgres://user:password@host:5432/trunkline.";
  const databaseUrl = required("DATABASE_URL", like);
  if (databaseUrl !== "" && !/^(postgres(ql)?|socket):/.test(databaseUrl)) {
    problems.push(`DATABASE_URL is not the address of a PostgreSQL. ${like}`);
  }
  return {
    mode: "real",
    ...listening,
    databaseUrl,
    app: {
      id,
      privateKey: privateKeyOf(set, readFile, problems),
    },
    webhookSecrets: previous === undefined ? [webhookSecret] : [webhookSecret, previous],
    apiUrl: apiUrlOf(set, problems),
    metricsToken: metricsTokenOf(set, problems),
    drainSeconds: wholeNumber(set, "DRAIN_SECONDS", 5, [0, 300], problems),
    retention: {
      // GitHub can send again what is younger than three days: it must be known until then.
      deliveryDays: wholeNumber(
        set,
        "RETAIN_DELIVERIES_DAYS",
        DEFAULT_RETENTION.deliveryDays,
        [4, 3_650],
        problems,
      ),
      historyDays: wholeNumber(
        set,
        "RETAIN_HISTORY_DAYS",
        DEFAULT_RETENTION.historyDays,
        [4, 3_650],
        problems,
      ),
    },
  };
}

function limitsOf(set: Setting, problems: string[]): CallLimits {
  const limit = (name: string, fallback: number): number =>
    wholeNumber(set, name, fallback, [1, 1_000_000], problems);
  return {
    callsAtOnce: limit("CALLS_AT_ONCE", DEFAULT_LIMITS.callsAtOnce),
    callsPerSecond: limit("CALLS_PER_SECOND", DEFAULT_LIMITS.callsPerSecond),
    failedKeysPerMinute: limit("FAILED_KEYS_PER_MINUTE", DEFAULT_LIMITS.failedKeysPerMinute),
  };
}

function apiUrlOf(set: Setting, problems: string[]): string {
  const host = set("GHE_HOST");
  if (host === undefined) return "https://api.github.com";
  const protocol = set("GHE_PROTOCOL") ?? "https";
  if (!/^[\w.-]+(:\d{1,5})?$/.test(host)) {
    problems.push("GHE_HOST is a host name such as github.example.com, without https:// and without a path.");
  }
  if (protocol !== "https" && protocol !== "http") problems.push("GHE_PROTOCOL is https or http.");
  return `${protocol}://${host}/api/v3`;
}

/** Where the forge's pages and its REST API are; throws `ConfigError` as `readConfig` does. */
export function readForgeUrls(env: Readonly<Record<string, string | undefined>>): {
  readonly pages: string;
  readonly api: string;
} {
  const problems: string[] = [];
  const api = apiUrlOf((name) => env[name] || undefined, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const pages = env["GHE_HOST"] ? api.replace(/\/api\/v3$/, "") : "https://github.com";
  return { pages, api };
}

function metricsTokenOf(set: Setting, problems: string[]): string | null {
  const token = set("METRICS_TOKEN") ?? null;
  if (token !== null && !/^\S{16,}$/.test(token))
    problems.push(
      "METRICS_TOKEN is 16 or more characters without spaces: make one with `openssl rand -hex 32`.",
    );
  return token;
}

function wholeNumber(
  set: Setting,
  name: string,
  fallback: number,
  [least, most]: readonly [number, number],
  problems: string[],
): number {
  const value = set(name);
  if (value === undefined) return fallback;
  const isGood = /^\d{1,7}$/.test(value) && Number(value) >= least && Number(value) <= most;
  if (!isGood) problems.push(`${name} is a whole number from ${least} to ${most}.`);
  return Number(value);
}

function privateKeyOf(set: Setting, readFile: (path: string) => string, problems: string[]): string {
  const path = set("PRIVATE_KEY_PATH");
  const key = set("PRIVATE_KEY");
  if (key === undefined && path !== undefined) return keyInFile(path, readFile, problems);
  if (key === undefined) {
    problems.push(
      "PRIVATE_KEY or PRIVATE_KEY_PATH is not set. Make a key in the App's settings, under Private keys.",
    );
    return "";
  }
  // As probot takes it: the PEM, with its line breaks written out or not, or the whole of it in base64.
  const pem = key.includes("-----BEGIN")
    ? key.replaceAll("\\n", "\n")
    : Buffer.from(key, "base64").toString("utf8");
  if (!isAppKey(pem)) {
    problems.push(
      "PRIVATE_KEY is not a private key: give the whole PEM file's text, its line breaks as they are or as \\n, or all of it in base64.",
    );
  }
  return pem;
}

function keyInFile(path: string, readFile: (path: string) => string, problems: string[]): string {
  try {
    const pem = readFile(path);
    if (!isAppKey(pem)) {
      problems.push(
        `PRIVATE_KEY_PATH names ${path}, which is not a private key: take the .pem file as downloaded.`,
      );
    }
    return pem;
  } catch (error) {
    problems.push(`PRIVATE_KEY_PATH cannot be read: ${error instanceof Error ? error.message : "it failed"}`);
    return "";
  }
}
