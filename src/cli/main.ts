#!/usr/bin/env node
import { Problem } from "../errors.ts";
import { ConfigError } from "../config.ts";
import { UsageError, type Command, type CommandContext } from "./command.ts";
import { credential } from "./credential.ts";
import { delivery } from "./delivery.ts";
import { forge } from "./forge.ts";
import { migrate } from "./migrate.ts";
import { openapi } from "./openapi.ts";
import { workspace } from "./workspace.ts";

const COMMANDS: readonly Command[] = [credential, workspace, delivery, forge, migrate, openapi];

const usage = (): string =>
  [
    "Usage: trunkline <command> [--json]",
    "",
    ...COMMANDS.flatMap((command) => command.usage.map((line) => `  ${line}`)),
    "",
    "It works on the database of DATABASE_URL, or beside a running sandbox on the sandbox's.",
    "",
  ].join("\n");

async function main(): Promise<number> {
  const [name, ...args] = process.argv.slice(2);
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (!command) {
    const isHelp = name === "help" || name === "--help" || name === "-h";
    (isHelp ? process.stdout : process.stderr).write(usage());
    return isHelp ? 0 : 2;
  }
  const context: CommandContext = {
    env: process.env,
    cwd: process.cwd(),
    pid: process.pid,
    print: (line) => void process.stdout.write(`${line}\n`),
    untilSignal: () =>
      new Promise((resolve) => {
        for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
      }),
  };
  try {
    await command.run(args, context);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(
        `${error.message}\n\n${command.usage.map((line) => `  trunkline ${line}`).join("\n")}\n`,
      );
      return 2;
    }
    const isKnown =
      error instanceof Problem || error instanceof ConfigError || (error instanceof Error && "code" in error);
    const text =
      error instanceof Error ? (isKnown ? error.message : (error.stack ?? error.message)) : "failed";
    process.stderr.write(`${text}\n`);
    return 1;
  }
}

process.exitCode = await main();
