import { pino } from "pino";
import { validate as isUuid } from "uuid";
import { Attempt } from "../actions/attempt.ts";
import { dataDirOf, readConfig } from "../config.ts";
import { EXAMPLE_URL, isServiceUrl } from "../settings.ts";
import { Problem } from "../errors.ts";
import type { Forge } from "../forge/forge.ts";
import { createGitHubForge } from "../forge/github/connect-github.ts";
import { findPostgres } from "../../sandbox/postgres/start-postgres.ts";
import { readForgeFile, readSandboxFile } from "../../sandbox/state-files.ts";
import { newId } from "../new-id.ts";
import { connect, type Db } from "../store/db/connect.ts";
import { forAttempt } from "../store/db/transaction.ts";
import { createForgeLimits } from "../store/forge/forge-limits.ts";
import {
  printRows,
  readOptions,
  type CommandContext,
  type Options,
  type Subcommand,
  UsageError,
} from "./command.ts";

/**
 * Runs `work` on the database of DATABASE_URL, or of the running sandbox. Before a command that
 * changes something, adds its row to the audit log, which gets its outcome when the command ends.
 */
export async function withDatabase<T>(
  context: CommandContext,
  work: (db: Db, databaseUrl: string) => Promise<T>,
): Promise<T> {
  const { env, cwd } = context;
  const connectionString = env["DATABASE_URL"] || (await findPostgres(dataDirOf(env, cwd)));
  if (!connectionString) {
    throw new Problem(
      "unavailable",
      "There is no database. Set DATABASE_URL, or run the command while the sandbox runs in this folder.",
    );
  }
  const db = connect({ connectionString, max: 2, onError: () => undefined });
  try {
    return await (context.change
      ? record(db, context.change, (own) => work(own, connectionString))
      : work(db, connectionString));
  } finally {
    await db.destroy();
  }
}

async function record<T>(
  db: Db,
  { action, targets }: NonNullable<CommandContext["change"]>,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const id = newId();
  const attempt = new Attempt({
    id,
    actor: { id: null, name: "operator", kind: "operator" },
    clientId: null,
    action,
    targets,
    address: null,
    userAgent: null,
    requestId: null,
    holder: null,
  });
  // The board that the command names, if it names one.
  const [board = ""] = (targets["workspace"] ?? targets["board"] ?? "").split(":");
  attempt.workspaceId = isUuid(board) && !targets["board"]?.includes(",") ? board : null;
  await attempt.begin(db);
  try {
    const result = await work(forAttempt(db, id));
    await attempt.end(db, { status: 0, problem: null });
    return result;
  } catch (error) {
    await attempt.end(db, { status: 1, problem: error instanceof Problem ? error.kind : "internal" });
    throw error;
  }
}

/** A subcommand that prints rows of the database. `query` checks the options before it connects. */
export const listSubcommand =
  <O extends Options>(
    options: O,
    query: (values: ReturnType<typeof readOptions<O>>) => (db: Db) => Promise<readonly object[]>,
  ): Subcommand =>
  async (args, context) => {
    const values = readOptions(args, options);
    printRows(context, values, await withDatabase(context, query(values)));
  };

/** The URL at which others reach the service. `purpose` says who needs it, if it is not known. */
export async function publicUrlOf({ env, cwd }: CommandContext, purpose: string): Promise<string> {
  const given = env["PUBLIC_URL"];
  if (given) {
    if (isServiceUrl(given)) return given.replace(/\/$/, "");
    throw new UsageError(`PUBLIC_URL must be the URL of the service, such as ${EXAMPLE_URL}.`);
  }
  const isSandbox = readConfig(env, cwd).mode === "sandbox";
  const file = isSandbox ? await readSandboxFile(dataDirOf(env, cwd)) : null;
  if (file) return file.baseUrl;
  throw new UsageError(`Set PUBLIC_URL to the URL of the service: ${purpose}.`);
}

/**
 * Access to GitHub as the configured App, or to the forge of the sandbox in this folder. With a
 * database, it respects the limits that GitHub has reported to the service.
 */
export async function openForge({ env, cwd }: CommandContext, db: Db | null): Promise<Forge> {
  const config = readConfig(env, cwd);
  const options = { log: pino({ level: "silent" }), ...(db && { sharedLimits: createForgeLimits(db) }) };
  if (config.mode === "github") {
    const { apiUrl, app, webhookSecrets } = config;
    const { id: appId, privateKey } = app;
    const [webhookSecret = ""] = webhookSecrets;
    return createGitHubForge({ baseUrl: apiUrl, appId, privateKey, webhookSecret, ...options });
  }
  const file = await readForgeFile(dataDirOf(env, cwd));
  if (file) {
    const { apiUrl, appId, privateKey, webhookSecret } = file;
    return createGitHubForge({ baseUrl: apiUrl, appId, privateKey, webhookSecret, ...options });
  }
  throw new Problem(
    "unavailable",
    "No GitHub App is configured. Set APP_ID, PRIVATE_KEY and WEBHOOK_SECRET as for the service, or run the command while the sandbox runs in this folder.",
  );
}
