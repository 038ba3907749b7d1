import { addOperator } from "../actions/installations/operators.ts";
import { notFound } from "../errors.ts";
import { newId } from "../new-id.ts";
import { listOperators, removeOperator } from "../store/tenancy/operators.ts";
import { commandOf, printOutcome, readOptions, required, TEXT, type Subcommand } from "./command.ts";
import { listSubcommand, openForge, withDatabase } from "./open.ts";

const LOGIN = "the account's login on GitHub";

const add: Subcommand = async (args, context) => {
  const values = readOptions(args, { login: TEXT });
  const login = required(values.login, "--login", LOGIN);
  const user = await withDatabase(context, async (db) =>
    addOperator({ db, forge: await openForge(context, db), newId }, login),
  );
  printOutcome(context, values, user, `${user.login} is now an operator.`);
};

const remove: Subcommand = async (args, context) => {
  const values = readOptions(args, { login: TEXT });
  const login = required(values.login, "--login", LOGIN);
  await withDatabase(context, async (db) => {
    if (!(await removeOperator(db, login))) throw notFound(`${login} is not an operator.`);
  });
  printOutcome(context, values, { login, removed: true }, `${login} is no longer an operator.`);
};

export const operator = commandOf(
  {
    name: "operator",
    about: "Manages the people who see the operations page of the console",
    usage: ["operator add --login <login>", "operator list", "operator remove --login <login>"],
    options: { "--login <login>": "Account on GitHub" },
    examples: ["operator add --login ada", "operator list", "operator remove --login ada"],
    changes: ["add", "remove"],
  },
  { add, list: listSubcommand({}, () => listOperators), remove },
);
