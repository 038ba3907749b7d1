import { notFound } from "../errors.ts";
import { openApiDocument } from "../http/openapi.ts";
import { routes } from "../http/v1/routes.ts";
import { scheduleRepairs } from "../jobs/tasks.ts";
import { listParkedDeliveries } from "../store/forge/deliveries.ts";
import { retryParked } from "../store/forge/lanes.ts";
import { migrate as migrateDatabase } from "../store/db/migrate.ts";
import { changing, printOutcome, printRows, readArgs, type Command, UsageError } from "./command.ts";
import { withDatabase } from "./open.ts";

export const migrate: Command = {
  name: "migrate",
  about: "Applies pending database migrations, as the service does when it starts",
  usage: ["migrate"],
  examples: ["migrate"],
  run: async (args, context) => {
    const { values } = readArgs(args, {});
    const applied = await withDatabase(context, (_, databaseUrl) => migrateDatabase(databaseUrl));
    const text = applied.length > 0 ? `Applied:\n  ${applied.join("\n  ")}` : "The schema is up to date.";
    printOutcome(context, values, { applied }, text);
  },
};

export const repair: Command = {
  name: "repair",
  about: "Makes the running processes compare unfinished cards with GitHub now and retry failed jobs",
  usage: ["repair"],
  examples: ["repair"],
  run: async (args, context) => {
    const { values } = readArgs(args, {});
    const asked = await withDatabase(changing(context, "repair", args), scheduleRepairs);
    const rows = asked.map((job) => ({ asked: job }));
    printRows(context, values, rows);
  },
};

export const delivery: Command = {
  name: "delivery",
  about: "Lists and retries webhook deliveries that are parked after too many failures",
  usage: ["delivery list", "delivery retry <guid>", "delivery retry --all"],
  options: {
    "<guid>": "Delivery, from `trunkline delivery list`",
    "--all": "Retry all parked deliveries",
  },
  examples: ["delivery list", "delivery retry --all"],
  run: async ([verb, ...rest], context) => {
    const { values, positionals } = readArgs(rest, { all: { type: "boolean" } });
    const [guid] = positionals;
    if (verb === "list" && guid === undefined) {
      printRows(context, values, await withDatabase(context, listParkedDeliveries));
    } else if (verb === "retry" && (guid === undefined) === (values.all ?? false)) {
      const change = changing(context, "delivery retry", rest);
      const count = await withDatabase(change, async (db) => {
        const retried = await retryParked(db, guid ?? null);
        if (guid !== undefined && retried === 0) throw notFound(`There is no parked delivery ${guid}.`);
        return retried;
      });
      printRows(context, values, [{ retried: count }]);
    } else throw new UsageError("Use `delivery list`, or `delivery retry` with a guid or --all.");
  },
};

export const openapi: Command = {
  name: "openapi",
  about: "Prints the OpenAPI document of the API",
  usage: ["openapi"],
  examples: ["openapi > openapi.json"],
  run: async (_args, context) => context.print(JSON.stringify(openApiDocument(routes), null, 2)),
};
