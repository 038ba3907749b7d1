import { parseArgs, type ParseArgsConfig } from "node:util";
import { validate as isUuid } from "uuid";

/** What a command may know of the process it runs in. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly pid: number;
  readonly print: (line: string) => void;
  /** All that is sent to its standard input. */
  readonly readInput: () => Promise<string>;
  /** Resolves when somebody asks the process to end. */
  readonly untilSignal: () => Promise<void>;
}

export interface Command {
  readonly name: string;
  /** What it is for, in one line. */
  readonly about: string;
  /** One line for each way to call it. */
  readonly usage: readonly string[];
  /** Throws `UsageError` for arguments that make no sense, `Problem` for what cannot be done. */
  run(args: readonly string[], context: CommandContext): Promise<void>;
}

/** The arguments make no sense; the usage is shown, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export type Verb = (args: readonly string[], context: CommandContext) => Promise<void>;

/** A command that does several things to one kind of thing: `name` is followed by one of `verbs`. */
export function commandOf(
  name: string,
  about: string,
  usage: readonly string[],
  verbs: Readonly<Record<string, Verb>>,
): Command {
  return {
    name,
    about,
    usage,
    run: ([word, ...rest], context) => {
      const verb = word !== undefined && Object.hasOwn(verbs, word) ? verbs[word] : undefined;
      if (verb) return verb(rest, context);
      const known = Object.keys(verbs).join(", ");
      throw new UsageError(
        word === undefined
          ? `Say what to do: ${name} ${known}.`
          : `There is no command \`${name} ${word}\`. There is ${known}.`,
      );
    },
  };
}

/** An option with a value. */
export const TEXT = { type: "string" } as const;

/** An option that has to be there. */
export function required(value: string | undefined, option: string, what: string): string {
  if (value === undefined || value.trim() === "") throw new UsageError(`${option} is required: ${what}.`);
  return value.trim();
}

/** An option that has to be there and to be an id. */
export function requiredId(value: string | undefined, option: string, what: string): string {
  const id = required(value, option, what);
  if (isUuid(id)) return id;
  throw new UsageError(`${option} ${id} is no id: ${what}.`);
}

export function portOf(value: string): number {
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError("--port is a port number.");
}

/** The one word of a call that names what it is about, and none beside it. */
export function onlyWord(positionals: readonly string[], what: string): string {
  const [word, ...others] = positionals;
  if (word === undefined) throw new UsageError(`Name ${what}.`);
  if (others.length > 0) throw new UsageError(`Name only one: ${what}.`);
  return word;
}

export type Options = NonNullable<ParseArgsConfig["options"]>;
type WithJson<O extends Options> = O & { readonly json: { readonly type: "boolean" } };
type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: WithJson<O>; allowPositionals: true }>
>;

/** The options of a call, to which no words belong. */
export function readOptions<O extends Options>(args: readonly string[], options: O): Parsed<O>["values"] {
  const { values, positionals } = readArgs(args, options);
  if (positionals.length === 0) return values;
  throw new UsageError(`\`${positionals.join(" ")}\` means nothing here.`);
}

/**
 * The options of a call, `--json` among them, and its words. Throws `UsageError` for an unknown
 * option or one without its value.
 */
export function readArgs<O extends Options>(args: readonly string[], options: O): Parsed<O> {
  const withJson: WithJson<O> = { ...options, json: { type: "boolean" } };
  try {
    return parseArgs({ args: [...args], options: withJson, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the arguments could not be read");
  }
}

interface Format {
  readonly json?: boolean | undefined;
}

/** Prints what a command has done as one line of JSON, or as a text for people. */
export const printDone = ({ print }: CommandContext, { json }: Format, result: object, text: string): void =>
  print(json ? JSON.stringify(result) : text);

/** Prints what a command has found or done as indented JSON, or as these lines for people. */
export function printResult(
  { print }: CommandContext,
  { json }: Format,
  result: object,
  lines: readonly string[],
): void {
  for (const line of json ? [JSON.stringify(result, null, 2)] : lines) print(line);
}

/** Prints rows as a table for people, or as one JSON array. */
export function printRows(context: CommandContext, format: Format, rows: readonly object[]): void {
  const lines = rows.map((row) =>
    Object.entries(row)
      .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join("  "),
  );
  printResult(context, format, rows, lines);
}
