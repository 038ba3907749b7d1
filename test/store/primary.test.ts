import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "@jest/globals";
import { connect, isDatabaseUnavailable, rows } from "../../src/store/db/connect.ts";
import { openJobPool } from "../../src/store/db/jobs.ts";
import { clientClass, hostUrls } from "../../src/store/db/primary.ts";
import { eventually } from "../support/api.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { startDatabaseProxy, type DatabaseProxy } from "../support/database/database-proxy.ts";
import { freePorts } from "../support/free-ports.ts";

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

describe("the hosts of a connection URL", () => {
  it.each([
    ["postgres://u:p@one/db", ["postgres://u:p@one/db"]],
    [
      "postgres://u:p%40@one:1,two/db?a=b,c",
      ["postgres://u:p%40@one:1/db?a=b,c", "postgres://u:p%40@two/db?a=b,c"],
    ],
    [
      "postgresql://one,two:2,three/db",
      ["postgresql://one/db", "postgresql://two:2/db", "postgresql://three/db"],
    ],
    ["postgres://u:a,b@one/db", ["postgres://u:a,b@one/db"]],
    ["postgres://u@one,/db", ["postgres://u@one,/db"]],
    ["socket:/run/postgresql?db=trunkline", ["socket:/run/postgresql?db=trunkline"]],
  ])("%s", (url, urls) => {
    expect(hostUrls(url)).toEqual(urls);
  });
});

/** A URL with a host that nobody listens on and two proxies to one database. */
async function severalHosts(): Promise<{ url: string; first: DatabaseProxy; second: DatabaseProxy }> {
  const { connectionString, drop } = await createTestDatabase();
  cleanUps.push(drop);
  const first = await startDatabaseProxy(connectionString);
  const second = await startDatabaseProxy(connectionString);
  cleanUps.push(
    () => first.stop(),
    () => second.stop(),
  );
  const [closed = 0] = await freePorts(1);
  const { host } = new URL(second.url);
  const url = first.url.replace(/@([^/]+)/, `@127.0.0.1:${closed},$1,${host}`);
  return { url, first, second };
}

it("a pool connects to a host that responds, and to another one when that is gone", async () => {
  const { url, first, second } = await severalHosts();
  const db = connect({ connectionString: url, onError: () => undefined });
  cleanUps.push(() => db.destroy());
  const ask = () => rows<{ one: number }>(db, "select 1 as one");
  const responses = () =>
    ask().then(
      () => true,
      () => false,
    );
  expect(await ask()).toEqual([{ one: 1 }]);
  first.cut();
  expect(await eventually(responses, Boolean)).toBe(true);
  first.restore();
  second.cut();
  expect(await eventually(responses, Boolean)).toBe(true);
});

it("connections through several hosts to one primary do not close each other", async () => {
  const { url } = await severalHosts();
  const db = connect({ connectionString: url, onError: () => undefined });
  cleanUps.push(() => db.destroy());
  const waits = Array.from({ length: 10 }, async (_, at) => {
    await sleep(at * 30);
    return rows(db, "select 1 as one, pg_sleep(0.5)");
  });
  expect(await Promise.all(waits)).toHaveLength(10);
});

it("without a primary, the error says why and counts as an unavailable database", async () => {
  const { url, first, second } = await severalHosts();
  first.cut();
  second.cut();
  const db = connect({ connectionString: url, onError: () => undefined });
  cleanUps.push(() => db.destroy());
  const error: unknown = await rows(db, "select 1").catch((thrown: unknown) => thrown);
  expect(String(error)).toMatch(/No host of DATABASE_URL is a primary that accepts writes: .*ECONNREFUSED/);
  expect(isDatabaseUnavailable(error)).toBe(true);
  second.restore();
  expect(await rows(db, "select 1 as one")).toEqual([{ one: 1 }]);
});

it("the job worker's pool finds another host, too", async () => {
  const { url, first } = await severalHosts();
  const pool = openJobPool({
    connectionString: url,
    Client: clientClass(url),
    max: 2,
    onError: () => undefined,
  });
  cleanUps.push(() => pool.end());
  expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  first.cut();
  expect(
    await eventually(
      () =>
        pool.query("select 1").then(
          () => true,
          () => false,
        ),
      Boolean,
    ),
  ).toBe(true);
});
