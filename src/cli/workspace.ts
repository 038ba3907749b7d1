import { createWorkspace } from "../actions/create-workspace.ts";
import { newId } from "../new-id.ts";
import { listWorkspaces } from "../store/workspaces.ts";
import { commandOf, noWords, printRows, readArgs, required, type Verb } from "./command.ts";
import { withDatabase } from "./open-database.ts";

/** `workspace create`: one more board of an organization. */
const create: Verb = async (args, context) => {
  const { values, positionals } = readArgs(args, {
    organization: { type: "string" },
    name: { type: "string" },
    json: { type: "boolean" },
  });
  noWords(positionals);
  const order = {
    organization: required(values.organization, "--organization", "the account the App is installed on"),
    name: required(values.name, "--name", "what the board is called"),
  };
  const created = await withDatabase(context, (db) => createWorkspace({ db, newId }, order));
  if (values.json) context.print(JSON.stringify(created, null, 2));
  else {
    context.print(`${created.name} is workspace ${created.id}, its first project ${created.projectId}.`);
    context.print(`Issue a credential for it: credential issue --board ${created.id}:maintainer …`);
  }
};

/** `workspace list`: the boards, and their ids. */
const list: Verb = async (args, context) => {
  const { values, positionals } = readArgs(args, { json: { type: "boolean" } });
  noWords(positionals);
  const found = await withDatabase(context, listWorkspaces);
  printRows(
    context,
    found.map((entry) => ({ ...entry })),
    values.json ?? false,
  );
};

export const workspace = commandOf(
  "workspace",
  "Boards, one or more for each account that has installed the App",
  ["workspace create --organization <slug> --name N", "workspace list"],
  { create, list },
);
