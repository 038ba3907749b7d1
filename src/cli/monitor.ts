import { validate as isUuid } from "uuid";
import { createMonitor } from "../actions/boards/monitors.ts";
import { notFound } from "../errors.ts";
import { newId } from "../new-id.ts";
import { listMonitors, removeMonitor, setMonitorSecret } from "../store/ops/monitors.ts";
import {
  commandOf,
  EXAMPLE_ID,
  onlyArgument,
  printOutcome,
  printResult,
  readArgs,
  readOptions,
  required,
  requiredId,
  TEXT,
  UsageError,
  type Subcommand,
} from "./command.ts";
import { listSubcommand, publicUrlOf, withDatabase } from "./open.ts";

const MAX_SECRET = 500;
/** A shorter secret can be found from a signed report by trying all values. */
const MIN_SECRET = 16;

const create: Subcommand = async (args, context) => {
  const values = readOptions(args, { project: TEXT, name: TEXT });
  const order = {
    projectId: requiredId(values.project, "--project", "the id of the project whose inbox shows the errors"),
    name: required(values.name, "--name", "the name of the monitor in the inbox"),
  };
  const baseUrl = await publicUrlOf(context, "the URL of the monitor starts with it");
  const { id, secret } = await withDatabase(context, (db) => createMonitor({ db, newId }, order));
  const url = `${baseUrl}/monitors/${id}`;
  printResult(context, values, { id, url, secret }, [
    `Send reports to ${url}, signed with this secret, shown only once:\n\n  ${secret}\n`,
    `If the sender chooses the secret, as Sentry does, set it with: trunkline monitor secret ${id}`,
  ]);
};

const secret: Subcommand = async (args, context) => {
  const { values, positionals } = readArgs(args, {});
  const id = monitorId(positionals);
  // Not an option: all users of a machine can see the arguments of its processes.
  const given = (await context.readInput()).trim();
  if (given.length < MIN_SECRET || given.length > MAX_SECRET || /\s/.test(given)) {
    throw new UsageError(
      `Write the secret to standard input: ${MIN_SECRET} to ${MAX_SECRET} characters without spaces.`,
    );
  }
  await withDatabase(context, async (db) => {
    if (!(await setMonitorSecret(db, id, { secret: given, by: null }))) throw unknown(id);
  });
  printOutcome(context, values, { id }, "Reports are now verified with this secret.");
};

const remove: Subcommand = async (args, context) => {
  const { values, positionals } = readArgs(args, {});
  const id = monitorId(positionals);
  await withDatabase(context, async (db) => {
    if (!(await removeMonitor(db, id))) throw unknown(id);
  });
  printOutcome(context, values, { id, removed: true }, "Reports to this monitor are now refused.");
};

function monitorId(positionals: readonly string[]): string {
  const id = onlyArgument(positionals, "the id of the monitor");
  if (!isUuid(id)) throw unknown(id);
  return id;
}

const unknown = (id: string): Error =>
  notFound(`There is no monitor ${id}. \`trunkline monitor list\` shows all.`);

export const monitor = commandOf(
  {
    name: "monitor",
    about: "Manages the monitors that report production errors to the inbox of a project",
    usage: [
      "monitor create --project <id> --name <name>",
      "monitor list",
      "monitor secret <monitorId>",
      "monitor remove <monitorId>",
    ],
    options: {
      "--project <id>": "Project whose inbox shows the errors",
      "--name <name>": "Name of the monitor in the inbox",
      "<monitorId>": "Monitor, from `trunkline monitor list`; `secret` reads its secret from standard input",
    },
    examples: [
      `monitor create --project ${EXAMPLE_ID} --name production`,
      "monitor list",
      `monitor secret ${EXAMPLE_ID} < sentry-client-secret.txt`,
      `monitor remove ${EXAMPLE_ID}`,
    ],
    changes: ["create", "secret", "remove"],
  },
  { create, list: listSubcommand({}, () => (db) => listMonitors(db)), secret, remove },
);
