import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Load, LoadResult } from "./load.ts";

/** Undone at the end of a run, last entry first. */
export type Cleanups = (() => Promise<unknown>)[];

/**
 * Runs a measurement and then its cleanups, also after an error, SIGINT or SIGTERM. Exits with the
 * code that `main` returns, 1 after an error, or 130 after a signal.
 */
export async function runAndCleanUp(main: (cleanups: Cleanups) => Promise<number>): Promise<void> {
  const cleanups: Cleanups = [];
  const interrupted = new Promise<{ exitCode: number }>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => resolve({ exitCode: 130 }));
    }
  });
  const finished = main(cleanups).then(
    (exitCode) => ({ exitCode }),
    (error: unknown) => ({ exitCode: 1, error }),
  );
  const outcome = await Promise.race([finished, interrupted]);
  if ("error" in outcome) console.error(outcome.error);
  for (let cleanUp = cleanups.pop(); cleanUp; cleanUp = cleanups.pop()) {
    await cleanUp().catch((error: unknown) => console.error(error));
  }
  process.exit(outcome.exitCode);
}

/** The shell becomes the program. Its child ends the program when the bench closes the pipe. */
const TIED = '( read -r _ <&3; kill -TERM $$ ) >/dev/null 2>&1 & exec "$@" 3<&-';

/** The arguments with which node runs a script of this folder. */
export const script = (name: string): string[] => [
  "--import",
  "tsx",
  fileURLToPath(new URL(name, import.meta.url)),
];

interface NodeProcess {
  readonly pid: number;
  readonly stdin: Writable;
  /** Resolves with the next output line that `isWanted` accepts. Rejects if the process ends. */
  readonly nextLine: (isWanted?: (line: string) => boolean) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** Starts node. The process ends with the bench, even after SIGKILL. */
export function startNode(
  cleanups: Cleanups,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): NodeProcess {
  const child = spawn("/bin/sh", ["-c", TIED, "bench", process.execPath, ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "inherit", "pipe"],
  });
  child.once("exit", () => child.stdio[3]?.destroy());
  const lines = createInterface({ input: child.stdout as Readable });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  cleanups.push(stop);
  return {
    pid: child.pid ?? 0,
    stdin: child.stdin as Writable,
    nextLine: (isWanted = () => true) =>
      new Promise((resolve, reject) => {
        const onExit = (): void => reject(new Error(`node ${args.join(" ")} has ended.`));
        const onLine = (line: string): void => {
          if (!isWanted(line)) return;
          lines.off("line", onLine);
          child.off("exit", onExit);
          resolve(line);
        };
        lines.on("line", onLine);
        child.once("exit", onExit);
      }),
    stop,
  };
}

/** The process that sends the calls. */
export interface Loader {
  /** Runs one load at a time. Throws when a call fails: a fast wrong response does not count. */
  run(load: Load): Promise<LoadResult>;
}

export function startLoader(cleanups: Cleanups): Loader {
  const child = startNode(cleanups, script("load.ts"));
  return {
    async run(load) {
      const line = child.nextLine();
      child.stdin.write(`${JSON.stringify(load)}\n`);
      const result = JSON.parse(await line) as LoadResult;
      if (result.failed > 0 || result.answered === 0) {
        const { method, path } = load.calls[0] ?? { method: "", path: "" };
        throw new Error(`${method} ${path}: ${result.failed} calls failed, ${result.answered} did not`);
      }
      return result;
    },
  };
}
