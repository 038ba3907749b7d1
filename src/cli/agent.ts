import { registerAgent } from "../actions/forge-accounts.ts";
import { notFound } from "../errors.ts";
import { newId } from "../new-id.ts";
import { listAgents, removeAgent } from "../store/tenancy/users.ts";
import {
  commandOf,
  printResult,
  printRows,
  readOptions,
  required,
  requiredWorkspace,
  TEXT,
  type Verb,
} from "./command.ts";
import { withDatabase } from "./open-database.ts";
import { openForge } from "./open-forge.ts";

const LOGIN = "the agent's account on the forge";
const OPTIONS = { workspace: TEXT, login: TEXT };

const add: Verb = async (args, context) => {
  const values = readOptions(args, OPTIONS);
  const order = {
    workspaceId: requiredWorkspace(values.workspace),
    login: required(values.login, "--login", LOGIN),
  };
  const forge = await openForge(context);
  const user = await withDatabase(context, (db) => registerAgent({ db, forge, newId }, order));
  printResult(context, values, { workspaceId: order.workspaceId, ...user }, [
    `${user.login} is an agent on this board now, and on no other.`,
  ]);
};

const list: Verb = async (args, context) => {
  const values = readOptions(args, { workspace: TEXT });
  const workspaceId = values.workspace === undefined ? null : requiredWorkspace(values.workspace);
  const found = await withDatabase(context, (db) => listAgents(db, workspaceId));
  printRows(context, values, found);
};

const remove: Verb = async (args, context) => {
  const values = readOptions(args, OPTIONS);
  const workspaceId = requiredWorkspace(values.workspace);
  const login = required(values.login, "--login", LOGIN);
  const isRemoved = await withDatabase(context, (db) => removeAgent(db, workspaceId, login));
  if (!isRemoved) throw notFound(`${login} is not registered as an agent of workspace ${workspaceId}.`);
  if (values.json) context.print(JSON.stringify({ workspaceId, login, removed: true }));
  else context.print(`${login} is no registered agent of this board any more.`);
};

/** `agent add | list | remove`: the forge accounts a board takes for agents, beyond those that are known without anybody registering them. */
export const agent = commandOf(
  "agent",
  "Which accounts on the forge are agents: what they leave unanswered is told in the inbox",
  [
    "agent add --workspace <id> --login <forge login>",
    "agent list [--workspace <id>]",
    "agent remove --workspace <id> --login <forge login>",
  ],
  { add, list, remove },
);
