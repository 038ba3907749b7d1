import { notFound } from "../errors.ts";
import { openApiDocument } from "../http/openapi.ts";
import { routes } from "../http/v1/routes.ts";
import { repairSoon } from "../jobs/tasks.ts";
import { listParked } from "../store/forge/deliveries.ts";
import { retryParked } from "../store/forge/lanes.ts";
import { migrate as migrateDatabase } from "../store/db/migrate.ts";
import { printDone, printRows, readArgs, type Command, UsageError } from "./command.ts";
import { withDatabase } from "./open.ts";

/** `migrate`: brings the database's schema up to date. */
export const migrate: Command = {
  name: "migrate",
  about: "Brings the database's schema up to date, as a starting service does",
  usage: ["migrate"],
  run: async (args, context) => {
    const { values } = readArgs(args, {});
    const applied = await withDatabase(context, migrateDatabase);
    const text = applied.length > 0 ? `Applied:\n  ${applied.join("\n  ")}` : "Nothing to do.";
    printDone(context, values, { applied }, text);
  },
};

/** `repair`: makes the running processes compare everything with the forge now. */
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

/** `delivery list | retry`: webhooks that were set aside because they kept failing. */
export const delivery: Command = {
  name: "delivery",
  about: "Webhooks that were set aside because working them kept failing",
  usage: ["delivery list", "delivery retry <guid>|--all"],
  run: async ([verb, ...rest], context) => {
    const { values, positionals } = readArgs(rest, { all: { type: "boolean" } });
    const [guid] = positionals;
    if (verb === "list" && guid === undefined) {
      printRows(context, values, await withDatabase(context, listParked));
    } else if (verb === "retry" && (guid === undefined) === (values.all ?? false)) {
      const count = await withDatabase(context, (db) => retryParked(db, guid ?? null));
      if (guid !== undefined && count === 0) throw notFound(`No delivery ${guid} was set aside.`);
      printRows(context, values, [{ retried: count }]);
    } else throw new UsageError("Say `delivery list`, or `delivery retry` with a guid or --all.");
  },
};

/** `openapi`: the OpenAPI document of what is served, as it is committed. */
export const openapi: Command = {
  name: "openapi",
  about: "Prints the API's document",
  usage: ["openapi"],
  run: async (_args, context) => context.print(JSON.stringify(openApiDocument(routes), null, 2)),
};
