import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "@jest/globals";
import { unlockDeadWorkers } from "../../src/store/ops/instances.ts";
import { connect, isDatabaseUnavailable, rows, type Db, type Trx } from "../../src/store/db/connect.ts";
import type { Forge } from "../../src/forge/forge.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { LOCK_IDS } from "../../src/store/db/lock-ids.ts";
import { DEFAULT_RETENTION } from "../../src/store/ops/retention.ts";
import { unlockDeadJobs } from "../../src/webhooks/process-lane.ts";
import { startWorker } from "../../src/jobs/start-worker.ts";
import type { CallMatch } from "../../sandbox/forge/control/match.ts";
import { eventually, type ApiResponse } from "../support/api.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { startDatabaseProxy, type DatabaseProxy } from "../support/database/database-proxy.ts";
import { whileLocked } from "../support/stories/locks.ts";
import { expectConsistent } from "../support/invariants.ts";
import { freeze, makeRelease } from "../support/stories/releases.ts";
import { useWorld } from "../support/use-world.ts";
import { beginTransaction, transaction } from "../../src/store/db/transaction.ts";
import { JOBS } from "../../src/store/jobs.ts";

const world = useWorld();

const REFS: CallMatch = { method: "POST", path: "/repositories/*/git/refs" };
const db = () => world.service.deps.db;

/** Makes a call and renames a table between the first call to the forge and the response. */
async function withoutTable<Response extends ApiResponse>(
  table: string,
  act: () => Promise<Response>,
): Promise<Response> {
  const { faults } = world.forge.control;
  faults.add({ match: REFS, fault: { kind: "hold", effect: "after" }, times: 1 });
  const answering = act();
  await eventually(
    () => Promise.resolve(faults.list()),
    (listed) => listed.some(({ hits }) => hits === 1),
  );
  await db().raw(`alter table ${table} rename to elsewhere`);
  faults.clear();
  const response = await answering;
  await db().raw(`alter table elsewhere rename to ${table}`);
  return response;
}

// Fault: E6
// Fault: E16 The connection is lost during a write => 503; its key and move are released
describe("when the database is back after a failure, the claims of its calls are released", () => {
  it("a move is finished by its retry in the same process", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const key = `away-move-${number}-${Date.now()}`;
    const move = () => board.api.move(number, board.stages["In progress"], 0, { key });
    expect((await withoutTable("operations", move)).status).toBeGreaterThanOrEqual(500);
    expect((await eventually(move, ({ status }) => status === 200)).body.task.number).toBe(number);
    await expectConsistent({ forge: world.forge, db: db() }, board);
  });

  it("a freeze is finished by its retry", async () => {
    const board = await world.board();
    const id = await makeRelease(board.api, "1.4");
    const key = `away-freeze-${Date.now()}`;
    const freezing = () => freeze(board.api, id, { key });
    expect((await withoutTable("operations", freezing)).status).toBeGreaterThanOrEqual(500);
    expect((await eventually(freezing, ({ status }) => status === 200)).body.frozenAt).not.toBeNull();
  });
});

// Fault: E17 PostgreSQL is lost during startup => the process does not start
it("a worker that cannot be started leaves no heartbeat and no connection", async () => {
  const database = await createTestDatabase();
  const proxy = await startDatabaseProxy(database.connectionString);
  const near = connect({ connectionString: database.connectionString, onError: () => undefined });
  const deps = { ...world.service.deps, db: near, instanceId: randomUUID() };
  const options = { followsTimetable: false, retention: DEFAULT_RETENTION, pollMs: 200 };
  const lost = proxy.loseResponseWith("biggest_breaking_id");
  await expect(startWorker(deps, proxy.url, options)).rejects.toThrow(/Connection terminated|ECONNRESET/);
  await lost;
  expect(await near("instances").where({ id: deps.instanceId })).toEqual([]);
  await eventually(
    () =>
      near("pg_stat_activity").where({
        application_name: "trunkline jobs",
        datname: near.raw("current_database()"),
      }),
    ({ length }) => length === 0,
  );
  await near.destroy();
  await proxy.stop();
  await database.drop();
});

interface ProxiedWorkerOptions {
  /** Can break a connection of the worker's start. */
  readonly beforeStart?: (proxy: DatabaseProxy) => void;
  readonly forge?: Forge;
}

/** Runs `work` with a worker on a new database, to which it connects through a proxy. */
async function withProxiedWorker(
  work: (near: Db, proxy: DatabaseProxy) => Promise<void>,
  { beforeStart, forge = world.service.deps.forge }: ProxiedWorkerOptions = {},
): Promise<void> {
  const database = await createTestDatabase();
  const proxy = await startDatabaseProxy(database.connectionString);
  const near = connect({ connectionString: database.connectionString, onError: () => undefined });
  const deps = { ...world.service.deps, db: near, forge, instanceId: randomUUID() };
  const options = { followsTimetable: false, retention: DEFAULT_RETENTION, pollMs: 200 };
  beforeStart?.(proxy);
  const worker = await startWorker(deps, proxy.url, options);
  try {
    await work(near, proxy);
  } finally {
    await worker.stop();
    await proxy.stop();
    await near.destroy();
    await database.drop();
  }
}

// Fault: E18
it("a job that runs for 20 seconds keeps its lock, also if it is added again meanwhile", async () => {
  let respond = (): void => undefined;
  const response = new Promise<[]>((resolve) => {
    respond = () => resolve([]);
  });
  const forge = { ...world.service.deps.forge, installations: () => response };
  await withProxiedWorker(
    async (near) => {
      const add = () => addJob(near, "sync-installations", {}, { key: "sync", queue: "sync" });
      const running = () => near("graphile_worker.jobs").whereNotNull("locked_by");
      await add();
      const [job] = await eventually(running, ({ length }) => length > 0);
      // This sets the attempts of the running job to their maximum.
      await add();
      const heartbeats = () =>
        near("instances").whereRaw("seen_at > cast(? as timestamptz) + interval '20 seconds'", [
          job.locked_at,
        ]);
      await eventually(heartbeats, ({ length }) => length > 0);
      const [same, ...others] = await running();
      respond();
      expect(same).toMatchObject({
        id: job.id,
        locked_at: job.locked_at,
        attempts: job.max_attempts,
      });
      expect(others).toEqual([]);
    },
    { forge },
  );
});

// Fault: E18 A lost connection leaves a job or queue locked => released after 15 seconds
it.each([null, "a-queue"])(
  "a job whose claim got no response is released and done by the same process, queue: %s",
  async (queue) =>
    withProxiedWorker(async (near, proxy) => {
      const jobs = () => near("graphile_worker._private_jobs").select("id", "locked_by", "attempts");
      const lost = proxy.loseResponseWith("lost response");
      await addJob(
        near,
        JOBS.wakeWaitingLanes.name,
        { note: "lost response" },
        queue === null ? {} : { queue },
      );
      await lost;
      expect(await jobs()).toEqual([{ id: expect.anything(), locked_by: expect.any(String), attempts: 1 }]);
      // As after a minute, because the claim may still have been on its way.
      await near("graphile_worker._private_jobs").update({
        locked_at: near.raw("now() - interval '1 minute'"),
      });
      await eventually(jobs, ({ length }) => length === 0);
    }),
);

// Fault: E18
it("a locked queue without a running job is released", async () => {
  const queue = `left-${randomUUID()}`;
  const delayMs = 60_000;
  await addJob(db(), JOBS.wakeWaitingLanes.name, {}, { queue, delayMs });
  const queues = () => db()("graphile_worker._private_job_queues").where({ queue_name: queue });
  const lockedAt = db().raw("now() - interval '1 minute'");
  await queues().update({ locked_by: "somebody", locked_at: lockedAt });
  await unlockDeadWorkers(db());
  expect(await queues().select("locked_by", "locked_at")).toEqual([{ locked_by: null, locked_at: null }]);
});

// Fault: E18
it("a lane of a dead process is released while another process numbers events", async () => {
  const queue = `dead-${randomUUID()}`;
  await addJob(db(), JOBS.processLane.name, { lane: queue }, { queue, delayMs: 60_000 });
  const jobs = () => db()("graphile_worker._private_jobs").whereRaw("payload->>'lane' = ?", [queue]);
  const lock = { locked_by: "somebody", locked_at: db().raw("now() - interval '1 minute'") };
  await whileLocked(
    db(),
    (trx) => trx.raw("select pg_advisory_xact_lock(?)", [LOCK_IDS.eventNumbers]),
    async () => {
      await jobs().update(lock);
      await unlockDeadJobs(world.service.deps);
      expect(await jobs().select("locked_by")).toEqual([{ locked_by: null }]);
    },
  );
  await jobs().delete();
});

it.each([
  ["complete_job/", null],
  ["complete_job_q/", "a-queue"],
])(
  "a job whose end could not be stored (%s) is released and repeated by the same process",
  async (statement, queue) =>
    withProxiedWorker(async (near, proxy) => {
      const jobs = () => near("graphile_worker._private_jobs").select("attempts");
      const recording = proxy.holdStatementWith(statement);
      await addJob(near, JOBS.wakeWaitingLanes.name, {}, queue === null ? {} : { queue });
      await recording.arrived;
      proxy.cut();
      recording.resume();
      await sleep(500);
      expect(await jobs()).toEqual([{ attempts: 1 }]);
      proxy.restore();
      // As after a minute, because the job may still run.
      const locked_at = near.raw("now() - interval '1 minute'");
      await near("graphile_worker._private_jobs").update({ locked_at });
      await eventually(jobs, ({ length }) => length === 0);
    }),
);

/** The statements that wait for a lock on the table. Copies of a database have the same ids of tables. */
const waitingFor = (near: Db, table: string) =>
  near("pg_locks")
    .where({ granted: false })
    .whereRaw("relation = cast(? as regclass)", [table])
    .whereRaw("database = (select oid from pg_database where datname = current_database())");

it("a worker that could not store the ends of several jobs is replaced", async () =>
  withProxiedWorker(async (near, proxy) => {
    const tables = ["deliveries", "repositories", "cards"];
    const locks = await Promise.all(tables.map(() => beginTransaction(near)));
    for (const [at, table] of tables.entries()) await locks[at]?.raw(`lock table ${table}`);
    await addJob(near, JOBS.wakeWaitingLanes.name, {});
    await addJob(near, JOBS.replayDeferred.name, { repositoryId: randomUUID(), number: 1 });
    await addJob(near, JOBS.catchUpCard.name, { cardId: randomUUID() });
    for (const table of tables) {
      await eventually(
        () => waitingFor(near, table),
        ({ length }) => length > 0,
      );
    }
    proxy.cut();
    // Two jobs succeed, one after the other, and the last one fails.
    for (const lock of locks.slice(0, 2)) {
      await lock.commit();
      await sleep(300);
    }
    await waitingFor(near, "cards").select(near.raw("pg_cancel_backend(pid)"));
    await locks[2]?.commit();
    await sleep(300);
    proxy.restore();
    await addJob(near, JOBS.wakeWaitingLanes.name, {}, { key: "later" });
    const later = () => near("graphile_worker.jobs").where({ key: "later" });
    expect(await eventually(later, ({ length }) => length === 0)).toEqual([]);
  }));

// Fault: E18
it("a worker whose first query for jobs failed is replaced", async () => {
  let lost: Promise<void> | undefined;
  await withProxiedWorker(
    async (near) => {
      await lost;
      await addJob(near, JOBS.wakeWaitingLanes.name, {});
      const jobs = () => near("graphile_worker.jobs");
      expect(await eventually(jobs, ({ length }) => length === 0)).toEqual([]);
    },
    {
      beforeStart: (proxy) => {
        // graphile-worker first reads the ids of its tasks.
        lost = proxy.loseResponseWith(JOBS.wakeWaitingLanes.name);
      },
    },
  );
});

it("a transaction with a broken connection is 503, unless its own work was refused", async () => {
  const proxy = await startDatabaseProxy(world.databaseUrl);
  const far = connect({ connectionString: proxy.url, onError: () => undefined });
  let begun = 0;
  let isCut = false;
  const untilCut = () => eventually(() => Promise.resolve(isCut), Boolean);
  const ends = [
    (trx: Trx) => rows(trx, "select pg_sleep(60)"),
    untilCut,
    () => untilCut().then(() => Promise.reject(new Error("refused"))),
  ];
  const broken = ends.map((end) =>
    transaction(far, async (trx) => {
      await rows(trx, "select 1");
      begun += 1;
      await end(trx);
    }).then(
      () => "done",
      (error: unknown) => (isDatabaseUnavailable(error) ? "away" : String(error)),
    ),
  );
  await eventually(
    () => Promise.resolve(begun),
    (count) => count === ends.length,
  );
  proxy.cut();
  await expect(broken[0]).resolves.toBe("away");
  isCut = true;
  expect(await Promise.all(broken)).toEqual(["away", "away", "Error: refused"]);
  await far.destroy();
  await proxy.stop();
});
