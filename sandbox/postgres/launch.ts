import { join } from "node:path";
import { type ClusterPlace, pathFromInside } from "./cluster.ts";
import { type Listener, listenerSettings, removeStaleSocketDir } from "./listeners.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { type TiedProcess, spawnTied } from "./tied-process.ts";

const common = {
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "",
  // Clients get the errors of their statements; the log is for errors of the server.
  log_min_messages: "log",
  log_checkpoints: "off",
  shared_buffers: "32MB",
  // Saves three processes, and needs no system calls that containers may forbid.
  io_method: "sync",
};

/** As in production: a commit survives a power failure. */
const durable = {
  ...common,
  max_connections: "100",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
};

/** For tests: nothing is durable, and several test workers each have their pools. */
const throwAway = {
  ...common,
  max_connections: "200",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  autovacuum: "off",
};

/** Settings as arguments, so that clusters of earlier versions use them too. */
function settingArguments(isThrowAway: boolean, more: Readonly<Record<string, string>>): string[] {
  const settings = { ...(isThrowAway ? throwAway : durable), ...more };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

export interface LaunchOptions {
  readonly isThrowAway: boolean;
  readonly onLine: (line: string) => void;
}

/** Returns the running server, or the output of a failed start. */
export async function launch(
  place: ClusterPlace,
  listener: Listener,
  options: LaunchOptions,
): Promise<TiedProcess | string> {
  const { clusterDir, account, binaries, dataDir } = place;
  const settings = settingArguments(options.isThrowAway, listenerSettings(listener));
  const env = await clearStaleFile(clusterDir);
  return new Promise((resolve) => {
    const server = spawnTied({
      command: join(binaries, "bin", "postgres"),
      args: ["-D", pathFromInside(clusterDir, account), ...settings],
      account,
      cwd: clusterDir,
      env,
      socketDir: listener.kind === "socket" ? listener.socketDir : undefined,
      scratchDir: options.isThrowAway ? dataDir : undefined,
      onLine: (line) => {
        if (line.includes("ready to accept connections")) resolve(server);
        options.onLine(line);
      },
    });
    void server.ended.then(resolve);
  });
}

/** Whether backends of a killed postmaster still run. They end soon. */
export function hasOldBackends(output: string): boolean {
  return output.includes("pre-existing shared memory block");
}

/**
 * The process id in a stale postmaster.pid may belong to another process now, usually so in a
 * restarted container, and PostgreSQL would refuse to start. No server uses this cluster here, so
 * the process is declared as the grandparent, as pg_ctl does: ancestors are ignored. Deleting the
 * file would also disable PostgreSQL's check of the shared memory.
 */
async function clearStaleFile(clusterDir: string): Promise<Record<string, string>> {
  const stale = await readPostmasterFile(clusterDir);
  if (stale === undefined) return {};
  await removeStaleSocketDir(stale.socketDir);
  return { PG_GRANDPARENT_PID: String(stale.pid) };
}
