import { issueCredential, MAX_KEEP_MS, rotateCredential } from "../actions/credentials/credentials.ts";
import { notFound } from "../errors.ts";
import { ROLES, type Role } from "../flow/roles.ts";
import { newId } from "../new-id.ts";
import { listCredentials, revokeCredential, type Scope } from "../store/tenancy/credentials.ts";
import {
  commandOf,
  onlyWord,
  printDone,
  printResult,
  readArgs,
  readOptions,
  required,
  TEXT,
  type CommandContext,
  UsageError,
} from "./command.ts";
import { listVerb, withDatabase } from "./open.ts";

const DEFAULT_EXPIRY = "90d";
const DEFAULT_KEEP = "24h";
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** `credential issue | list | rotate | revoke`: who may call the API. */
export const credential = commandOf(
  "credential",
  "API keys: who may call, on which boards, until when",
  [
    "credential issue --name N --board <workspaceId>:<role> [--board …] --scopes read,write [--expires 90d|never]",
    "credential list",
    "credential rotate <clientId> [--keep 24h] [--expires 90d|never]",
    "credential revoke <clientId>",
  ],
  { issue, list: listVerb({}, () => listCredentials), rotate, revoke },
);

async function issue(args: readonly string[], context: CommandContext): Promise<void> {
  const values = readOptions(args, {
    name: TEXT,
    board: { type: "string", multiple: true },
    scopes: TEXT,
    expires: TEXT,
  });
  const name = required(values.name, "--name", "the credential signs its writes with it");
  if (!values.board?.length) throw new UsageError("--board is required, as <workspaceId>:<role>.");
  const order = {
    name,
    boards: values.board.map(boardOf),
    scopes: scopesOf(values.scopes),
    expiresAt: expiryOf(values.expires ?? DEFAULT_EXPIRY),
  };
  const issued = await withDatabase(context, (db) => issueCredential({ db, newId }, order));
  printResult(context, values, issued, [
    `API key, shown this once:\n\n  ${issued.apiKey}\n`,
    `It expires ${issued.expiresAt?.toISOString() ?? "never"}. Its public half is ${issued.clientId}.`,
  ]);
}

function boardOf(text: string): { workspaceId: string; role: Role } {
  const [workspaceId = "", name] = text.split(":");
  const role = ROLES.find((candidate) => candidate === name);
  if (!role) throw new UsageError(`--board ${text}: the role is one of ${ROLES.join(", ")}.`);
  return { workspaceId, role };
}

function scopesOf(text: string | undefined): Scope[] {
  const scopes = new Set((text ?? "").split(",").map((scope) => scope.trim()));
  const isKnown = [...scopes].every((scope) => scope === "read" || scope === "write");
  if (!isKnown || !scopes.has("read")) throw new UsageError("--scopes is read, or read,write.");
  return scopes.has("write") ? ["read", "write"] : ["read"];
}

function expiryOf(text: string): Date | null {
  if (text === "never") return null;
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  if (days === undefined) throw new UsageError("--expires is a number of days such as 90d, or never.");
  return new Date(Date.now() + Number(days) * DAY_MS);
}

async function rotate(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = readArgs(args, { keep: TEXT, expires: TEXT });
  const order = {
    clientId: onlyWord(positionals, "the client id of the credential"),
    keepMs: keepOf(values.keep ?? DEFAULT_KEEP),
    expiresAt: values.expires === undefined ? undefined : expiryOf(values.expires),
  };
  const rotated = await withDatabase(context, (db) => rotateCredential({ db }, order));
  printResult(context, values, rotated, [
    `New API key, shown this once:\n\n  ${rotated.apiKey}\n`,
    `It expires ${rotated.expiresAt?.toISOString() ?? "never"}. The key before it is good until ${rotated.previousUntil.toISOString()}.`,
  ]);
}

function keepOf(text: string): number {
  const [, hours] = /^(\d{1,2})h$/.exec(text) ?? [];
  const keepMs = Number(hours ?? Number.NaN) * HOUR_MS;
  if (keepMs <= MAX_KEEP_MS) return keepMs;
  throw new UsageError(
    "--keep is for how long the key before stays good: from 0h, which ends it now, to 24h.",
  );
}

async function revoke(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = readArgs(args, {});
  const clientId = onlyWord(positionals, "the client id of the credential");
  const isRevoked = await withDatabase(context, (db) => revokeCredential(db, clientId));
  if (!isRevoked) throw notFound(`There is no credential ${clientId}.`);
  printDone(context, values, { clientId, revoked: true }, `${clientId} is revoked.`);
}
