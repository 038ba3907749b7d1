import { z } from "zod";
import { DEFAULT_CLAIMS_PER_CREDENTIAL } from "./actions/claims/claims.ts";
import { isAppKey } from "./forge/github/app.ts";
import { DEFAULT_LIMITS } from "./http/call-limiter.ts";
import { DEFAULT_CONNECTION_LIMITS } from "./http/listen.ts";
import { DEFAULT_RETENTION } from "./store/ops/retention.ts";

/** The environment of the process. */
export type Env = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
export const EXAMPLE_URL = "https://trunkline.example.com";

/** Whether this is an HTTP URL to which a path can be appended. */
export const isServiceUrl = (text: string): boolean =>
  /^https?:\/\/[^\s/?#@][^\s?#@]*$/i.test(text) && URL.canParse(text);

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

export const commonSettings = z.object({
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}.`).default("info"),
  LOG_FORMAT: z.enum(["json", "pretty"], "must be json or pretty.").optional(),
  HOST: z.string().default("127.0.0.1"),
  PORT: port(3000),
  CALLS_AT_ONCE: wholeNumber(DEFAULT_LIMITS.callsAtOnce, 1, 1_000_000),
  STREAMS_AT_ONCE: wholeNumber(DEFAULT_LIMITS.streamsAtOnce, 1, 1_000_000),
  BOARD_STREAMS_AT_ONCE: wholeNumber(DEFAULT_LIMITS.boardStreamsAtOnce, 1, 1_000_000),
  CALLS_PER_SECOND: wholeNumber(DEFAULT_LIMITS.callsPerSecond, 1, 1_000_000),
  BOARD_CALLS_AT_ONCE: wholeNumber(DEFAULT_LIMITS.boardCallsAtOnce, 1, 1_000_000),
  BOARD_CALLS_WAITING: wholeNumber(DEFAULT_LIMITS.boardCallsWaiting, 1, 1_000_000),
  FAILED_KEYS_PER_MINUTE: wholeNumber(DEFAULT_LIMITS.failedKeysPerMinute, 1, 1_000_000),
  STORED_RESPONSES_MB: wholeNumber(DEFAULT_LIMITS.storedMegabytesPerDay, 1, 1_000_000),
  CLAIMS_PER_CREDENTIAL: wholeNumber(DEFAULT_CLAIMS_PER_CREDENTIAL, 1, 1_000),
  KEEP_ALIVE_SECONDS: wholeNumber(DEFAULT_CONNECTION_LIMITS.keepAliveMs / 1_000, 1, 3_600),
  MAX_CONNECTIONS: wholeNumber(DEFAULT_CONNECTION_LIMITS.maxConnections, 16, 1_000_000),
  WEBHOOK_ALLOWED_ADDRESSES: addressRanges(""),
  SANDBOX_FORGE_PORT: port(3001),
  SESSION_IDLE_MINUTES: wholeNumber(480, 1, 10_080),
  PUBLIC_URL: z
    .string()
    .refine(
      isServiceUrl,
      `must be the URL of the service, such as ${EXAMPLE_URL}, without a password, ? or #.`,
    )
    .optional(),
});
export const sandboxSettings = commonSettings.extend({
  DATABASE_URL: z.string().nullable().default(null),
  WEBHOOK_ALLOWED_ADDRESSES: addressRanges("127.0.0.0/8,::1/128"),
});
export const forgeSettings = z.object({
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

const githubSettings = commonSettings.extend({
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
  CLIENT_ID: z.string().nullable().default(null),
  CLIENT_SECRET: z.string().nullable().default(null),
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

/** The settings of a service with a GitHub App, with the key in PRIVATE_KEY or in a file. */
export function githubSettingsFor(env: Env, readFile: (path: string) => string) {
  if (!env["PRIVATE_KEY_PATH"]) return githubSettings;
  if (env["PRIVATE_KEY"]) return githubSettings.extend({ PRIVATE_KEY: privateKeyTwice });
  return githubSettings.omit({ PRIVATE_KEY: true }).extend({ PRIVATE_KEY_PATH: privateKeyFile(readFile) });
}
