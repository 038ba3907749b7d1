/**
 * Runs the commands of the guide's section on backups. The embedded PostgreSQL has no `pg_dump`: the
 * commands with it run only if TEST_POSTGRES_BIN is the folder of another PostgreSQL's programs.
 */
import { afterEach, describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { chown, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { scheduleRepairs } from "../../src/jobs/tasks.ts";
import { startForge, type RunningForge } from "../../sandbox/forge/start-forge.ts";
import { chooseAccount, type Account } from "../../sandbox/postgres/account.ts";
import { findBinaries } from "../../sandbox/postgres/binaries.ts";
import { connect, type Db } from "../../src/store/db/connect.ts";
import { jobProgressOf } from "../../src/store/ops/job-progress.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import { eventually, type Api } from "../support/api.ts";
import { freePorts } from "../support/free-ports.ts";
import { depsForChildProcess } from "../support/processes/deps-for-child-process.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import type { EventPage } from "../support/stories/event-stream.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import {
  environmentOf,
  shipService,
  type Shipped,
  type ShippedProcess,
} from "../support/processes/shipped-service.ts";
import { makeBoard, type TestBoard } from "../support/world.ts";

const GUIDE = join(import.meta.dirname, "../../docs/operating.md");
const PG_BIN = process.env["TEST_POSTGRES_BIN"];
/** A log line of the level `error`. */
const ERROR = '"level":50';
const PASSWORD = "of-the-administrator";

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** The code blocks of one kind between a heading and the next. */
async function blocksOf(heading: string, kind: string): Promise<string[]> {
  const [, text = ""] = (await readFile(GUIDE, "utf8")).split(`\n${heading}\n`);
  const [section = ""] = text.split(/\n##+ /);
  return [...section.matchAll(new RegExp(`^ *\`\`\`${kind}\\n(.*?)^ *\`\`\`$`, "gms"))].map(
    ([, block = ""]) => block,
  );
}

/** A PostgreSQL server that is started and stopped by its own programs. */
interface Cluster {
  /** Runs a code block as the server's account, with its programs on the PATH. */
  run(block: string, env?: Readonly<Record<string, string>>): Promise<void>;
  /** Runs statements as the administrator. */
  sql(statements: string, database?: string): Promise<void>;
  /** The connection URL of a role and a database that step 1 of the guide creates. */
  urlOf(database: string): string;
}

async function createCluster(bin: (account: Account) => Promise<string>): Promise<Cluster> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-backup-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  const account = await chooseAccount(join(dir, "data"));
  if (account) await chown(dir, account.uid, account.gid);
  const [port = 0] = await freePorts(1);
  const env = {
    PATH: `${await bin(account)}:${process.env["PATH"]}`,
    LC_ALL: "C",
    PGDATA: join(dir, "data"),
    PGHOST: "127.0.0.1",
    PGPORT: String(port),
    PGUSER: "postgres",
    PGPASSWORD: PASSWORD,
  };
  const run = async (block: string, more: Readonly<Record<string, string>> = {}): Promise<void> => {
    const options = { cwd: dir, env: { ...env, ...more }, timeout: 60_000, ...account };
    await promisify(execFile)("bash", ["-euo", "pipefail", "-c", block], options);
  };
  const settings = [`port = ${port}`, "listen_addresses = '127.0.0.1'", "unix_socket_directories = ''"];
  await run(
    `initdb --username=postgres --auth=scram-sha-256 --pwfile=<(echo "$PGPASSWORD") --encoding=UTF8 --locale=C --no-sync
     printf '%s\\n' "$SETTINGS" >> "$PGDATA/postgresql.conf"
     pg_ctl start --log postgres.log`,
    { SETTINGS: settings.join("\n") },
  );
  cleanUps.push(() =>
    run('for each in restored "$PGDATA"; do pg_ctl stop --mode immediate --pgdata $each || true; done'),
  );
  return {
    run,
    sql: async (statements, database = "postgres") => {
      const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
      const client = new Client({ connectionString: url });
      await client.connect();
      try {
        for (const statement of statements.split(";")) await client.query(statement);
      } finally {
        await client.end();
      }
    },
    urlOf: (database) => `postgres://trunkline:choose-one@127.0.0.1:${port}/${database}`,
  };
}

interface World {
  readonly forge: RunningForge;
  readonly shipped: Shipped;
  /** Starts a process on a database, always at the same URL. */
  start(databaseUrl: string): Promise<ShippedProcess>;
  readonly environment: (databaseUrl: string) => Readonly<Record<string, string>>;
}

async function createWorld(): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-backup-forge-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  const [shipped, forge] = await Promise.all([
    shipService(),
    startForge({ dataDir: dir, port: 0, webhookUrl: null, seed: false }),
  ]);
  cleanUps.push(
    () => shipped.remove(),
    () => forge.stop(),
  );
  const [port = 0] = await freePorts(1);
  const baseUrl = `http://127.0.0.1:${port}`;
  forge.setWebhookUrl(`${baseUrl}${WEBHOOK_PATH}`);
  const { id: appId, privateKey, webhookSecret } = forge.app;
  const github = {
    apiUrl: forge.apiUrl,
    appId,
    privateKey,
    webhookSecrets: [webhookSecret],
    paceWrites: true,
  };
  return {
    forge,
    shipped,
    start: async (databaseUrl) => {
      const service = await shipped.start({ databaseUrl, github, port });
      cleanUps.push(() => service.kill());
      return service;
    },
    environment: (databaseUrl) => ({
      ...environmentOf({ databaseUrl, github, port }),
      PUBLIC_URL: baseUrl,
    }),
  };
}

async function withDatabase<T>(databaseUrl: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = connect({ connectionString: databaseUrl, onError: () => undefined });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** Starts the job that reads the App's delivery log, which runs every five minutes. */
async function readLog(db: Db): Promise<void> {
  await scheduleRepairs(db);
  await eventually(
    () => jobProgressOf(db, "delivery_log"),
    (until) => until !== null,
  );
}

/** The columns of the board, and the stage and title of its cards. */
async function stateOf({ api }: TestBoard) {
  const { body } = await api.get<{ columns: { name: string; tasks: { number: number }[] }[] }>("/v1/board");
  const columns = body.columns.map(({ name, tasks }) => [name, tasks.map(({ number }) => number)]);
  const cards = [await api.readCard(1), await api.readCard(2)];
  return { columns, cards: cards.map(({ id, title, statusId }) => ({ id, title, statusId })) };
}

const clientIdOf = ({ apiKey }: Api): string => apiKey.split("_")[1] ?? "";

async function push(board: TestBoard, branch: string): Promise<void> {
  const clone = await board.clone();
  await clone.checkout(branch);
  await clone.commit("Work", { "work.txt": "work\n" });
  await clone.push();
  await clone.remove();
}

/** Backs up, changes and restores a board. Returns the output of the process after the restore. */
async function backUpAndRestore(
  world: World,
  databaseUrl: string,
  backUp: (service: ShippedProcess) => Promise<ShippedProcess>,
  restore: () => Promise<string>,
): Promise<string> {
  const { forge } = world;
  const first = await world.start(databaseUrl);
  const { baseUrl } = first;
  const { board, other } = await withDatabase(databaseUrl, async (db) => {
    const created = await makeBoard(forge, { deps: depsForChildProcess(db, forge), baseUrl }, {});
    return { board: created, other: await created.as({}) };
  });
  const { api, stages } = board;
  await api.card({ title: "Started" });
  expect((await api.move(1, stages["In progress"])).status).toBe(200);
  await api.card({ title: "A draft" });
  await api.card({ title: "Deleted" });
  expect((await api.delete("/v1/cards/3")).status).toBe(204);
  await forge.waitUntilIdle();
  await withDatabase(databaseUrl, readLog);
  const stateAtBackup = await stateOf(board);
  const headAtBackup = Number((await api.get<EventPage>("/v1/events")).body.head);
  const service = await backUp(first);

  await withDatabase(databaseUrl, (db) => revokeCredential(db, clientIdOf(other)));
  expect((await other.get("/v1/board")).status).toBe(401);
  const branch = await branchOf(board, 1);
  await push(board, branch);
  await api.cardWhen(1, ({ repositories }) => repositories[0]?.prState === "draft");
  expect((await api.card({ title: "Lost" })).number).toBe(4);
  expect((await api.move(4, stages["In progress"])).status).toBe(200);
  await forge.waitUntilIdle();
  const seen = Number((await api.get<EventPage>("/v1/events")).body.head);
  expect(seen).toBeGreaterThan(headAtBackup);
  await service.kill();
  const restoredUrl = await restore();
  const { wrote } = await world.start(restoredUrl);

  expect(await stateOf(board)).toEqual(stateAtBackup);
  expect((await api.get("/v1/cards/4")).status).toBe(404);
  expect((await other.get("/v1/board")).status).toBe(200);
  for (const after of [0, headAtBackup, seen]) {
    const { status, body } = await api.get(`/v1/events?after=${after}`);
    expect([status, Number(body["oldest"]) > seen]).toEqual([410, true]);
  }
  // The webhooks since the backup are in the App's delivery log.
  const repaired = await api.cardWhen(1, ({ repositories }) => repositories[0]?.prState === "draft");
  expect(repaired.repositories[0]?.branchName).toBe(branch);
  expect((await kindsOf(board, 1)).filter((kind) => kind === "pull_request_opened")).toHaveLength(1);
  const pulls = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls?state=all`);
  expect(pulls.body).toHaveLength(1);

  const { number } = await api.card({ title: "Lost" });
  expect(number).toBeGreaterThan(4);
  expect((await api.card({ title: "The next one" })).number).toBe(number + 1);
  expect((await api.move(number, stages["In progress"])).status).toBe(200);
  expect(await branchOf(board, number)).toBe(`card/${number}-lost`);
  expect((await api.move(1, stages["Done"])).status).toBe(200);

  const [check = ""] = await blocksOf("### After a restore", "sh");
  const script = `trunkline() { node dist/src/cli/main.js "$@"; }\n${check}`;
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    cwd: world.shipped.dir,
    env: { PATH: process.env["PATH"], ...world.environment(restoredUrl) },
  });
  expect(stdout).toContain("asked=reconcile");
  expect(stdout).not.toContain("PROBLEM");
  return wrote();
}

interface Method {
  readonly heading: string;
  /** The folder of PostgreSQL's programs. */
  readonly bin: (account: Account) => Promise<string>;
  /** What the guide stops before the backup. */
  readonly stops: "nothing" | "the service";
  /** Destroys the old database before the restore. */
  readonly destroy: (cluster: Cluster) => Promise<void>;
  /** The database that the restore creates. */
  readonly restored: string;
}

const PG_DUMP: Method = {
  heading: "With pg_dump",
  bin: () => Promise.resolve(PG_BIN ?? ""),
  stops: "nothing",
  destroy: (cluster) => cluster.sql("drop database trunkline with (force)"),
  restored: "restored",
};
const FILES: Method = {
  heading: "With the files of a stopped server",
  bin: async (account) => join(await findBinaries(account), "bin"),
  stops: "the service",
  destroy: (cluster) => cluster.run('pg_ctl stop --mode immediate && rm -r "$PGDATA"'),
  restored: "trunkline",
};

describe("a restored backup has the board and the webhooks since then, and reuses no number of a card or an event", () => {
  it.each(PG_BIN === undefined ? [FILES] : [FILES, PG_DUMP])(
    "$heading",
    async ({ heading, bin, stops, destroy, restored }) => {
      const cluster = await createCluster(bin);
      const world = await createWorld();
      const [install = ""] = await blocksOf("## Install", "sql");
      await cluster.sql(install);
      const [backUp = "", restore = ""] = await blocksOf(`### ${heading}`, "sh");
      const [skipNumbers = ""] = await blocksOf("### After a restore", "sql");
      const DATABASE_URL = cluster.urlOf("trunkline");
      const RESTORED_URL = cluster.urlOf(restored);
      const wrote = await backUpAndRestore(
        world,
        DATABASE_URL,
        async (service) => {
          if (stops === "the service") await service.kill();
          await cluster.run(backUp, { DATABASE_URL });
          return stops === "the service" ? world.start(DATABASE_URL) : service;
        },
        async () => {
          await destroy(cluster);
          await cluster.run(restore, { RESTORED_URL });
          await cluster.sql(skipNumbers, restored);
          return RESTORED_URL;
        },
      );
      expect(wrote).not.toContain(ERROR);
    },
  );
});
