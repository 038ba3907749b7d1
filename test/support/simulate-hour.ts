import { addJob } from "../../src/store/db/jobs.ts";
import { eventually } from "./api.ts";
import type { TestWorld } from "./world.ts";
import { TIMETABLE } from "../../src/store/jobs.ts";

const AN_HOUR = "interval '1 hour'";

/** The jobs of the timetable, by the minute of the hour. */
const timetable = TIMETABLE.trim()
  .split("\n")
  .map((line) => {
    const [minutes = "", , , , , task = ""] = line.split(" ");
    return { task, minute: Number(/^\d+$/.exec(minutes)?.[0] ?? 0) };
  })
  .toSorted((a, b) => a.minute - b.minute);

/** Simulates an hour: ages changes, runs each job of the timetable once, and runs the jobs they add. */
export async function simulateHour(world: TestWorld): Promise<void> {
  const { db } = world.service.deps;
  await world.forge.waitUntilIdle();
  for (const table of ["card_repositories", "pull_requests"]) {
    await db(table).update({ changed_at: db.raw(`changed_at - ${AN_HOUR}`) });
  }
  for (const { task } of timetable) {
    await addJob(db, task, { _cron: { ts: new Date().toISOString(), backfilled: false } });
    await allJobsDone(world);
  }
}

async function allJobsDone(world: TestWorld): Promise<void> {
  const { db } = world.service.deps;
  await eventually(
    async () => {
      await db("graphile_worker._private_jobs")
        .whereNull("locked_at")
        .whereRaw("run_at > now()")
        .update({ run_at: db.fn.now() });
      await world.forge.waitUntilIdle();
      return db("graphile_worker.jobs").select("task_identifier", "last_error");
    },
    ({ length }) => length === 0,
  );
}
