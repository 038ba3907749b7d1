import { addMember } from "../actions/forge-accounts.ts";
import { notFound } from "../errors.ts";
import { ROLES, type Role } from "../flow/roles.ts";
import { newId } from "../new-id.ts";
import { findWorkspace } from "../store/tenancy/workspaces.ts";
import { listMemberEntries, removeMember } from "../store/tenancy/users.ts";
import {
  commandOf,
  printResult,
  printRows,
  readOptions,
  required,
  requiredWorkspace,
  TEXT,
  UsageError,
  type Verb,
} from "./command.ts";
import { withDatabase } from "./open-database.ts";
import { openForge } from "./open-forge.ts";

const LOGIN = "the account's name on the forge";

const add: Verb = async (args, context) => {
  const values = readOptions(args, { workspace: TEXT, login: TEXT, role: TEXT });
  const order = {
    workspaceId: requiredWorkspace(values.workspace),
    login: required(values.login, "--login", LOGIN),
    role: roleOf(values.role),
  };
  const forge = await openForge(context);
  const user = await withDatabase(context, (db) => addMember({ db, forge, newId }, order));
  const { workspaceId, role } = order;
  printResult(context, values, { workspaceId, ...user, role }, [`${user.login} is a ${role} now.`]);
};

function roleOf(text: string | undefined): Role {
  const role = ROLES.find((candidate) => candidate === text);
  if (!role) throw new UsageError(`--role is one of ${ROLES.join(", ")}.`);
  return role;
}

const list: Verb = async (args, context) => {
  const values = readOptions(args, { workspace: TEXT });
  const workspaceId = requiredWorkspace(values.workspace);
  const found = await withDatabase(context, async (db) => {
    if (!(await findWorkspace(db, workspaceId))) throw notFound(`There is no workspace ${workspaceId}.`);
    return listMemberEntries(db, workspaceId);
  });
  printRows(context, values, found);
};

const remove: Verb = async (args, context) => {
  const values = readOptions(args, { workspace: TEXT, login: TEXT });
  const workspaceId = requiredWorkspace(values.workspace);
  const login = required(values.login, "--login", LOGIN);
  const isRemoved = await withDatabase(context, (db) => removeMember(db, workspaceId, login));
  if (!isRemoved) throw notFound(`${login} is no member of workspace ${workspaceId}.`);
  if (values.json) context.print(JSON.stringify({ workspaceId, login, removed: true }));
  else context.print(`${login} is no member any more.`);
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
  { add, list, remove },
);
