import { repairSoon } from "../jobs/tasks.ts";
import { printRows, readArgs, type Command } from "./command.ts";
import { withDatabase } from "./open-database.ts";

/** `repair`: has the running processes compare everything with the forge now, rather than within the hour. */
export const repair: Command = {
  name: "repair",
  about: "Asks the running processes to compare everything with the forge now",
  usage: ["repair"],
  run: async (args, context) => {
    const { values } = readArgs(args, {});
    const asked = await withDatabase(context, repairSoon);
    const rows = asked.map((job) => ({ asked: job }));
    printRows(context, values, rows);
  },
};
