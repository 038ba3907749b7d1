import { registerAgent } from "../actions/forge-member.ts";
import { notFound } from "../errors.ts";
import { newId } from "../new-id.ts";
import { listAgents, removeAgent } from "../store/agents.ts";
import { commandOf, noWords, printRows, readArgs, required, requiredId, type Verb } from "./command.ts";
import { withDatabase } from "./open-database.ts";
import { openForge } from "./open-forge.ts";

const WORKSPACE = "a board, as `workspace list` names them";
const LOGIN = "the agent's account on the forge";
const OPTIONS = {
  workspace: { type: "string" },
  login: { type: "string" },
  json: { type: "boolean" },
} as const;

const add: Verb = async (args, context) => {
  const { values, positionals } = readArgs(args, OPTIONS);
  noWords(positionals);
  const order = {
    workspaceId: requiredId(values.workspace, "--workspace", WORKSPACE),
    login: required(values.login, "--login", LOGIN),
  };
  const forge = await openForge(context);
  const user = await withDatabase(context, (db) => registerAgent({ db, forge, newId }, order));
  if (values.json) context.print(JSON.stringify({ workspaceId: order.workspaceId, ...user }, null, 2));
  else context.print(`${user.login} is an agent on this board now, and on no other.`);
};

const list: Verb = async (args, context) => {
  const { values, positionals } = readArgs(args, {
    workspace: { type: "string" },
    json: { type: "boolean" },
  });
  noWords(positionals);
  const workspaceId =
    values.workspace === undefined ? null : requiredId(values.workspace, "--workspace", WORKSPACE);
  const found = await withDatabase(context, (db) => listAgents(db, workspaceId));
  printRows(
    context,
    found.map((entry) => ({ ...entry })),
    values.json ?? false,
  );
};

const remove: Verb = async (args, context) => {
  const { values, positionals } = readArgs(args, OPTIONS);
  noWords(positionals);
  const workspaceId = requiredId(values.workspace, "--workspace", WORKSPACE);
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
