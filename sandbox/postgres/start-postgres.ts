import { chown, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LockedDataDir } from "../data-dir-lock.ts";
import { chooseAccount } from "./account.ts";
import { findBinaries } from "./binaries.ts";
import { type ClusterPlace, prepareCluster, readPassword } from "./cluster.ts";
import { hasOldBackends, launch } from "./launch.ts";
import { type Listener, connectionStringFor, isListenFailure, waysToListen } from "./listeners.ts";
import { endOrphan, readPostmasterFile, servesCluster } from "./postmaster-file.ts";
import type { TiedProcess } from "./tied-process.ts";

export interface PostgresOptions {
  /** Holding the lock is what allows us to end a server found running there. The cluster is its folder `postgres`. */
  readonly dataDir: LockedDataDir;
  readonly log?: PostgresLog;
  /** A test run's cluster: nothing is made durable, and the whole data directory is removed at the end. */
  readonly throwAway?: boolean;
  /** Otherwise a socket where one can be had, else TCP. */
  readonly listen?: Listener["kind"];
}

/** The part of a pino logger that is used. */
export interface PostgresLog {
  debug(message: string): void;
  error(message: string): void;
}

export interface RunningPostgres {
  readonly connectionString: string;
  /** Resolves, with the last lines of its log, when the server has ended: by `stop`, or by itself. */
  readonly ended: Promise<string>;
  /** Clients that are still connected are cut off. */
  readonly stop: () => Promise<void>;
}

/** Starts PostgreSQL on the data directory, making its cluster the first time. It ends when this process ends. */
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

/** The connection string of the server that another process runs on this data directory, if one does. */
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
  await endOrphan(place.clusterDir);
  await prepareCluster(place, options.throwAway ?? false);
  let output = "";
  for (let attempt = 0; attempt < 20; attempt++) {
    const started = await launchSomewhere(place, options);
    if (typeof started !== "string") return started;
    output = started;
    if (!hasOldBackends(output)) break;
    await sleep(250);
  }
  throw new Error(`The embedded PostgreSQL in ${place.clusterDir} did not start:\n${output}`);
}

/** The server at the first place where it can listen, or what the last one said. */
async function launchSomewhere(place: ClusterPlace, options: PostgresOptions): Promise<Started | string> {
  const isThrowAway = options.throwAway ?? false;
  const onLine = (line: string): void => options.log?.[levelOf(line)](`postgres: ${line}`);
  let output = "it found nowhere to listen";
  for await (const listener of waysToListen(place.account, options.listen)) {
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

/** A client that is cut off by a stop, or comes too early, is nothing to act on. */
function levelOf(line: string): keyof PostgresLog {
  return /^(FATAL|PANIC):(?!.*(administrator command|starting up|shutting down))/.test(line)
    ? "error"
    : "debug";
}

async function findPlace(dataDir: string, isThrowAway: boolean): Promise<ClusterPlace> {
  const clusterDir = join(dataDir, "postgres");
  const account = await chooseAccount(clusterDir);
  const binaries = await findBinaries(account);
  // The account's watcher is to remove it, should we be killed.
  if (isThrowAway && account !== undefined) await chown(dataDir, account.uid, account.gid);
  return { dataDir, clusterDir, account, binaries };
}

async function stopServer(server: TiedProcess): Promise<void> {
  server.signal("SIGINT");
  const impatience = setTimeout(() => server.signal("SIGQUIT"), 15_000);
  await server.ended;
  clearTimeout(impatience);
}
