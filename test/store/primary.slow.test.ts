import { chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { initialize, makeServer, type Server } from "../../ha/setup/server.ts";
import { chooseAccount } from "../../sandbox/postgres/account.ts";
import { findBinaries } from "../../sandbox/postgres/binaries.ts";
import { clientClassOf, connect, firstValue } from "../../src/store/db/connect.ts";
import { openJobPool } from "../../src/store/db/jobs.ts";
import { eventually } from "../support/api.ts";
import { startDatabaseProxy, type DatabaseProxy } from "../support/database/database-proxy.ts";
import { freePorts } from "../support/free-ports.ts";

/** How long the new primary takes to respond: longer than the old one, and less than a second. */
const SLOW_MS = 400;

let folder: string;
let old: Server;
let promoted: Server;
let proxyToOld: DatabaseProxy;
let proxyToPromoted: DatabaseProxy;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "trunkline-primary-"));
  const account = await chooseAccount(folder);
  if (account) await chown(folder, account.uid, account.gid);
  const programs = join(await findBinaries(account), "bin");
  const [oldPort = 0, promotedPort = 0] = await freePorts(2);
  const server = (name: string, port: number): Server =>
    makeServer({ programs, account, port, data: join(folder, name), log: join(folder, `${name}.log`) });
  old = server("old", oldPort);
  promoted = server("promoted", promotedPort);
  await mkdir(old.place.data, { mode: 0o700 });
  if (account) await chown(old.place.data, account.uid, account.gid);
  await initialize(old);
  await old.shell(
    `cp -R "$PGDATA" "${promoted.place.data}" && touch "${promoted.place.data}/standby.signal"`,
  );
  await old.start();
  proxyToOld = await startDatabaseProxy(old.adminUrl);
  proxyToPromoted = await startDatabaseProxy(promoted.adminUrl);
});

afterAll(async () => {
  await Promise.all([proxyToOld.stop(), proxyToPromoted.stop(), old.stop(), promoted.stop()]);
  await rm(folder, { recursive: true });
});

it("no pool uses an old primary beside the promoted one", async () => {
  const { host } = new URL(proxyToPromoted.url);
  const connectionString = proxyToOld.url.replace(/@([^/]+)/, `@$1,${host}`);
  const onError = (): void => undefined;
  const db = connect({ connectionString, onError });
  const jobs = openJobPool({ connectionString, max: 1, Client: clientClassOf(db), onError });
  const ask = (what: string): Promise<unknown> => firstValue(db, `select ${what}`, {});
  const portOfJobs = async (): Promise<unknown> =>
    (await jobs.query<{ port: number }>("select inet_server_port() as port")).rows[0]?.port;
  /** A lost connection fails a statement. */
  const succeeds = (work: () => Promise<unknown>): Promise<unknown> =>
    eventually(
      () => work().catch(() => null),
      (value) => value !== null,
    );
  try {
    expect([await ask("inet_server_port()"), await portOfJobs()]).toEqual([old.place.port, old.place.port]);
    await promoted.start();
    await promoted.sql("select pg_promote()");

    // A connection is lost. The old primary responds before the new one.
    const inspection = proxyToPromoted.holdStatementWith("pg_walfile_name");
    await old.sql(`select pg_terminate_backend(${String(await ask("pg_backend_pid()"))})`);
    const port = succeeds(() => ask("inet_server_port()"));
    await inspection.arrived;
    await sleep(SLOW_MS);
    inspection.resume();
    expect(await port).toBe(promoted.place.port);

    // The job worker's connection to the old primary was open.
    expect(await succeeds(portOfJobs)).toBe(promoted.place.port);
  } finally {
    await Promise.all([db.destroy(), jobs.end()]);
  }
});
