import { validate as isUuid } from "uuid";
import { cancelOperation, findReleaseOperation } from "../actions/releases/cancel-promotion.ts";
import { notFound } from "../errors.ts";
import { transaction } from "../store/db/transaction.ts";
import { findWorkspaceOfOperation } from "../store/releases/release-operations.ts";
import { commandOf, EXAMPLE_ID, onlyArgument, printOutcome, readArgs, type Subcommand } from "./command.ts";
import { withDatabase } from "./open.ts";

const cancel: Subcommand = async (args, context) => {
  const { values, positionals } = readArgs(args, {});
  const operationId = onlyArgument(positionals, "the id of the operation");
  const outcome = await withDatabase(context, async (db) => {
    const workspaceId = isUuid(operationId) ? await findWorkspaceOfOperation(db, operationId) : null;
    if (workspaceId === null) throw notFound(`There is no operation ${operationId}.`);
    const operator = { workspaceId, userId: null };
    return transaction(db, async (trx) =>
      cancelOperation(trx, operator, await findReleaseOperation(trx, operator, { operationId })),
    );
  });
  const text = `Cancelled. ${outcome.promoted.length} cards are promoted; a card that is being moved finishes.`;
  printOutcome(context, values, outcome, text);
};

export const operation = commandOf(
  {
    name: "operation",
    about: "Cancels a promotion that is running",
    usage: ["operation cancel <operationId>"],
    options: { "<operationId>": "The `operationId` in the response to the promotion" },
    examples: [`operation cancel ${EXAMPLE_ID}`],
    changes: ["cancel"],
  },
  { cancel },
);
