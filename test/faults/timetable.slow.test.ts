import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { shipService, type Shipped, type ShippedProcess } from "../support/processes/shipped-service.ts";
import { startSurroundings, type Surroundings } from "./support/surroundings.ts";

/** A minute to the next tick, and time for a busy machine. */
const A_TICK = 100_000;

let shipped: Shipped;
let surroundings: Surroundings;
const processes: ShippedProcess[] = [];
beforeAll(async () => {
  [shipped, surroundings] = await Promise.all([shipService(), startSurroundings()]);
  // The payload has the time of the tick; the job disappears after it has run.
  await surroundings.db.raw(`
    create table ticks (task text, tick text, event text);
    create function note_tick() returns trigger language plpgsql as $$
    declare job record;
    begin
      if tg_op = 'INSERT' then job := new; else job := old; end if;
      if job.payload -> '_cron' ->> 'ts' is not null then
        insert into ticks select t.identifier, job.payload -> '_cron' ->> 'ts', tg_op
          from graphile_worker._private_tasks t where t.id = job.task_id;
      end if;
      return null;
    end $$;
    create trigger note_tick after insert or delete on graphile_worker._private_jobs
      for each row execute function note_tick();`);
  processes.push(...(await Promise.all([shipped.start(surroundings), shipped.start(surroundings)])));
});
afterAll(async () => {
  for (const service of processes) await service.kill();
  await surroundings.stop();
  await shipped.remove();
});

interface Tick {
  readonly task: string;
  readonly tick: string;
  readonly event: "INSERT" | "DELETE";
}

const EVERY_MINUTE = "wake-waiting-lanes";

/** Waits until all jobs that run every minute have run at a later tick. */
const laterTicks = (known: readonly Tick[]): Promise<Tick[]> =>
  eventually(
    () => surroundings.db<Tick>("ticks").select(),
    (ticks) =>
      ticks.some(
        ({ task, tick, event }) =>
          task === EVERY_MINUTE && event === "DELETE" && !known.some((each) => each.tick === tick),
      ),
    A_TICK,
  );

it(
  "scheduled jobs run once per tick with two processes, and continue when one of them is killed",
  async () => {
    const together = await laterTicks([]);
    await processes[0]?.kill();
    const all = await laterTicks(together);
    const everyMinute = all.filter(({ task }) => task === EVERY_MINUTE);
    for (const event of ["INSERT", "DELETE"] as const) {
      const of = all.filter((each) => each.event === event).map(({ task, tick }) => `${task} ${tick}`);
      expect(of).toEqual([...new Set(of)]);
      expect(everyMinute.filter((each) => each.event === event)).toHaveLength(2);
    }
  },
  3 * A_TICK,
);
