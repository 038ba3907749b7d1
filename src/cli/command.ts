import { parseArgs, type ParseArgsConfig } from "node:util";

/** What a command may know of the process it runs in. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly pid: number;
  readonly print: (line: string) => void;
  /** Resolves when somebody asks the process to end. */
  readonly untilSignal: () => Promise<void>;
}

export interface Command {
  readonly name: string;
  /** One line for each way to call it. */
  readonly usage: readonly string[];
  /** Throws `UsageError` for arguments that make no sense, `Problem` for what cannot be done. */
  run(args: readonly string[], context: CommandContext): Promise<void>;
}

/** The arguments make no sense; the usage is shown, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
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
