import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "../../sandbox/postgres/account.ts";

/** Killed when this process exits. */
const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly account?: Account;
  readonly cwd: string;
  /** The file of its output. */
  readonly log: string;
}

/** A program that ends with this process. */
export interface Child {
  /** Repeats `works` until it succeeds. Throws if the program ends before. */
  until(works: () => Promise<unknown>): Promise<void>;
  stop(): Promise<void>;
}

export function startChild({ command, args, env, account, cwd, log }: ChildCommand): Child {
  const child = spawn(command, args, {
    ...account,
    cwd,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const file = createWriteStream(log, { flags: "a" });
  child.on("error", (error) => file.write(String(error)));
  child.stdout?.pipe(file, { end: false });
  child.stderr?.pipe(file, { end: false });
  const isRunning = (): boolean =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    until: async (works) => {
      for (;;) {
        const isWorking = await works().then(
          () => true,
          () => false,
        );
        if (isWorking) return;
        if (!isRunning()) throw new Error(`${command} has ended; its output is in ${log}`);
        await sleep(100);
      }
    },
    stop: async () => {
      if (!isRunning()) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
