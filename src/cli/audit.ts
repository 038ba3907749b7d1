import { Problem } from "../errors.ts";
import { readChain, verifyChain } from "../store/audit/chain.ts";
import { commandOf, printOutcome, readOptions, type Subcommand } from "./command.ts";
import { withDatabase } from "./open.ts";

/** Rows per read. */
const BATCH = 500;

const verify: Subcommand = async (args, context) => {
  const values = readOptions(args, {});
  const { rows, last, broken } = await withDatabase(context, verifyChain);
  if (broken !== null) throw new Problem("conflict", `The audit log was changed. ${broken}`);
  const { position, hash } = last;
  const text =
    rows === 0
      ? "The audit log has no rows."
      : `Verified ${rows} rows. The last one, ${position}, has the hash ${hash}.`;
  printOutcome(context, values, { rows, position, hash }, text);
};

const exportAll: Subcommand = async (args, context) => {
  readOptions(args, {});
  await withDatabase(context, async (db) => {
    for (let after = 0, isMore = true; isMore;) {
      const found = await readChain(db, after, BATCH);
      for (const { position, line } of found) {
        context.print(line);
        after = position;
      }
      isMore = found.length === BATCH;
    }
  });
};

export const audit = commandOf(
  {
    name: "audit",
    about: "Verifies and exports the audit log",
    usage: ["audit verify", "audit export"],
    examples: ["audit verify", "audit export > audit.jsonl"],
  },
  { verify, export: exportAll },
);
