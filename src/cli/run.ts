import { ConfigError } from "../config.ts";
import { Problem } from "../errors.ts";
import { ForgeUnavailable } from "../forge/values.ts";
import { agent, member, workspace } from "./boards.ts";
import { UsageError, type Command, type CommandContext } from "./command.ts";
import { credential } from "./credential.ts";
import { doctor } from "./doctor.ts";
import { forge } from "./forge.ts";
import { monitor } from "./monitor.ts";
import { delivery, migrate, openapi, repair } from "./operate.ts";
import { setup } from "./setup.ts";

const COMMANDS: readonly Command[] = [
  setup,
  doctor,
  credential,
  workspace,
  member,
  agent,
  monitor,
  delivery,
  repair,
  forge,
  migrate,
  openapi,
];

const OVERVIEW = [
  "Usage: trunkline <command> [--json]",
  "",
  ...COMMANDS.flatMap(({ about, usage }) => [`${about}:`, ...usage.map((line) => `  ${line}`), ""]),
  "It works on the database of DATABASE_URL, or beside a running sandbox on the sandbox's.",
  "",
].join("\n");

const HELP_OPTIONS: ReadonlySet<string> = new Set(["--help", "-h"]);

export interface Terminal extends CommandContext {
  /** Says what went wrong, apart from what was asked for. */
  readonly complain: (line: string) => void;
}

/** Does what the words ask for and gives the exit code: 0, 1 for what could not be done, 2 for what makes no sense. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...args] = words;
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (!command) return withoutCommand(name, terminal);
  if (args.some((arg) => HELP_OPTIONS.has(arg))) {
    terminal.print(`${command.about}:\n${usageOf(command, args[0])}`);
    return 0;
  }
  try {
    await command.run(args, terminal);
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    terminal.complain(isUsage ? `${error.message}\n\n${usageOf(command, args[0])}` : inWords(error));
    return isUsage ? 2 : 1;
  }
}

function withoutCommand(name: string | undefined, { print, complain }: Terminal): number {
  if (name === "help" || (name !== undefined && HELP_OPTIONS.has(name))) {
    print(OVERVIEW);
    return 0;
  }
  complain(name === undefined ? OVERVIEW : `There is no command \`${name}\`.\n\n${OVERVIEW}`);
  return 2;
}

/** How a command is called, or only the way of calling it that is meant. */
function usageOf(command: Command, verb: string | undefined): string {
  const meant = command.usage.filter((line) => verb !== undefined && line.split(" ")[1] === verb);
  return (meant.length > 0 ? meant : command.usage).map((line) => `  trunkline ${line}`).join("\n");
}

/** What a person can act on in words, anything else with the place it comes from. */
function inWords(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const isKnown =
    error instanceof Problem ||
    error instanceof ConfigError ||
    error instanceof ForgeUnavailable ||
    "code" in error;
  return isKnown ? error.message : (error.stack ?? error.message);
}
