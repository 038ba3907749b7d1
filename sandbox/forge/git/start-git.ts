import { type ChildProcess, spawn } from "node:child_process";

export interface GitCommand {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string | Buffer;
  readonly onOutput: (part: Buffer) => void;
  /** Called once, after all output. The code is 127 if git cannot be started, and 1 if it was killed. */
  readonly onEnd: (code: number, stderr: string) => void;
}

/**
 * Starts git for this process, in a process that is small: one of several hundred megabytes copies its page tables to start
 * another one, and stands still for 4 to 10 ms. It ends when the channel to this process closes, also because of SIGKILL.
 */
const STARTER = `
const { spawn } = require("node:child_process");
process.on("disconnect", () => process.exit());
process.on("message", ({ id, args, cwd, env, input }) => {
  const child = spawn("git", args, { cwd, env, stdio: "pipe" });
  const stderr = [];
  let hasEnded = false;
  const end = (code, text) => {
    if (!hasEnded) process.send({ id, code, stderr: text });
    hasEnded = true;
  };
  child.stdout.on("data", (output) => process.send({ id, output }));
  child.stderr.on("data", (part) => stderr.push(part));
  // Git may exit before it has read all input; the exit code reports the failure.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  child.on("error", ({ message }) => end(127, message));
  child.on("close", (code) => end(code ?? 1, Buffer.concat(stderr).toString()));
});`;

type Reported =
  | { readonly id: number; readonly output: Uint8Array }
  | { readonly id: number; readonly code: number; readonly stderr: string };

let starter: ChildProcess | undefined;
const running = new Map<number, GitCommand>();
let lastId = 0;

export function startGit(command: GitCommand): void {
  starter ??= startStarter();
  lastId += 1;
  running.set(lastId, command);
  // Until git has ended, this process stays alive.
  starter.channel?.ref();
  const { args, cwd, env, input } = command;
  starter.send({ id: lastId, args, cwd, env, input });
}

function startStarter(): ChildProcess {
  const child = spawn(process.execPath, ["-e", STARTER], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
    env: {},
    // Ctrl-C must not end it: a shutdown may still need git.
    detached: true,
  });
  child.unref();
  child.channel?.unref();
  child.on("message", (message) => receive(message as Reported));
  const end = (): void => {
    if (starter !== child) return;
    starter = undefined;
    for (const id of running.keys())
      receive({ id, code: 1, stderr: "the process that starts git has ended" });
  };
  child.on("error", end);
  child.on("disconnect", end);
  return child;
}

function receive(reported: Reported): void {
  const command = running.get(reported.id);
  if ("output" in reported) return command?.onOutput(Buffer.from(reported.output));
  running.delete(reported.id);
  if (running.size === 0) starter?.channel?.unref();
  command?.onEnd(reported.code, reported.stderr);
}
