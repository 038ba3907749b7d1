import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describeError } from "../errors.ts";
import { ForgeUnavailable } from "../forge/values.ts";
import { audit } from "./audit.ts";
import { agent, member, workspace } from "./boards.ts";
import { UsageError, type Command, type CommandContext } from "./command.ts";
import { credential } from "./credential.ts";
import { doctor } from "./doctor.ts";
import { events } from "./events.ts";
import { forge } from "./forge.ts";
import { monitor } from "./monitor.ts";
import { operation } from "./operation.ts";
import { operator } from "./operator.ts";
import { delivery, migrate, openapi, repair } from "./operate.ts";
import { consoleLink, session } from "./session.ts";
import { setup } from "./setup.ts";

const COMMANDS: readonly Command[] = [
  setup,
  doctor,
  credential,
  session,
  consoleLink,
  operator,
  workspace,
  member,
  agent,
  monitor,
  delivery,
  operation,
  events,
  audit,
  repair,
  forge,
  migrate,
  openapi,
];

/** Aligned on the longest name. */
function table(rows: readonly (readonly [name: string, about: string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`);
}

const COMMON_OPTIONS: readonly (readonly [name: string, about: string])[] = [
  ["--json", "Print the result as JSON"],
  ["-h, --help", "Print this help"],
];

const OVERVIEW = [
  "Usage: trunkline <command> [options]",
  "",
  "Commands:",
  ...table(COMMANDS.map(({ name, about }) => [name, about])),
  "",
  "Options:",
  ...table([...COMMON_OPTIONS, ["--version", "Print the version"]]),
  "",
  "`trunkline help <command>` prints the options and an example of a command.",
  "Commands use the database that DATABASE_URL names. Without DATABASE_URL they use the database of",
  "the sandbox that runs on TRUNKLINE_DATA_DIR, by default .trunkline in the current folder.",
].join("\n");

export interface Terminal extends CommandContext {
  /** Prints to standard error. */
  readonly printError: (line: string) => void;
}

/** Runs a command. Returns the exit code: 0, 1 for a failure, or 2 for wrong arguments. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--version") {
    terminal.print(readVersion());
    return 0;
  }
  const isHelp = name === "help" || isHelpOption(name);
  const [commandName, ...commandArgs] = isHelp ? rest : args;
  const command = COMMANDS.find((candidate) => candidate.name === commandName);
  if (!command) {
    if (isHelp && commandName === undefined) {
      terminal.print(OVERVIEW);
      return 0;
    }
    const unknown = `There is no command \`${commandName}\`.\n\n`;
    terminal.printError(`${commandName === undefined ? "" : unknown}${OVERVIEW}`);
    return 2;
  }
  if (isHelp || commandArgs.some(isHelpOption)) {
    terminal.print(helpOf(command, commandArgs[0]));
    return 0;
  }
  try {
    await command.run(commandArgs, terminal);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      const usage = [...usageOf(command, commandArgs[0]), `See \`trunkline help ${command.name}\`.`];
      terminal.printError([error.message, "", "Usage:", ...usage].join("\n"));
      return 2;
    }
    terminal.printError(error instanceof ForgeUnavailable ? error.message : describeError(error));
    return 1;
  }
}

const isHelpOption = (arg: string | undefined): boolean => arg === "--help" || arg === "-h";

/** The lines of one subcommand, or all lines when none is of that subcommand. */
function linesOf(lines: readonly string[], verb: string | undefined): string[] {
  const own = lines.filter((line) => verb !== undefined && line.split(" ")[1] === verb);
  return (own.length > 0 ? own : lines).map((line) => `  trunkline ${line}`);
}

const usageOf = (command: Command, verb: string | undefined): string[] => linesOf(command.usage, verb);

function helpOf(command: Command, verb: string | undefined): string {
  const usage = usageOf(command, verb);
  const options = Object.entries(command.options ?? {}).filter(([option]) =>
    usage.some((line) => line.includes(option.split(" ")[0] ?? "")),
  );
  const parts = [
    [`${command.about}.`],
    ["Usage:", ...usage],
    ["Options:", ...table([...options, ...COMMON_OPTIONS])],
    ["Example:", ...linesOf(command.examples, verb)],
  ];
  return parts.map((lines) => lines.join("\n")).join("\n\n");
}

/** The version in package.json, which is beside `src` and beside `dist`. */
function readVersion(): string {
  const path = ["../../package.json", "../../../package.json"]
    .map((candidate) => join(import.meta.dirname, candidate))
    .find((candidate) => existsSync(candidate));
  const { version } = JSON.parse(readFileSync(path ?? "package.json", "utf8")) as { version: string };
  return version;
}
