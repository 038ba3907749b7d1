import { notFound } from "../errors.ts";
import { listParked } from "../store/forge/deliveries.ts";
import { retryParked } from "../store/forge/lanes.ts";
import { printRows, readArgs, type Command, UsageError } from "./command.ts";
import { withDatabase } from "./open-database.ts";

/** `delivery list` and `delivery retry`: webhooks that were set aside because they kept failing. */
export const delivery: Command = {
  name: "delivery",
  about: "Webhooks that were set aside because working them kept failing",
  usage: ["delivery list", "delivery retry <guid>|--all"],
  run: async ([verb, ...rest], context) => {
    const { values, positionals } = readArgs(rest, { all: { type: "boolean" } });
    const [guid] = positionals;
    if (verb === "list" && guid === undefined) {
      const found = await withDatabase(context, listParked);
      printRows(context, values, found);
    } else if (verb === "retry" && (guid === undefined) === (values.all ?? false)) {
      const count = await withDatabase(context, (db) => retryParked(db, guid ?? null));
      if (guid !== undefined && count === 0) throw notFound(`No delivery ${guid} was set aside.`);
      printRows(context, values, [{ retried: count }]);
    } else throw new UsageError("Say `delivery list`, or `delivery retry` with a guid or --all.");
  },
};
