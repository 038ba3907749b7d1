import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Load, Measured } from "./load.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Starts `node`, its own output unseen but for the first line of it that `isReady` takes. */
export async function startNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  isReady: (line: string) => boolean,
): Promise<{ child: ChildProcess; line: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  const lines = createInterface({ input: child.stdout });
  const line = await new Promise<string>((resolve, reject) => {
    lines.on("line", (each) => {
      if (isReady(each)) resolve(each);
    });
    child.once("exit", (code) => reject(new Error(`${args[0]} ended with ${code} before it was ready`)));
  });
  return { child, line, stop };
}

/** Runs the load in a process of its own. Throws when any call failed: a fast wrong answer is no answer. */
export async function measure(load: Load, env: Readonly<Record<string, string>>): Promise<Measured> {
  const { line, child } = await startNode(
    ["--import", "tsx", here("load.ts"), JSON.stringify(load)],
    env,
    (each) => each.startsWith("{"),
  );
  if (child.exitCode === null) await once(child, "exit");
  const measured = JSON.parse(line) as Measured;
  if (measured.failed > 0 || measured.rate === 0) {
    throw new Error(
      `${load.method} ${load.paths[0]}: ${measured.failed} calls failed, ${measured.rate} a second`,
    );
  }
  return measured;
}

export const script = here;
