import { join } from "node:path";
import { type ClusterPlace, pathFromInside } from "./cluster.ts";
import { type Listener, listenerSettings, removeStaleSocketDir } from "./listeners.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { settingArguments } from "./settings.ts";
import { type TiedProcess, spawnTied } from "./tied-process.ts";

export interface LaunchOptions {
  readonly isThrowAway: boolean;
  readonly onLine: (line: string) => void;
}

/** The running server, or what it said before it gave up. */
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

/** Its postmaster was killed alone: the rest of that server notices, and ends in a moment. */
export function hasOldBackends(output: string): boolean {
  return output.includes("pre-existing shared memory block");
}

/**
 * The process id in a postmaster.pid left behind may be somebody else's by now (in a restarted container it usually is),
 * and PostgreSQL would take that for a server. We know that none serves this cluster, so we name the process as the
 * grandparent, as pg_ctl does: an ancestor is not mistaken for one. PostgreSQL's check on shared memory remains, which it
 * would not if we removed the file.
 */
async function clearStaleFile(clusterDir: string): Promise<Record<string, string>> {
  const stale = await readPostmasterFile(clusterDir);
  if (stale === undefined) return {};
  await removeStaleSocketDir(stale.socketDir);
  return { PG_GRANDPARENT_PID: String(stale.pid) };
}
