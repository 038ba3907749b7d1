import { createWorkspace } from "../actions/boards/workspaces.ts";
import { newId } from "../new-id.ts";
import { listWorkspaces } from "../store/tenancy/workspaces.ts";
import { commandOf, printResult, printRows, readOptions, required, TEXT, type Verb } from "./command.ts";
import { withDatabase } from "./open-database.ts";

/** `workspace create`: one more board of an organization. */
const create: Verb = async (args, context) => {
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

/** `workspace list`: the boards, and their ids. */
const list: Verb = async (args, context) => {
  const values = readOptions(args, {});
  const found = await withDatabase(context, listWorkspaces);
  printRows(context, values, found);
};

export const workspace = commandOf(
  "workspace",
  "Boards, one or more for each account that has installed the App",
  ["workspace create --organization <slug> --name N", "workspace list"],
  { create, list },
);
