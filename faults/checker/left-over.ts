import { listRefs } from "../../sandbox/forge/git/refs.ts";
import { rows } from "../../src/store/db/connect.ts";
import { untilIdle } from "../quiesce.ts";
import type { Invariant } from "./subject.ts";

/** In seconds; on a machine that is busy with other seeds. */
const A_MOMENT = 20;

// Invariant: I8 Nothing stays running, waiting or temporary
/** I8: nothing is left half done, set aside or temporary. */
export const nothingIsLeftOver: Invariant = async ({ world }) => {
  const { db } = world.deps;
  const { state, git } = world.forge.context;
  const found: string[] = [];
  // The timetable may just have asked for something.
  const left = await untilIdle(world, A_MOMENT);
  if (left !== null) found.push(`there is still something to be done: ${left}`);
  for (const { id, name } of state.repositories.all()) {
    const refs = await listRefs(git.repository(id), "refs/heads/trunkline/");
    found.push(...refs.map((ref) => `${name} still has ${ref.name}`));
  }
  // A job without a key has made way for another under its key, and is not tried again.
  const parked = await rows<{ what: string }>(
    db,
    `select 'the delivery ' || guid || ' is set aside: ' || coalesce(error, '') as what from deliveries where state = 'parked'
     union all select 'the job ' || task_identifier || ' has failed for good: ' || coalesce(last_error, '') from graphile_worker.jobs where attempts >= max_attempts and key is not null`,
  );
  return [...found, ...parked.map(({ what }) => what)];
};
