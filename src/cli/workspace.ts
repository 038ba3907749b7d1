import { listWorkspaces } from "../store/workspaces.ts";
import { printRows, readArgs, UsageError, type Command } from "./command.ts";
import { withDatabase } from "./open-database.ts";

/** `workspace list`: the boards, and their ids. */
export const workspace: Command = {
  name: "workspace",
  usage: ["workspace list"],
  run: async ([verb, ...rest], context) => {
    if (verb !== "list") throw new UsageError("Say `workspace list`.");
    const { values } = readArgs(rest, { json: { type: "boolean" } });
    const found = await withDatabase(context, listWorkspaces);
    printRows(
      context,
      found.map((entry) => ({ ...entry })),
      values.json ?? false,
    );
  },
};
