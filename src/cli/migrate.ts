import { migrate as migrateDatabase } from "../store/db/migrate.ts";
import { readArgs, type Command } from "./command.ts";
import { withDatabase } from "./open-database.ts";

/** `migrate`: brings the database's schema up to date. */
export const migrate: Command = {
  name: "migrate",
  about: "Brings the database's schema up to date, as a starting service does",
  usage: ["migrate"],
  run: async (args, context) => {
    const { values } = readArgs(args, {});
    const applied = await withDatabase(context, migrateDatabase);
    if (values.json) context.print(JSON.stringify({ applied }));
    else context.print(applied.length > 0 ? `Applied:\n  ${applied.join("\n  ")}` : "Nothing to do.");
  },
};
