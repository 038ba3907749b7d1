import { parseArgs, type ParseArgsConfig } from "node:util";
import { validate as isUuid } from "uuid";
import { isBlank } from "../flow/text.ts";

/** The parts of the process that a command may use. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly pid: number;
  readonly print: (line: string) => void;
  /** Reads standard input to its end. */
  readonly readInput: () => Promise<string>;
  /** Resolves when the process is asked to end. */
  readonly untilSignal: () => Promise<void>;
  /** What the command changes; the audit log has a row of it. */
  readonly change?: Change;
}

interface Change {
  /** As in `trunkline member add`. */
  readonly action: string;
  readonly targets: Readonly<Record<string, string>>;
}

/** Options that name what a command changes. */
const TARGETS = ["workspace", "organization", "project", "board", "login", "role"];
const OTHERS = ["name", "scopes", "expires", "keep", "for"];
const TARGET = /^[\w:.,[\]-]{1,200}$/;

/** The context of a command that changes something: `withDatabase` records it in the audit log. */
export function changing(context: CommandContext, name: string, args: readonly string[]): CommandContext {
  const options = Object.fromEntries(
    [...TARGETS, ...OTHERS].map((option) => [option, { ...TEXT, multiple: true }]),
  );
  const { values, positionals } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
  });
  const named = TARGETS.map((option) => [option, values[option]] as const);
  const given = [...named, ["id", positionals.slice(0, 1)] as const].map(
    ([option, value]) => [option, Array.isArray(value) ? value.join(",") : ""] as const,
  );
  const targets = Object.fromEntries(given.filter(([, value]) => TARGET.test(value)));
  return { ...context, change: { action: `trunkline ${name}`, targets } };
}

/** The help of a command. */
interface Help {
  readonly name: string;
  /** What it does, in one line. */
  readonly about: string;
  /** One line for each form of the command. */
  readonly usage: readonly string[];
  /** The options and arguments in `usage`. */
  readonly options?: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  /** The subcommands that change something. */
  readonly changes?: readonly string[];
}

export interface Command extends Help {
  /** Throws `UsageError` for wrong arguments, and `Problem` when the command fails. */
  run(args: readonly string[], context: CommandContext): Promise<void>;
}

/** Wrong arguments. The command line shows the usage and exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export type Subcommand = (args: readonly string[], context: CommandContext) => Promise<void>;

/** A command with subcommands. */
export function commandOf(help: Help, verbs: Readonly<Record<string, Subcommand>>): Command {
  return {
    ...help,
    run: ([name, ...rest], context) => {
      const verb = name !== undefined && Object.hasOwn(verbs, name) ? verbs[name] : undefined;
      const isChange = name !== undefined && help.changes?.includes(name);
      if (verb) return verb(rest, isChange ? changing(context, `${help.name} ${name}`, rest) : context);
      const known = Object.keys(verbs).join(", ");
      throw new UsageError(
        name === undefined
          ? `A subcommand is missing: ${known}.`
          : `There is no command \`${help.name} ${name}\`. Use one of: ${known}.`,
      );
    },
  };
}

/** An id for the examples. */
export const EXAMPLE_ID = "01a20944-37a9-711a-a573-090b921ac487";

/** An option with a value. */
export const TEXT = { type: "string" } as const;

/** The trimmed value of a required option. */
export function required(value: string | undefined, option: string, what: string): string {
  if (value === undefined || isBlank(value)) throw new UsageError(`${option} is required: ${what}.`);
  return value.trim();
}

/** The value of a required option that takes an id. */
export function requiredId(value: string | undefined, option: string, what: string): string {
  const id = required(value, option, what);
  if (isUuid(id)) return id;
  throw new UsageError(`${option} ${id} is not an id. Give ${what}.`);
}

/** The value of a required `--workspace`. */
export const workspaceOf = (values: { readonly workspace?: string | undefined }): string =>
  requiredId(values.workspace, "--workspace", "the id of a board, from `trunkline workspace list`");

export function portOf(value: string): number {
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError("--port must be a port number, from 0 to 65535.");
}

/** The only argument of an invocation. */
export function onlyArgument(positionals: readonly string[], what: string): string {
  const [argument, ...others] = positionals;
  if (argument === undefined) throw new UsageError(`An argument is missing: ${what}.`);
  if (others.length > 0) throw new UsageError(`Too many arguments. Give only ${what}.`);
  return argument;
}

export type Options = NonNullable<ParseArgsConfig["options"]>;
type WithJson<O extends Options> = O & { readonly json: { readonly type: "boolean" } };
type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: WithJson<O>; allowPositionals: true }>
>;

/** Reads the options of an invocation that takes no arguments. */
export function readOptions<O extends Options>(args: readonly string[], options: O): Parsed<O>["values"] {
  const { values, positionals } = readArgs(args, options);
  if (positionals.length === 0) return values;
  throw new UsageError(`Unexpected argument: ${positionals.join(" ")}`);
}

/**
 * Reads the options of an invocation, `--json` included, and its arguments. Throws `UsageError` for an
 * unknown option and for a missing value.
 */
export function readArgs<O extends Options>(args: readonly string[], options: O): Parsed<O> {
  const withJson: WithJson<O> = { ...options, json: { type: "boolean" } };
  try {
    return parseArgs({ args: [...args], options: withJson, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "The arguments could not be read.");
  }
}

interface Format {
  readonly json?: boolean | undefined;
}

/** Prints the result of a command as one line of JSON, or as text. */
export const printOutcome = (
  { print }: CommandContext,
  { json }: Format,
  result: object,
  text: string,
): void => print(json ? JSON.stringify(result) : text);

/** Prints the result of a command as indented JSON, or as lines of text. */
export function printResult(
  { print }: CommandContext,
  { json }: Format,
  result: object,
  lines: readonly string[],
): void {
  for (const line of json ? [JSON.stringify(result, null, 2)] : lines) print(line);
}

/** Prints rows as `name=value` lines, or as one JSON array. */
export function printRows(context: CommandContext, format: Format, rows: readonly object[]): void {
  const lines = rows.map((row) =>
    Object.entries(row)
      .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join("  "),
  );
  printResult(context, format, rows, lines);
}
