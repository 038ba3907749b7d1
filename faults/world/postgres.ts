import { execFile } from "node:child_process";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { chooseAccount } from "../../sandbox/postgres/account.ts";
import { findBinaries } from "../../sandbox/postgres/binaries.ts";
import { prepareCluster, readPassword, type ClusterPlace } from "../../sandbox/postgres/cluster.ts";
import { launch } from "../../sandbox/postgres/launch.ts";
import { connectionStringFor, type Listener } from "../../sandbox/postgres/listeners.ts";
import type { TiedProcess } from "../../sandbox/postgres/tied-process.ts";
import { AUDIT } from "./audit.ts";
import { RECORDED_CHANGES } from "./recorded-changes.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { connect } from "../../src/store/db/connect.ts";
import { migrate } from "../../src/store/db/migrate.ts";

/** A durable PostgreSQL that can crash and restart at the same address. */
export interface CrashingPostgres {
  readonly password: string;
  /** Creates a migrated database and returns its connection string. */
  createDatabase(name: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  /** Like `pg_ctl restart -m immediate`: closes all connections and recovers from the WAL. */
  crash(): Promise<void>;
  /** Stores a copy of the data, as on a standby that receives nothing more. Crashes the server. */
  copyToStandby(): Promise<void>;
  /** Replaces the data by that copy: later commits are lost. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const TEMPLATE = "faults_template";

export async function startCrashingPostgres(): Promise<CrashingPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), "trunkline-seeds-pg-"));
  const [clusterDir, standbyDir] = [join(dataDir, "postgres"), join(dataDir, "standby")];
  const account = await chooseAccount(clusterDir);
  const place: ClusterPlace = { dataDir, clusterDir, account, binaries: await findBinaries(account) };
  await prepareCluster(place, false);
  const [port = 0] = await freePorts(1);
  const listener: Listener = { kind: "tcp", port };
  const password = await readPassword(dataDir);
  let server = await start(place, listener);
  const urlOf = (database: string): string => {
    const url = new URL(connectionStringFor(listener, password));
    url.pathname = `/${database}`;
    return url.href;
  };
  const run = (statement: string): Promise<void> => runOn(urlOf("postgres"), statement);
  await run(`create database ${TEMPLATE}`);
  await migrate(urlOf(TEMPLATE));
  const db = connect({ connectionString: urlOf(TEMPLATE), onError: () => undefined });
  await db.raw(AUDIT);
  await db.raw(RECORDED_CHANGES);
  await db.destroy();
  return {
    password,
    async createDatabase(name) {
      await run(`create database ${name} template ${TEMPLATE}`);
      return urlOf(name);
    },
    dropDatabase: (name) => run(`drop database if exists ${name} with (force)`),
    async crash() {
      server.signal("SIGQUIT");
      await server.ended;
      server = await start(place, listener);
    },
    async copyToStandby() {
      server.signal("SIGQUIT");
      await server.ended;
      await promisify(execFile)("cp", ["-a", clusterDir, standbyDir]);
      server = await start(place, listener);
    },
    async failOver() {
      server.signal("SIGQUIT");
      await server.ended;
      await rm(clusterDir, { recursive: true });
      await rename(standbyDir, clusterDir);
      server = await start(place, listener);
    },
    async stop() {
      server.signal("SIGQUIT");
      await server.ended;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function start(place: ClusterPlace, listener: Listener): Promise<TiedProcess> {
  let output = "";
  for (let attempt = 0; attempt < 40; attempt++) {
    const server = await launch(place, listener, { isThrowAway: false, onLine: () => undefined });
    if (typeof server !== "string") return server;
    output = server;
    await sleep(250);
  }
  throw new Error(`PostgreSQL did not start:\n${output}`);
}

async function runOn(connectionString: string, statement: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
