import { createSignInLink } from "../actions/sessions/sign-in-link.ts";
import { notFound } from "../errors.ts";
import { endSession, listSessions } from "../store/tenancy/sessions.ts";
import {
  commandOf,
  EXAMPLE_ID,
  changing,
  onlyArgument,
  printOutcome,
  printResult,
  readArgs,
  readOptions,
  TEXT,
  UsageError,
  workspaceOf,
  type Command,
  type Subcommand,
} from "./command.ts";
import { listSubcommand, publicUrlOf, withDatabase } from "./open.ts";

const revoke: Subcommand = async (args, context) => {
  const { values, positionals } = readArgs(args, {});
  const id = onlyArgument(positionals, "the id of the session");
  await withDatabase(context, async (db) => {
    if (!(await endSession(db, id))) throw notFound(`There is no session ${id}, or it has ended.`);
  });
  printOutcome(context, values, { id, revoked: true }, "The session has ended.");
};

export const session = commandOf(
  {
    name: "session",
    about: "Lists and ends people's sessions in the console",
    usage: ["session list", "session revoke <id>"],
    options: { "<id>": "Session, from `trunkline session list`; the audit log names it, too" },
    examples: ["session list", "session revoke qAidaAxp1xcr"],
    changes: ["revoke"],
  },
  { list: listSubcommand({}, () => listSessions), revoke },
);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MAX_LIFETIME_MS = 24 * HOUR_MS;

/** Makes the first maintainer of a board, who then needs no command line to add others. */
export const consoleLink: Command = {
  name: "console-link",
  about: "Prints a link with which one person signs in to the console as a maintainer of a board",
  usage: ["console-link --workspace <id> [--operator] [--expires <time>]"],
  options: {
    "--workspace <id>": "Board, from `trunkline workspace list`",
    "--operator": "The person also becomes an operator, who sees the operations page",
    "--expires <time>": "How long the link is valid, such as 30m or 24h, at most 24h (default: 1h)",
  },
  examples: [`console-link --workspace ${EXAMPLE_ID} --expires 30m`],
  run: async (args, context) => {
    const values = readOptions(args, {
      workspace: TEXT,
      operator: { type: "boolean" },
      expires: { ...TEXT, default: "1h" },
    });
    const link = { workspaceId: workspaceOf(values), isOperator: values.operator ?? false };
    const lifetimeMs = lifetimeOf(values.expires);
    const baseUrl = await publicUrlOf(context, "the link starts with it");
    const change = changing(context, "console-link", args);
    const { token, expiresAt } = await withDatabase(change, (db) => createSignInLink(db, link, lifetimeMs));
    const url = `${baseUrl}/console/first-sign-in/${token}`;
    printResult(context, values, { url, expiresAt }, [
      `Whoever opens this link first and signs in becomes a maintainer of the board${link.isOperator ? " and an operator" : ""}:\n\n  ${url}\n`,
      `It is valid once, until ${expiresAt.toISOString()}.`,
    ]);
  },
};

function lifetimeOf(text: string): number {
  const [, count, unit] = /^(\d{1,4})([mh])$/.exec(text) ?? [];
  const ms = Number(count) * (unit === "h" ? HOUR_MS : MINUTE_MS);
  if (ms > 0 && ms <= MAX_LIFETIME_MS) return ms;
  throw new UsageError("--expires must be a time such as 30m or 2h, at most 24h.");
}
