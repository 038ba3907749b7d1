import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { startWorker } from "../../src/jobs/start-worker.ts";
import { WAKE_WAITING_LANES } from "../../src/jobs/tasks.ts";
import { connect } from "../../src/store/db/connect.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { DEFAULT_RETENTION } from "../../src/store/ops/retention.ts";
import { eventually } from "../support/api.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { startWorld, type TestWorld } from "../support/world.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

it("jobs that end while their worker stops are stored as ended", async () => {
  const database = await createTestDatabase();
  const db = connect({ connectionString: database.connectionString, onError: () => undefined });
  const deps = { ...world.service.deps, db, instanceId: randomUUID() };
  const options = { followsTimetable: false, retention: DEFAULT_RETENTION, pollMs: 200 };
  for (let turn = 0; turn < 5; turn++) {
    const worker = await startWorker(deps, database.connectionString, options);
    const held = await beginTransaction(db);
    await held.raw("lock table deliveries in access exclusive mode");
    for (let nth = 0; nth < 4; nth++) await addJob(db, WAKE_WAITING_LANES, { nth });
    await eventually(
      () => db("pg_locks").where({ granted: false }).whereRaw("relation = 'deliveries'::regclass"),
      ({ length }) => length === 4,
    );
    const ended = worker.stop();
    await held.commit();
    await ended;
    expect(await db("graphile_worker._private_jobs").select()).toEqual([]);
  }
  await db.destroy();
  await database.drop();
});
