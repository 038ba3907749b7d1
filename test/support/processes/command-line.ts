import { runCommandLine } from "../../../src/cli/run.ts";
import type { TestWorld } from "../world.ts";

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandLine {
  /** Runs a command with the test's database and the settings of an App. */
  run(words: readonly string[], input?: string): Promise<Ended>;
  /** Runs a command that must succeed with `--json` and returns its output. */
  json<T = Record<string, unknown>>(...words: readonly string[]): Promise<T>;
}

/** The command line for the service's operator, with `env` added to its configuration. */
export function commandLineOf(world: TestWorld, env: Readonly<Record<string, string>> = {}): CommandLine {
  const configuration = {
    DATABASE_URL: world.databaseUrl,
    TRUNKLINE_DATA_DIR: "/nonexistent",
    APP_ID: String(world.forge.app.id),
    PRIVATE_KEY: world.forge.app.privateKey,
    WEBHOOK_SECRET: world.forge.app.webhookSecret,
    GHE_HOST: new URL(world.forge.apiUrl).host,
    GHE_PROTOCOL: "http",
    PUBLIC_URL: world.service.baseUrl,
    ...env,
  };
  const run: CommandLine["run"] = async (words, input = "") => {
    const said = { stdout: "", stderr: "" };
    const code = await runCommandLine(words, {
      env: configuration,
      cwd: "/nonexistent",
      pid: process.pid,
      print: (line) => void (said.stdout += `${line}\n`),
      printError: (line) => void (said.stderr += `${line}\n`),
      readInput: () => Promise.resolve(input),
      untilSignal: () => Promise.resolve(),
    });
    return { code, ...said };
  };
  return {
    run,
    json: async <T>(...words: readonly string[]) => {
      const ended = await run([...words, "--json"]);
      if (ended.code !== 0) throw new Error(`${words.join(" ")}: ${ended.stderr}`);
      return JSON.parse(ended.stdout) as T;
    },
  };
}
