import { randomUUID } from "node:crypto";
import { expect, it } from "@jest/globals";
import { startWorker, WORKERS } from "../../src/jobs/start-worker.ts";
import { connect, type Db } from "../../src/store/db/connect.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { addLaneJobs } from "../../src/store/forge/lanes.ts";
import { DEFAULT_RETENTION } from "../../src/store/ops/retention.ts";
import { eventually } from "../support/api.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { useWorld } from "../support/use-world.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";
import { JOBS } from "../../src/store/jobs.ts";

/** How many jobs about no board a process runs at a time. */
const LANES_AT_ONCE = WORKERS.lanes.running;
const REPAIRS_AT_ONCE = WORKERS.repairs.running;

const world = useWorld();

it("jobs that end while their worker stops are stored as ended", async () => {
  const database = await createTestDatabase();
  const db = connect({ connectionString: database.connectionString, onError: () => undefined });
  const deps = { ...world.service.deps, db, instanceId: randomUUID() };
  const options = { followsTimetable: false, retention: DEFAULT_RETENTION, pollMs: 200 };
  for (let turn = 0; turn < 5; turn++) {
    const worker = await startWorker(deps, database.connectionString, options);
    const held = await beginTransaction(db);
    await held.raw("lock table deliveries in access exclusive mode");
    for (let nth = 0; nth < REPAIRS_AT_ONCE; nth++) await addJob(db, JOBS.wakeWaitingLanes.name, { nth });
    await waitUntilBlocked(db, REPAIRS_AT_ONCE);
    const ended = worker.stop();
    await held.commit();
    await ended;
    expect(await db("graphile_worker._private_jobs").select()).toEqual([]);
  }
  await db.destroy();
  await database.drop();
});

it("moves wait neither for lanes nor for the timetable, and the timetable does not wait for lanes", async () => {
  const database = await createTestDatabase();
  const db = connect({ connectionString: database.connectionString, onError: () => undefined });
  const deps = { ...world.service.deps, db, instanceId: randomUUID() };
  const options = { followsTimetable: false, retention: DEFAULT_RETENTION, pollMs: 200 };
  const worker = await startWorker(deps, database.connectionString, options);
  const held = await beginTransaction(db);
  await held.raw("lock table deliveries in access exclusive mode");
  const ended = (task: string) =>
    eventually(
      () => db("graphile_worker.jobs").where({ task_identifier: task }),
      ({ length }) => length === 0,
    );
  await addLaneJobs(
    db,
    Array.from({ length: 12 }, (_, at) => `repository:${at}`),
  );
  await waitUntilBlocked(db, LANES_AT_ONCE);
  await addJob(db, "record-expired-claims", {});
  await ended("record-expired-claims");
  for (let nth = 0; nth < 12; nth++) await addJob(db, JOBS.wakeWaitingLanes.name, { nth });
  await waitUntilBlocked(db, LANES_AT_ONCE + REPAIRS_AT_ONCE);
  await addJob(db, JOBS.inspectArmed.name, { cardId: randomUUID() });
  await ended(JOBS.inspectArmed.name);
  expect(await waitUntilBlocked(db, LANES_AT_ONCE + REPAIRS_AT_ONCE)).toHaveLength(
    LANES_AT_ONCE + REPAIRS_AT_ONCE,
  );
  await held.commit();
  await ended(JOBS.wakeWaitingLanes.name);
  await worker.stop();
  await db.destroy();
  await database.drop();
});

/** Waits until this many statements wait for the lock on the deliveries. */
const waitUntilBlocked = (db: Db, count: number) =>
  eventually(
    () => db("pg_locks").where({ granted: false }).whereRaw("relation = 'deliveries'::regclass"),
    ({ length }) => length === count,
  );
