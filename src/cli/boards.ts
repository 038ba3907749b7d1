import { createWorkspace } from "../actions/boards/workspaces.ts";
import { addMember, registerAgent } from "../actions/installations/forge-accounts.ts";
import { notFound } from "../errors.ts";
import { ROLES } from "../flow/roles.ts";
import { newId } from "../new-id.ts";
import { listAgents, removeAgent, listMemberEntries, removeMember } from "../store/tenancy/users.ts";
import type { Db } from "../store/db/connect.ts";
import { findWorkspace, listWorkspaces } from "../store/tenancy/workspaces.ts";
import {
  commandOf,
  printDone,
  printResult,
  readOptions,
  required,
  requiredId,
  TEXT,
  UsageError,
  type Verb,
} from "./command.ts";
import { listVerb, openForge, withDatabase } from "./open.ts";

const ACCOUNT = { workspace: TEXT, login: TEXT };

const workspaceOf = (values: { readonly workspace?: string | undefined }): string =>
  requiredId(values.workspace, "--workspace", "a board, as `workspace list` names them");

const createBoard: Verb = async (args, context) => {
  const values = readOptions(args, { organization: TEXT, name: TEXT });
  const order = {
    organization: required(values.organization, "--organization", "the account the App is installed on"),
    name: required(values.name, "--name", "what the board is called"),
  };
  const created = await withDatabase(context, (db) => createWorkspace({ db, newId }, order));
  printResult(context, values, created, [
    `${created.name} is workspace ${created.id}, its first project ${created.projectId}.`,
    `Issue a credential for it: credential issue --board ${created.id}:maintainer …`,
  ]);
};

/** `workspace create | list`: the boards of an organization. */
export const workspace = commandOf(
  "workspace",
  "Boards, one or more for each account that has installed the App",
  ["workspace create --organization <slug> --name N", "workspace list"],
  { create: createBoard, list: listVerb({}, () => listWorkspaces) },
);

const MEMBER_LOGIN = "the account's name on the forge";

const createMember: Verb = async (args, context) => {
  const values = readOptions(args, { ...ACCOUNT, role: TEXT });
  const workspaceId = workspaceOf(values);
  const login = required(values.login, "--login", MEMBER_LOGIN);
  const role = ROLES.find((candidate) => candidate === values.role);
  if (!role) throw new UsageError(`--role is one of ${ROLES.join(", ")}.`);
  const forge = await openForge(context);
  const user = await withDatabase(context, (db) =>
    addMember({ db, forge, newId }, { workspaceId, login, role }),
  );
  printResult(context, values, { workspaceId, ...user, role }, [`${user.login} is a ${role} now.`]);
};

const listBoardMembers = listVerb({ workspace: TEXT }, (values) => {
  const workspaceId = workspaceOf(values);
  return async (db) => {
    if (!(await findWorkspace(db, workspaceId))) throw notFound(`There is no workspace ${workspaceId}.`);
    return listMemberEntries(db, workspaceId);
  };
});

/** A verb that takes an account off a board. */
const removal =
  (
    remove: (db: Db, workspaceId: string, login: string) => Promise<boolean>,
    words: { readonly login: string; readonly unknown: string; readonly removed: string },
  ): Verb =>
  async (args, context) => {
    const values = readOptions(args, ACCOUNT);
    const workspaceId = workspaceOf(values);
    const login = required(values.login, "--login", words.login);
    const isRemoved = await withDatabase(context, (db) => remove(db, workspaceId, login));
    if (!isRemoved) throw notFound(`${login} ${words.unknown} ${workspaceId}.`);
    printDone(context, values, { workspaceId, login, removed: true }, `${login} ${words.removed}`);
  };

/** `member add | list | remove`: who is on a board, and what they may do there. */
export const member = commandOf(
  "member",
  "People of the forge, and their role on a board",
  [
    "member add --workspace <id> --login <forge login> --role viewer|member|maintainer",
    "member list --workspace <id>",
    "member remove --workspace <id> --login <forge login>",
  ],
  {
    add: createMember,
    list: listBoardMembers,
    remove: removal(removeMember, {
      login: MEMBER_LOGIN,
      unknown: "is no member of workspace",
      removed: "is no member any more.",
    }),
  },
);

const AGENT_LOGIN = "the agent's account on the forge";

const createAgent: Verb = async (args, context) => {
  const values = readOptions(args, ACCOUNT);
  const workspaceId = workspaceOf(values);
  const login = required(values.login, "--login", AGENT_LOGIN);
  const forge = await openForge(context);
  const user = await withDatabase(context, (db) =>
    registerAgent({ db, forge, newId }, { workspaceId, login }),
  );
  printResult(context, values, { workspaceId, ...user }, [
    `${user.login} is an agent on this board now, and on no other.`,
  ]);
};

/** `agent add | list | remove`: the accounts a board registers as agents, besides those it recognizes. */
export const agent = commandOf(
  "agent",
  "Which accounts on the forge are agents: what they leave unanswered is told in the inbox",
  [
    "agent add --workspace <id> --login <forge login>",
    "agent list [--workspace <id>]",
    "agent remove --workspace <id> --login <forge login>",
  ],
  {
    add: createAgent,
    list: listVerb({ workspace: TEXT }, (values) => {
      const workspaceId = values.workspace === undefined ? null : workspaceOf(values);
      return (db) => listAgents(db, workspaceId);
    }),
    remove: removal(removeAgent, {
      login: AGENT_LOGIN,
      unknown: "is not registered as an agent of workspace",
      removed: "is no registered agent of this board any more.",
    }),
  },
);
