import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "@jest/globals";
import { makeWorkerUtils } from "graphile-worker";
import knex from "knex";
import { Client } from "pg";
import { type LockedDataDir, lockDataDir } from "../../sandbox/data-dir-lock.ts";
import {
  type PostgresOptions,
  type RunningPostgres,
  findPostgres,
  startPostgres,
} from "../../sandbox/postgres/start-postgres.ts";
import { openJobPool } from "../../src/store/db/jobs.ts";
import { isMissing, postmasterPid, query, socketDirOf } from "./service-process.ts";

const isRoot = userInfo().uid === 0;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function newFolder(parent = tmpdir()): Promise<string> {
  const dir = await mkdtemp(join(parent, "trunkline-postgres-test-"));
  cleanups.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function start(
  dir: string,
  options: Partial<PostgresOptions> = {},
): Promise<RunningPostgres & { dataDir: LockedDataDir }> {
  const dataDir = await lockDataDir(dir, process.pid);
  cleanups.push(dataDir.release);
  const postgres = await startPostgres({ dataDir, ...options });
  cleanups.push(postgres.stop);
  return { ...postgres, dataDir };
}

const sum = "select 1 + 1 as sum";

describe("the embedded PostgreSQL", () => {
  test("keeps its data after a restart", async () => {
    const dir = await newFolder();
    const first = await start(dir);
    await query(first.connectionString, "create table kept as select 'Ærøskøbing' as town");
    await first.stop();

    const dataDir = { path: dir, release: async () => {} };
    const second = await startPostgres({ dataDir });
    cleanups.push(second.stop);

    expect(await query(second.connectionString, "select upper(town) as town from kept")).toEqual([
      { town: "ÆRØSKØBING" },
    ]);
  });

  test("makes commits durable, except in a temporary cluster", async () => {
    const settings =
      "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit') order by name";
    const durable = await start(await newFolder());
    const fleeting = await start(await newFolder(), { throwAway: true });

    expect(await query(durable.connectionString, settings)).toEqual([
      { name: "fsync", setting: "on" },
      { name: "synchronous_commit", setting: "on" },
    ]);
    expect(await query(fleeting.connectionString, settings)).toEqual([
      { name: "fsync", setting: "off" },
      { name: "synchronous_commit", setting: "off" },
    ]);
    await fleeting.stop();
    expect(await isMissing(fleeting.dataDir.path)).toBe(true);
  });

  test("is reachable by knex and graphile-worker with its connection string alone", async () => {
    const { connectionString } = await start(await newFolder());
    const db = knex({ client: "pg", connection: connectionString });
    cleanups.push(() => db.destroy());
    // A pool that graphile-worker opens has no error listeners while it closes.
    const pgPool = openJobPool({ connectionString, max: 1, Client, onError: () => undefined });
    cleanups.push(() => pgPool.end());
    const worker = await makeWorkerUtils({ pgPool });
    cleanups.push(async () => worker.release());

    await worker.migrate();
    await worker.addJob("greet", { name: "ada" });

    expect(await db("graphile_worker.jobs").select("task_identifier")).toEqual([
      { task_identifier: "greet" },
    ]);
  });

  test("runs next to another one", async () => {
    const [one, other] = [await start(await newFolder()), await start(await newFolder())];
    await query(one.connectionString, "create table mine (id int)");

    expect(await query(one.connectionString, "select to_regclass('mine') as mine")).toEqual([
      { mine: "mine" },
    ]);
    expect(await query(other.connectionString, "select to_regclass('mine') as mine")).toEqual([
      { mine: null },
    ]);
  });

  test("listens where no other user has access, however long its data directory's path is", async () => {
    const deep = join(await newFolder(), ...Array.from({ length: 12 }, () => "a-folder-with-a-long-name"));
    const { connectionString } = await start(deep);

    expect(await query(connectionString, sum)).toEqual([{ sum: 2 }]);
    expect((await stat(socketDirOf(connectionString))).mode & 0o777).toBe(0o700);
    expect((await stat(join(deep, "postgres"))).mode & 0o777).toBe(0o700);
  });

  test("requires its password on a TCP port", async () => {
    const { connectionString } = await start(await newFolder(), { listen: "tcp" });
    const guessed = new URL(connectionString);
    guessed.password = "guessed";

    expect(await query(connectionString, sum)).toEqual([{ sum: 2 }]);
    await expect(query(guessed.href, sum)).rejects.toThrow("password authentication failed");
  });

  test.each(["socket", "tcp"] as const)("is found by another process while it runs (%s)", async (listen) => {
    const dir = await newFolder();
    expect(await findPostgres(dir)).toBeUndefined();
    const { connectionString, stop } = await start(dir, { listen });

    expect(await findPostgres(dir)).toBe(connectionString);
    await stop();
    expect(await findPostgres(dir)).toBeUndefined();
  });

  test("leaves no process and no socket when it is stopped", async () => {
    const dir = await newFolder();
    const { connectionString, stop } = await start(dir);
    expect(await postmasterPid(dir)).toBeGreaterThan(0);
    await stop();

    expect(await isMissing(socketDirOf(connectionString))).toBe(true);
    expect(await isMissing(join(dir, "postgres/postmaster.pid"))).toBe(true);
  });

  test("starts again if its first start was interrupted", async () => {
    const dir = await newFolder();
    await mkdir(join(dir, "postgres.new-abcdef"));
    await writeFile(join(dir, "postgres.new-abcdef/PG_VERSION"), "18\n");
    const { connectionString } = await start(dir);

    expect(await query(connectionString, sum)).toEqual([{ sum: 2 }]);
    expect(await isMissing(join(dir, "postgres.new-abcdef"))).toBe(true);
  });

  test("reports PostgreSQL's message if it does not start", async () => {
    const dir = await newFolder();
    const { stop, dataDir } = await start(dir);
    await stop();
    await writeFile(join(dir, "postgres/PG_VERSION"), "12\n");

    await expect(startPostgres({ dataDir })).rejects.toThrow(
      /did not start:\n(.|\n)*initialized by PostgreSQL version 12/,
    );
  });
});

(isRoot ? describe : () => undefined)("the embedded PostgreSQL under root", () => {
  test("keeps its data in a folder of root, but does not run as root", async () => {
    const closed = await newFolder(homedir());
    expect((await stat(closed)).mode & 0o777).toBe(0o700);
    const dir = join(closed, "app", ".trunkline");
    const first = await start(dir);
    await query(first.connectionString, "create table kept as select 7 as number");
    const owner = await stat(`/proc/${await postmasterPid(dir)}`);
    await first.stop();
    const second = await startPostgres({ dataDir: first.dataDir });
    cleanups.push(second.stop);

    expect(owner.uid).not.toBe(0);
    expect(await readFile(join(dir, "postgres/PG_VERSION"), "utf8")).toBe("18\n");
    expect(await query(second.connectionString, "select number from kept")).toEqual([{ number: 7 }]);
  });

  test.each([
    { title: "as its owner if an ordinary user created the cluster", owner: 12_345, runsAs: 12_345 },
    { title: "as nobody if root restored the cluster", owner: 0, runsAs: 65_534 },
  ])("runs $title", async ({ owner, runsAs }) => {
    const dir = await newFolder();
    const { stop, dataDir } = await start(dir);
    await stop();
    await promisify(execFile)("chown", ["-R", `${owner}:${owner}`, join(dir, "postgres")]);
    await chmod(join(dir, "postgres"), 0o755);
    const again = await startPostgres({ dataDir });
    cleanups.push(again.stop);

    expect(await query(again.connectionString, sum)).toEqual([{ sum: 2 }]);
    expect((await stat(`/proc/${await postmasterPid(dir)}`)).uid).toBe(runsAs);
    expect((await stat(join(dir, "postgres"))).mode & 0o777).toBe(0o700);
  });
});
