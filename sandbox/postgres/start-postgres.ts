import { chown, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LockedDataDir } from "../data-dir-lock.ts";
import { chooseAccount } from "./account.ts";
import { findBinaries } from "./binaries.ts";
import { type ClusterPlace, prepareCluster, readPassword } from "./cluster.ts";
import { hasOldBackends, launch } from "./launch.ts";
import { type Listener, connectionStringFor, isListenFailure, listenersToTry } from "./listeners.ts";
import { stopOrphanedServer, readPostmasterFile, servesCluster } from "./postmaster-file.ts";
import type { TiedProcess } from "./tied-process.ts";

export interface PostgresOptions {
  /** Its owner may stop a server that still runs there. The cluster is in the folder `postgres`. */
  readonly dataDir: LockedDataDir;
  readonly log?: PostgresLog;
  /** For tests: nothing is durable, and the data directory is deleted at the end. */
  readonly throwAway?: boolean;
  /** By default a socket if possible, else TCP. */
  readonly listen?: Listener["kind"];
}

export interface PostgresLog {
  debug(message: string): void;
  error(message: string): void;
}

export interface RunningPostgres {
  readonly connectionString: string;
  /** Resolves with the last lines of its log when the server has ended, by `stop` or otherwise. */
  readonly ended: Promise<string>;
  /** Closes the connections of clients. */
  readonly stop: () => Promise<void>;
}

/** Starts PostgreSQL, and creates its cluster the first time. The server ends with this process. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const discard = async (): Promise<void> => {
    if (options.throwAway) await rm(options.dataDir.path, { recursive: true, force: true });
  };
  try {
    const { server, connectionString } = await start(options);
    const stop = (): Promise<void> => stopServer(server).then(discard);
    return { connectionString, ended: server.ended, stop };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** The connection string of a server that another process runs on this data directory. */
export async function findPostgres(dataDir: string): Promise<string | undefined> {
  const clusterDir = join(dataDir, "postgres");
  for (let tenths = 0; tenths < 100; tenths++) {
    const file = await readPostmasterFile(clusterDir);
    if (file === undefined || !(await servesCluster(file.pid, clusterDir))) return undefined;
    if (file.isReady) {
      return file.socketDir === ""
        ? connectionStringFor({ kind: "tcp", port: file.port }, await readPassword(dataDir))
        : connectionStringFor({ kind: "socket", socketDir: file.socketDir }, "");
    }
    await sleep(100);
  }
  return undefined;
}

interface Started {
  readonly server: TiedProcess;
  readonly connectionString: string;
}

async function start(options: PostgresOptions): Promise<Started> {
  const place = await findPlace(options.dataDir.path, options.throwAway ?? false);
  await stopOrphanedServer(place.clusterDir);
  await prepareCluster(place, options.throwAway ?? false);
  let output = "";
  for (let attempt = 0; attempt < 20; attempt++) {
    const started = await launchListening(place, options);
    if (typeof started !== "string") return started;
    output = started;
    if (!hasOldBackends(output)) break;
    await sleep(250);
  }
  throw new Error(`The embedded PostgreSQL in ${place.clusterDir} did not start:\n${output}`);
}

/** Tries the ways to listen. Returns the server, or the output of the last attempt. */
async function launchListening(place: ClusterPlace, options: PostgresOptions): Promise<Started | string> {
  const isThrowAway = options.throwAway ?? false;
  const onLine = (line: string): void => options.log?.[levelOf(line)](`postgres: ${line}`);
  let output = "There is no way to listen.";
  for await (const listener of listenersToTry(place.account, options.listen)) {
    const password = listener.kind === "tcp" ? await readPassword(place.dataDir) : "";
    const server = await launch(place, listener, { isThrowAway, onLine });
    if (typeof server !== "string") {
      return { server, connectionString: connectionStringFor(listener, password) };
    }
    output = server;
    if (!isListenFailure(output)) break;
  }
  return output;
}

/** Connections that are refused during the start or closed by the stop are no errors. */
function levelOf(line: string): keyof PostgresLog {
  return /^(FATAL|PANIC):(?!.*(administrator command|starting up|shutting down))/.test(line)
    ? "error"
    : "debug";
}

async function findPlace(dataDir: string, isThrowAway: boolean): Promise<ClusterPlace> {
  const clusterDir = join(dataDir, "postgres");
  const account = await chooseAccount(clusterDir);
  const binaries = await findBinaries(account);
  // So that the watcher, which runs as the account, can delete it if this process is killed.
  if (isThrowAway && account !== undefined) await chown(dataDir, account.uid, account.gid);
  return { dataDir, clusterDir, account, binaries };
}

async function stopServer(server: TiedProcess): Promise<void> {
  server.signal("SIGINT");
  const timer = setTimeout(() => server.signal("SIGQUIT"), 15_000);
  await server.ended;
  clearTimeout(timer);
}
