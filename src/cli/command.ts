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

/** The one word of a call that names what it is about, and none beside it. */
export function onlyWord(positionals: readonly string[], what: string): string {
  const [word, ...others] = positionals;
  if (word === undefined) throw new UsageError(`Name ${what}.`);
  if (others.length > 0) throw new UsageError(`Name only one: ${what}.`);
  return word;
}

/** Refuses words that mean nothing here. */
export function noWords(positionals: readonly string[]): void {
  if (positionals.length > 0) throw new UsageError(`\`${positionals.join(" ")}\` means nothing here.`);
}

/** The options and the words of a call. Throws `UsageError` for an unknown option or one without its value. */
export function readArgs<Options extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  options: Options,
): ReturnType<typeof parseArgs<{ args: string[]; options: Options; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the arguments could not be read");
  }
}

/** Prints rows as a table for people, or as one JSON array. */
export function printRows(
  context: CommandContext,
  rows: readonly Readonly<Record<string, unknown>>[],
  asJson: boolean,
): void {
  if (asJson) {
    context.print(JSON.stringify(rows, null, 2));
    return;
  }
  for (const row of rows) {
    context.print(
      Object.entries(row)
        .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
        .join("  "),
    );
  }
}
