import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Client } from "pg";

export const checkout = fileURLToPath(new URL("../..", import.meta.url));

export interface ServiceProcess {
  readonly child: ChildProcess;
  /** The next line of its output: the connection string, `failed: …`, `draining` or `stopped`. */
  readonly prints: () => Promise<string>;
}

export interface ServiceOptions {
  readonly args?: readonly string[];
  readonly uid?: number;
  readonly checkout?: string;
}

/** A process in its own process group. */
export function runService(dataDir: string, options: ServiceOptions = {}): ServiceProcess {
  const root = options.checkout ?? checkout;
  const script = join(root, "test/sandbox/postgres-service.ts");
  const tsx = pathToFileURL(createRequire(join(root, "package.json")).resolve("tsx")).href;
  const child = spawn(process.execPath, ["--import", tsx, script, dataDir, ...(options.args ?? [])], {
    cwd: "/",
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"] },
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, prints: async () => (await lines.next()).value ?? "ended without output" };
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** Some may have ended already: a server's processes end after their postmaster. */
export function killAll(family: readonly Process[]): void {
  for (const { pid } of family) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

export async function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  // The query fails too if the server is killed during it.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

export async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);
}

export interface Process {
  readonly pid: number;
  readonly command: string;
}

/** A server, its processes, and the shell that watches it. */
export async function familyOf(pid: number): Promise<Process[]> {
  return (await processes()).filter(({ ids }) => ids.includes(pid));
}

export async function areGone(family: readonly Process[]): Promise<boolean> {
  const living = await processes();
  return family.every(({ pid }) => !living.some((other) => other.pid === pid));
}

async function processes(): Promise<(Process & { ids: number[] })[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,sess=,stat=,comm="]);
  return stdout
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => !state?.startsWith("Z"))
    .map(([pid, parent, session, , command]) => ({
      pid: Number(pid),
      command: command ?? "",
      ids: [Number(pid), Number(parent), Number(session)],
    }));
}

/** Whether the condition becomes true in this time. */
export async function within(seconds: number, claim: () => Promise<boolean>): Promise<boolean> {
  for (let tenths = 0; tenths < seconds * 10; tenths++) {
    if (await claim()) return true;
    await sleep(100);
  }
  return false;
}

export const isMissing = (path: string): Promise<boolean> =>
  stat(path).then(
    () => false,
    () => true,
  );

/** The folder of a server's socket. */
export function socketDirOf(connectionString: string): string {
  return new URL(connectionString).searchParams.get("host") ?? "";
}
