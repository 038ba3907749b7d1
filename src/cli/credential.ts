import { v7 as uuidv7 } from "uuid";
import { issueCredential } from "../actions/issue-credential.ts";
import { notFound } from "../errors.ts";
import { ROLES, type Role } from "../flow/roles.ts";
import { listCredentials, revokeCredential, type Scope } from "../store/credentials.ts";
import { printRows, readArgs, UsageError, type Command, type CommandContext } from "./command.ts";
import { withDatabase } from "./open-database.ts";

const DEFAULT_EXPIRY = "90d";
const DAY_MS = 86_400_000;

/** `credential issue | list | revoke`: who may call the API. */
export const credential: Command = {
  name: "credential",
  usage: [
    "credential issue --name N --board <workspaceId>:<role> [--board …] --scopes read,write [--expires 90d|never]",
    "credential list",
    "credential revoke <clientId>",
  ],
  run: async (args, context) => {
    const [verb, ...rest] = args;
    if (verb === "issue") return issue(rest, context);
    if (verb === "list") return list(rest, context);
    if (verb === "revoke") return revoke(rest, context);
    throw new UsageError(verb ? `There is no credential ${verb}.` : "Say what to do with credentials.");
  },
};

async function issue(args: readonly string[], context: CommandContext): Promise<void> {
  const { values } = readArgs(args, {
    name: { type: "string" },
    board: { type: "string", multiple: true },
    scopes: { type: "string" },
    expires: { type: "string" },
    json: { type: "boolean" },
  });
  if (!values.name) throw new UsageError("--name is required: the credential signs its writes with it.");
  if (!values.board?.length) throw new UsageError("--board is required, as <workspaceId>:<role>.");
  const order = {
    name: values.name,
    boards: values.board.map(boardOf),
    scopes: scopesOf(values.scopes),
    expiresAt: expiryOf(values.expires ?? DEFAULT_EXPIRY),
  };
  const issued = await withDatabase(context, (db) => issueCredential({ db, newId: uuidv7 }, order));
  if (values.json) {
    context.print(JSON.stringify(issued, null, 2));
    return;
  }
  context.print(`API key, shown this once:\n\n  ${issued.apiKey}\n`);
  context.print(
    `It expires ${issued.expiresAt?.toISOString() ?? "never"}. Its public half is ${issued.clientId}.`,
  );
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

async function list(args: readonly string[], context: CommandContext): Promise<void> {
  const { values } = readArgs(args, { json: { type: "boolean" } });
  const found = await withDatabase(context, listCredentials);
  printRows(
    context,
    found.map((entry) => ({ ...entry })),
    values.json ?? false,
  );
}

async function revoke(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = readArgs(args, { json: { type: "boolean" } });
  const [clientId] = positionals;
  if (!clientId) throw new UsageError("Name the client id of the credential.");
  const isRevoked = await withDatabase(context, (db) => revokeCredential(db, clientId));
  if (!isRevoked) throw notFound(`There is no credential ${clientId}.`);
  context.print(values.json ? JSON.stringify({ clientId, revoked: true }) : `${clientId} is revoked.`);
}
