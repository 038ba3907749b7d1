import { readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processIdentity } from "../process-identity.ts";
import { type Account, ownUid, runShell } from "./account.ts";
import { removeStaleSocketDir } from "./listeners.ts";

/** The content of postmaster.pid, which a running server writes. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  /** Empty when the server listens on TCP only. */
  readonly socketDir: string;
  readonly isReady: boolean;
}

/** Its lines: pid, data folder, start time, port, socket folder, address, shared memory, state. */
export async function readPostmasterFile(clusterDir: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(clusterDir, "postmaster.pid"), "utf8").catch(() => undefined);
  const [pid, , , port, socketDir, , , state] = text?.split("\n") ?? [];
  if (!Number(pid)) return undefined;
  return {
    pid: Number(pid),
    port: Number(port),
    socketDir: socketDir?.trim() ?? "",
    isReady: state?.trim() === "ready",
  };
}

/** Whether `pid` is a server of this cluster, and not another process with a reused id. */
export async function servesCluster(pid: number, clusterDir: string): Promise<boolean> {
  const folder = await realpath(clusterDir);
  const owner = await ownerOf(folder);
  // The working directory of PostgreSQL is its data directory. In a container root cannot read that
  // of other users' processes, so it is read as the owner of the cluster, who can read that of the
  // server.
  const proc = await runShell(owner, 'readlink "/proc/$1/cwd" || readlink /proc/self', [String(pid)]);
  if (proc.ok) return proc.output.trim() === folder;
  const listed = await runShell(owner, 'ps -o command= -p "$1"', [String(pid)]);
  return listed.output.includes("postgres") && listed.output.includes(folder);
}

async function ownerOf(folder: string): Promise<Account> {
  const { uid, gid } = await stat(folder);
  return ownUid() === 0 && uid !== 0 ? { uid, gid } : undefined;
}

/**
 * Stops a server whose service and watcher were killed, or waits for one that is shutting down. The
 * caller must own the lock of the data directory: otherwise the server is in use.
 */
export async function stopOrphanedServer(clusterDir: string): Promise<void> {
  for (let tenths = 0; tenths < 200; tenths++) {
    const file = await readPostmasterFile(clusterDir);
    if (file === undefined || (await processIdentity(file.pid)) === undefined) return;
    if (!(await servesCluster(file.pid, clusterDir))) return;
    const owner = await ownerOf(clusterDir);
    if (tenths === 0) await runShell(owner, 'kill -INT "$1"', [String(file.pid)]);
    if (tenths === 100) await runShell(owner, 'kill -QUIT "$1"', [String(file.pid)]);
    await removeStaleSocketDir(file.socketDir);
    await sleep(100);
  }
  throw new Error(
    `The PostgreSQL server of an earlier start in ${clusterDir} does not stop. End the process manually.`,
  );
}
