/** Several deliveries are read together; the one that kills the process must be found. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { MAX_CRASHES } from "../../src/actions/lease.ts";
import { insertDeliveries } from "../../src/store/forge/deliveries.ts";
import { addLaneJobs } from "../../src/store/forge/lanes.ts";
import { allProcessedIn, cardWithStatuses } from "../support/forge/deliveries.ts";
import { untilWaitingForLock, whileLocked } from "../support/stories/locks.ts";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { startKillableWorld, type KillableWorld } from "./support/killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterAll(() => world.stop());

/** Makes the recording of a check with this name wait for a lock. */
const POISON = "poison";
const LOCK = 1;

// Fault: A10
it.each([3, 20])(
  "one delivery that kills every process is parked, but none of the %d before and after it",
  async (before) => {
    const { db } = world;
    const board = await world.board();
    const { lane, status } = await cardWithStatuses(world, board);
    await allProcessedIn(world);
    await db.raw(`
      create or replace function wait() returns trigger language plpgsql as $$
      begin if new.name = '${POISON}' then perform pg_advisory_xact_lock(${LOCK}); end if; return new; end $$;
      create or replace trigger wait before insert on check_reports for each row execute function wait()`);
    const innocent = Array.from({ length: before + 3 }, (_, at) => `ci-${at}`);
    const names = innocent.toSpliced(before, 0, POISON);
    const guids = new Map(names.map((name) => [name, randomUUID()]));
    const rowOf = (name: string) => ({
      guid: guids.get(name) ?? "",
      event: "status",
      lane,
      payload: JSON.stringify(status("success", name)),
      source: "webhook" as const,
    });
    const crashes = () =>
      db("deliveries").where({ lane }).sum("crashes as all").max("crashes as most").first();
    await whileLocked(
      db,
      async (trx) => {
        await trx.raw("set local idle_in_transaction_session_timeout = 0");
        await trx.raw(`select pg_advisory_xact_lock(${LOCK})`);
      },
      async () => {
        await insertDeliveries(db, names.map(rowOf));
        await addLaneJobs(db, [lane]);
        // The oldest delivery that was read is counted for the first death, and for the first one in each
        // further turn of the lane.
        for (let deaths = 1, most = 0; most < MAX_CRASHES; deaths++) {
          await untilWaitingForLock(db);
          await world.kill();
          await db.raw(
            `select pg_terminate_backend(pid) from pg_stat_activity
              where wait_event_type = 'Lock' and datname = current_database()`,
          );
          await world.restart();
          const counted = await eventually(crashes, (now) => Number(now?.["all"]) === deaths);
          most = Number(counted?.["most"]);
        }
        await allProcessedIn(world);
      },
    );
    const worked = await db("deliveries").where({ lane, event: "status" }).select("guid", "state", "crashes");
    expect(worked.filter(({ state }) => state !== "done")).toEqual([
      { guid: guids.get(POISON), state: "parked", crashes: MAX_CRASHES },
    ]);
    const blamed = worked.filter((each) => each.crashes > 0 && each.guid !== guids.get(POISON));
    expect(blamed.filter((each) => each.crashes > 1)).toEqual([]);
    expect(await db("check_reports").whereIn("name", innocent).count()).toEqual([{ count: innocent.length }]);
    await db.raw("drop function wait() cascade");
    await db("check_reports").delete();
    await expectConsistent(world, board);
  },
);
