import { addJob } from "../../src/store/db/jobs.ts";
import type { TestBoard } from "../../test/support/world.ts";
import { retryOnError } from "../actors/retry-on-error.ts";
import type { CheckedWorld } from "../world/world.ts";
import { JOBS } from "../../src/store/jobs.ts";

type WithDatabase = Pick<CheckedWorld, "deps">;

/**
 * Lets the armed move of a card expire: the shortest one lasts longer than a run. Excludes the moves
 * of the card, as the service does, so that none begins with the old expiry afterwards.
 */
export const expireArmed = (
  { deps: { db } }: WithDatabase,
  board: TestBoard,
  number: number,
): Promise<unknown> =>
  retryOnError(() =>
    db.raw(
      `with locked as (select id from cards where workspace_id = :workspaceId and number = :number for no key update)
       update armed_moves set expires_at = clock_timestamp() where card_id in (select id from locked)`,
      { workspaceId: board.workspaceId, number },
    ),
  );

/** Lets all armed moves expire, and runs the job that disarms them. */
export async function expireAllArmed({ deps: { db } }: WithDatabase): Promise<void> {
  await db.raw(
    `with locked as (select id from cards where id in (select card_id from armed_moves) order by id for no key update)
     update armed_moves set expires_at = clock_timestamp() where card_id in (select id from locked)`,
  );
  await addJob(db, JOBS.inspectAllArmed.name, {}, { key: JOBS.inspectAllArmed.name });
}
