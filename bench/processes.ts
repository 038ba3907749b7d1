import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Load, Measured } from "./load.ts";

export const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A shell becomes the program, and leaves one behind that ends it once the pipe to us is closed: when we are gone, however we went. */
const TIED = '( read -r _ <&3; kill -TERM $$ ) >/dev/null 2>&1 & exec "$@" 3<&-';

export interface Started {
  readonly child: ChildProcess;
  /** What it wrote that was waited for. */
  readonly line: string;
  readonly lines: Interface;
  readonly stop: () => Promise<void>;
}

/** Starts `node`, and gives it back once it has written a line that `isReady` takes. */
export async function startNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  isReady: (line: string) => boolean,
): Promise<Started> {
  const child = spawnTied(args, env, "ignore");
  const lines = createInterface({ input: child.stdout });
  const line = await new Promise<string>((resolve, reject) => {
    lines.on("line", (each) => {
      if (isReady(each)) resolve(each);
    });
    child.once("exit", (code) => reject(new Error(`${args[0]} ended with ${code} before it was ready`)));
  });
  return { child, line, lines, stop: () => end(child) };
}

function spawnTied(args: readonly string[], env: Readonly<Record<string, string>>, input: "ignore" | "pipe") {
  const child = spawn("/bin/sh", ["-c", TIED, "bench", process.execPath, ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: [input, "pipe", "inherit", "pipe"],
  });
  child.once("exit", () => child.stdio[3]?.destroy());
  return child as ChildProcess & { readonly stdout: NonNullable<ChildProcess["stdout"]> };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** The process that loads. */
export interface Loader {
  /** Throws when any call failed: a fast wrong answer is no answer. */
  measure(load: Load): Promise<Measured>;
  stop(): Promise<void>;
}

/** Started once: it takes longer to start than to measure. One load at a time. */
export function startLoader(env: Readonly<Record<string, string>>): Loader {
  const child = spawnTied(["--import", "tsx", script("load.ts")], env, "pipe");
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, "exit").then(() => Promise.reject(new Error("the process that loads has ended")));
  // Only whoever waits for it is told.
  ended.catch(() => undefined);
  return {
    async measure(load) {
      const line = once(lines, "line") as Promise<[string]>;
      child.stdin?.write(`${JSON.stringify(load)}\n`);
      const measured = JSON.parse((await Promise.race([line, ended]))[0]) as Measured;
      if (measured.failed > 0 || measured.rate === 0) {
        throw new Error(
          `${load.method} ${load.paths[0]}: ${measured.failed} calls failed, ${measured.rate} a second`,
        );
      }
      return measured;
    },
    stop: () => end(child),
  };
}
