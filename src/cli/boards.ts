import { createWorkspace } from "../actions/boards/workspaces.ts";
import { addMember, registerAgent } from "../actions/members/forge-accounts.ts";
import { removeMembersWithLogin } from "../actions/members/members.ts";
import { notFound, Problem } from "../errors.ts";
import { ROLES } from "../flow/roles.ts";
import { newId } from "../new-id.ts";
import { listAgents, removeAgent } from "../store/tenancy/agents.ts";
import { listMembersWithLogin } from "../store/tenancy/users.ts";
import type { Db } from "../store/db/connect.ts";
import { findWorkspace, listWorkspaces } from "../store/tenancy/workspaces.ts";
import {
  commandOf,
  EXAMPLE_ID,
  printOutcome,
  printResult,
  readOptions,
  required,
  TEXT,
  UsageError,
  workspaceOf,
  type CommandContext,
  type Subcommand,
} from "./command.ts";
import { messageOf } from "../actions/doctor/check-forge.ts";
import { listSubcommand, openForge, withDatabase } from "./open.ts";

const ACCOUNT = { workspace: TEXT, login: TEXT };

const createBoard: Subcommand = async (args, context) => {
  const values = readOptions(args, { organization: TEXT, name: TEXT });
  const order = {
    organization: required(values.organization, "--organization", "the account that has installed the App"),
    name: required(values.name, "--name", "the name of the board"),
  };
  const created = await withDatabase(context, (db) =>
    createWorkspace({ db, newId }, order).catch(async (error: unknown) => {
      const isUnknown = error instanceof Problem && error.kind === "not_found";
      throw (isUnknown && (await whyUnknown(context, db, order.organization))) || error;
    }),
  );
  printResult(context, values, created, [
    `Created the board ${created.name}: workspace ${created.id}, project ${created.projectId}.`,
    `Next, issue a credential: trunkline credential issue --board ${created.id}:maintainer …`,
  ]);
};

/** Why the database does not have an account. Null if the App is not installed on it, or not set up. */
async function whyUnknown(context: CommandContext, db: Db, login: string): Promise<Problem | null> {
  const forge = await openForge(context, db).catch(() => null);
  if (forge === null) return null;
  try {
    const installed = await forge.installations();
    const found = installed.find(({ account }) => account.login.toLowerCase() === login.toLowerCase());
    if (!found) return null;
    const why = found.suspended
      ? "but suspended. Its owner can unsuspend it in the account's settings, under GitHub Apps."
      : "but the service has not recorded it yet. Start the service; `trunkline doctor` checks its webhooks.";
    return new Problem("not_found", `The App is installed on ${found.account.login}, ${why}`);
  } catch (error) {
    const why = messageOf(error);
    return new Problem("unavailable", `The account ${login} is unknown, and cannot be looked up: ${why}`);
  }
}

export const workspace = commandOf(
  {
    name: "workspace",
    about: "Creates and lists boards, one or more for each account that has installed the App",
    usage: ["workspace create --organization <login> --name <name>", "workspace list"],
    options: {
      "--organization <login>": "Account on GitHub that has installed the App",
      "--name <name>": "Name of the board",
    },
    examples: ["workspace create --organization acme --name Web", "workspace list"],
    changes: ["create"],
  },
  { create: createBoard, list: listSubcommand({}, () => listWorkspaces) },
);

const MEMBER_LOGIN = "the account's login on GitHub";

const createMember: Subcommand = async (args, context) => {
  const values = readOptions(args, { ...ACCOUNT, role: TEXT });
  const workspaceId = workspaceOf(values);
  const login = required(values.login, "--login", MEMBER_LOGIN);
  const role = ROLES.find((candidate) => candidate === values.role);
  if (!role) throw new UsageError(`--role must be one of ${ROLES.join(", ")}.`);
  const user = await withDatabase(context, async (db) =>
    addMember({ db, forge: await openForge(context, db), newId }, { workspaceId, login, role }),
  );
  printResult(context, values, { workspaceId, ...user, role }, [`${user.login} now has the role ${role}.`]);
};

const listBoardMembers = listSubcommand({ workspace: TEXT }, (values) => {
  const workspaceId = workspaceOf(values);
  return async (db) => {
    if (!(await findWorkspace(db, workspaceId))) throw notFound(`There is no workspace ${workspaceId}.`);
    return listMembersWithLogin(db, workspaceId);
  };
});

/** A subcommand that removes an account from a board. */
const removal =
  (
    remove: (db: Db, workspaceId: string, login: string) => Promise<boolean>,
    texts: { readonly login: string; readonly unknown: string; readonly removed: string },
  ): Subcommand =>
  async (args, context) => {
    const values = readOptions(args, ACCOUNT);
    const workspaceId = workspaceOf(values);
    const login = required(values.login, "--login", texts.login);
    await withDatabase(context, async (db) => {
      if (!(await remove(db, workspaceId, login)))
        throw notFound(`${login} ${texts.unknown} ${workspaceId}.`);
    });
    printOutcome(context, values, { workspaceId, login, removed: true }, `${login} ${texts.removed}`);
  };

const WORKSPACE_OPTION = { "--workspace <id>": "Board, from `trunkline workspace list`" };

export const member = commandOf(
  {
    name: "member",
    about: "Manages the people on a board and their roles",
    usage: [
      "member add --workspace <id> --login <login> --role <role>",
      "member list --workspace <id>",
      "member remove --workspace <id> --login <login>",
    ],
    options: {
      ...WORKSPACE_OPTION,
      "--login <login>": "Account on GitHub",
      "--role <role>": `One of ${ROLES.join(", ")}`,
    },
    examples: [
      `member add --workspace ${EXAMPLE_ID} --login ada --role maintainer`,
      `member list --workspace ${EXAMPLE_ID}`,
      `member remove --workspace ${EXAMPLE_ID} --login ada`,
    ],
    changes: ["add", "remove"],
  },
  {
    add: createMember,
    list: listBoardMembers,
    remove: removal(removeMembersWithLogin, {
      login: MEMBER_LOGIN,
      unknown: "is not a member of workspace",
      removed: "is no longer a member.",
    }),
  },
);

const AGENT_LOGIN = "the agent's login on GitHub";

const createAgent: Subcommand = async (args, context) => {
  const values = readOptions(args, { ...ACCOUNT, owner: TEXT });
  const workspaceId = workspaceOf(values);
  const login = required(values.login, "--login", AGENT_LOGIN);
  const { owner } = values;
  const user = await withDatabase(context, async (db) =>
    registerAgent({ db, forge: await openForge(context, db), newId }, { workspaceId, login, owner }),
  );
  printResult(context, values, { workspaceId, ...user }, [
    `${user.login} is now registered as an agent, on this board only.`,
  ]);
};

/** Registers agents besides those that a board recognizes. */
export const agent = commandOf(
  {
    name: "agent",
    about: "Registers accounts on GitHub as coding agents of a board",
    usage: [
      "agent add --workspace <id> --login <login> [--owner <login>]",
      "agent list [--workspace <id>]",
      "agent remove --workspace <id> --login <login>",
    ],
    options: {
      ...WORKSPACE_OPTION,
      "--login <login>": "Account of the agent on GitHub",
      "--owner <login>": "GitHub user who owns the agent, for stages that need a second person",
    },
    examples: [
      `agent add --workspace ${EXAMPLE_ID} --login my-agent --owner ada`,
      "agent list",
      `agent remove --workspace ${EXAMPLE_ID} --login my-agent`,
    ],
    changes: ["add", "remove"],
  },
  {
    add: createAgent,
    list: listSubcommand({ workspace: TEXT }, (values) => {
      const workspaceId = values.workspace === undefined ? null : workspaceOf(values);
      return (db) => listAgents(db, workspaceId);
    }),
    remove: removal((db, workspaceId, login) => removeAgent(db, workspaceId, { login }), {
      login: AGENT_LOGIN,
      unknown: "is not registered as an agent of workspace",
      removed: "is no longer registered as an agent of this board.",
    }),
  },
);
