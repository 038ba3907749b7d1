import { validate as isUuid } from "uuid";
import { createMonitor } from "../actions/boards/workspaces.ts";
import { dataDirOf, EXAMPLE_ADDRESS, isAddress, readConfig } from "../config.ts";
import { notFound } from "../errors.ts";
import { newId } from "../new-id.ts";
import { readSandboxFile } from "../../sandbox/state-files.ts";
import { listMonitors, removeMonitor, setMonitorSecret } from "../store/ops/monitors.ts";
import {
  commandOf,
  onlyWord,
  printDone,
  printResult,
  readArgs,
  readOptions,
  required,
  requiredId,
  TEXT,
  type CommandContext,
  UsageError,
  type Verb,
} from "./command.ts";
import { listVerb, withDatabase } from "./open.ts";

const MAX_SECRET = 500;
/** Shorter ones can be guessed from what they signed. */
const MIN_SECRET = 16;

const create: Verb = async (args, context) => {
  const values = readOptions(args, { project: TEXT, name: TEXT });
  const order = {
    projectId: requiredId(values.project, "--project", "where its errors are shown"),
    name: required(values.name, "--name", "what its items are told by"),
  };
  const baseUrl = await publicUrlOf(context);
  const { id, secret } = await withDatabase(context, (db) => createMonitor({ db, newId }, order));
  const url = `${baseUrl}/monitors/${id}`;
  printResult(context, values, { id, url, secret }, [
    `Reports go to ${url}, signed with this secret, shown this once:\n\n  ${secret}\n`,
    `Where the sender chooses the secret, as Sentry does: monitor secret ${id}`,
  ]);
};

/** Where the service is reached by others. */
async function publicUrlOf({ env, cwd }: CommandContext): Promise<string> {
  const given = env["PUBLIC_URL"];
  if (given) {
    if (isAddress(given)) return given.replace(/\/$/, "");
    throw new UsageError(`PUBLIC_URL is the address the service is reached at, such as ${EXAMPLE_ADDRESS}.`);
  }
  const isSandbox = readConfig(env, cwd).mode === "sandbox";
  const file = isSandbox ? await readSandboxFile(dataDirOf(env, cwd)) : null;
  if (file) return file.baseUrl;
  throw new UsageError("Set PUBLIC_URL to the address the service is reached at: the monitor's is below it.");
}

const secret: Verb = async (args, context) => {
  const { values, positionals } = readArgs(args, {});
  const id = monitorId(positionals);
  // Not an option: what a command is called with is seen by everybody on the machine.
  const given = (await context.readInput()).trim();
  if (given.length < MIN_SECRET || given.length > MAX_SECRET || /\s/.test(given)) {
    throw new UsageError(
      `Send the secret to standard input: ${MIN_SECRET} to ${MAX_SECRET} characters without spaces.`,
    );
  }
  const isSet = await withDatabase(context, (db) => setMonitorSecret(db, id, given));
  if (!isSet) throw unknown(id);
  printDone(context, values, { id }, "Its reports are checked with that secret now.");
};

const remove: Verb = async (args, context) => {
  const { values, positionals } = readArgs(args, {});
  const id = monitorId(positionals);
  const isRemoved = await withDatabase(context, (db) => removeMonitor(db, id));
  if (!isRemoved) throw unknown(id);
  printDone(context, values, { id, removed: true }, "Its reports are refused now.");
};

function monitorId(positionals: readonly string[]): string {
  const id = onlyWord(positionals, "the id of the monitor");
  if (!isUuid(id)) throw unknown(id);
  return id;
}

const unknown = (id: string): Error => notFound(`There is no monitor ${id}. \`monitor list\` names them.`);

/** `monitor create | list | secret | remove`: who may report production errors. */
export const monitor = commandOf(
  "monitor",
  "Where production errors are reported to, for a project's inbox",
  [
    "monitor create --project <id> --name N",
    "monitor list",
    "monitor secret <monitorId> < file",
    "monitor remove <monitorId>",
  ],
  { create, list: listVerb({}, () => listMonitors), secret, remove },
);
