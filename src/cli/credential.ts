import { issueCredential, MAX_KEEP_MS, rotateCredential } from "../actions/credentials/credentials.ts";
import { findOwner } from "../actions/members/forge-accounts.ts";
import { notFound } from "../errors.ts";
import { ROLES, type Role } from "../flow/roles.ts";
import { newId } from "../new-id.ts";
import { listCredentials, revokeCredential, type Scope } from "../store/tenancy/credentials.ts";
import {
  commandOf,
  EXAMPLE_ID,
  onlyArgument,
  printOutcome,
  printResult,
  readArgs,
  readOptions,
  required,
  TEXT,
  type CommandContext,
  UsageError,
} from "./command.ts";
import { listSubcommand, openForge, publicUrlOf, withDatabase } from "./open.ts";

const DEFAULT_EXPIRY = "90d";
const DEFAULT_KEEP = "24h";
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export const credential = commandOf(
  {
    name: "credential",
    about: "Issues, lists, rotates and revokes API keys",
    usage: [
      "credential issue --name <name> --board <workspaceId>:<role> [--board …] --scopes <scopes> [--expires <days>] [--owner <login>] [--for mcp]",
      "credential list",
      "credential rotate <clientId> [--keep <hours>] [--expires <days>]",
      "credential revoke <clientId>",
    ],
    options: {
      "<clientId>": "Client id of the credential, from `trunkline credential list`",
      "--name <name>": "Name that is shown as the author of what the credential writes",
      "--board <workspaceId>:<role>": `Board and role on it, one of ${ROLES.join(", ")}; may be repeated`,
      "--scopes <scopes>": "read, or read,write",
      "--keep <hours>": `How long the previous key stays valid, from 0h to 24h (default: ${DEFAULT_KEEP})`,
      "--expires <days>": `Days until the key expires (default of issue: ${DEFAULT_EXPIRY}), or never`,
      "--owner <login>": "GitHub user who owns the key, for stages that need a second person",
      "--for mcp": "Also print the configuration of an MCP client",
    },
    examples: [
      `credential issue --name deploy --board ${EXAMPLE_ID}:member --scopes read,write`,
      `credential issue --name coder --board ${EXAMPLE_ID}:member --scopes read,write --for mcp`,
      "credential list",
      "credential rotate qAidaAxp1xcr --keep 1h",
      "credential revoke qAidaAxp1xcr",
    ],
    changes: ["issue", "rotate", "revoke"],
  },
  { issue, list: listSubcommand({}, () => listCredentials), rotate, revoke },
);

async function issue(args: readonly string[], context: CommandContext): Promise<void> {
  const values = readOptions(args, {
    name: TEXT,
    board: { type: "string", multiple: true },
    scopes: TEXT,
    expires: TEXT,
    owner: TEXT,
    for: TEXT,
  });
  const name = required(values.name, "--name", "the author of what the credential writes");
  if (!values.board?.length) throw new UsageError("--board is required, as <workspaceId>:<role>.");
  const order = {
    name,
    boards: values.board.map(boardOf),
    scopes: scopesOf(values.scopes),
    expiresAt: expiryOf(values.expires ?? DEFAULT_EXPIRY),
  };
  if (values.for !== undefined && values.for !== "mcp") throw new UsageError("--for must be mcp.");
  const baseUrl = values.for && (await publicUrlOf(context, "MCP clients use it"));
  const [board] = order.boards;
  const issued = await withDatabase(context, async (db) => {
    const { owner: login } = values;
    const owned = { workspaceId: board?.workspaceId ?? "", login: login ?? "" };
    const owner =
      login === undefined ? null : await findOwner({ db, forge: await openForge(context, db), newId }, owned);
    const credential = await issueCredential({ db, newId }, { ...order, ownerId: owner?.id ?? null });
    return { ...credential, ...(owner && { owner: owner.login }) };
  });
  const mcp = baseUrl && mcpConfiguration(baseUrl, issued.apiKey, order.boards);
  printResult(context, values, { ...issued, ...(mcp && { mcp }) }, [
    `API key, shown only once:\n\n  ${issued.apiKey}\n`,
    `Client id: ${issued.clientId}. Expires: ${issued.expiresAt?.toISOString() ?? "never"}.`,
    ...(mcp ? [`\nConfiguration of an MCP client:\n\n${JSON.stringify(mcp, null, 2)}`] : []),
  ]);
}

/** As in `.mcp.json` and the files of most clients. A key with several boards must name one. */
function mcpConfiguration(
  baseUrl: string,
  apiKey: string,
  boards: readonly { workspaceId: string }[],
): object {
  const [first] = boards;
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    ...(first && boards.length > 1 && { "X-Service-Workspace": first.workspaceId }),
  };
  return { mcpServers: { trunkline: { type: "http", url: `${baseUrl}/v1/mcp`, headers } } };
}

function boardOf(text: string): { workspaceId: string; role: Role } {
  const [workspaceId = "", name] = text.split(":");
  const role = ROLES.find((candidate) => candidate === name);
  if (!role) throw new UsageError(`--board ${text}: the role must be one of ${ROLES.join(", ")}.`);
  return { workspaceId, role };
}

function scopesOf(text: string | undefined): Scope[] {
  const scopes = new Set((text ?? "").split(",").map((scope) => scope.trim()));
  const isKnown = [...scopes].every((scope) => scope === "read" || scope === "write");
  if (!isKnown || !scopes.has("read")) throw new UsageError("--scopes must be read, or read,write.");
  return scopes.has("write") ? ["read", "write"] : ["read"];
}

function expiryOf(text: string): Date | null {
  if (text === "never") return null;
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  if (days === undefined) throw new UsageError("--expires must be a number of days such as 90d, or never.");
  return new Date(Date.now() + Number(days) * DAY_MS);
}

async function rotate(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = readArgs(args, { keep: TEXT, expires: TEXT });
  const order = {
    clientId: onlyArgument(positionals, "the client id of the credential"),
    keepMs: keepOf(values.keep ?? DEFAULT_KEEP),
    expiresAt: values.expires === undefined ? undefined : expiryOf(values.expires),
  };
  const rotated = await withDatabase(context, (db) => rotateCredential({ db }, order));
  printResult(context, values, rotated, [
    `New API key, shown only once:\n\n  ${rotated.apiKey}\n`,
    `Expires: ${rotated.expiresAt?.toISOString() ?? "never"}. The previous key is valid until ${rotated.previousUntil.toISOString()}.`,
  ]);
}

function keepOf(text: string): number {
  const [, hours] = /^(\d{1,2})h$/.exec(text) ?? [];
  const keepMs = Number(hours ?? Number.NaN) * HOUR_MS;
  if (keepMs <= MAX_KEEP_MS) return keepMs;
  throw new UsageError(
    "--keep must be from 0h to 24h: how long the previous key stays valid. 0h ends it now.",
  );
}

async function revoke(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = readArgs(args, {});
  const clientId = onlyArgument(positionals, "the client id of the credential");
  await withDatabase(context, async (db) => {
    if (!(await revokeCredential(db, clientId))) throw notFound(`There is no credential ${clientId}.`);
  });
  printOutcome(context, values, { clientId, revoked: true }, `${clientId} is revoked.`);
}
