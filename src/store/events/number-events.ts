import { firstRow, rows, type Db } from "../db/connect.ts";
import { LOCK_IDS } from "../db/lock-ids.ts";
import { allInOrder, transaction } from "../db/transaction.ts";

const BATCH = 1_000;

const NUMBER_EVENTS = `
  with pending as (
    select id, workspace_id, row_number() over (partition by workspace_id order by id) as place
      from (select id, workspace_id from events where seq is null order by id limit :batch) p),
  counts as (
    select workspace_id, count(*) as added from pending group by workspace_id),
  heads as (
    update feeds f set head = f.head + c.added, numbered_at = greatest(f.numbered_at, statement_timestamp())
      from counts c where f.workspace_id = c.workspace_id
    returning f.workspace_id, f.head - c.added as base, f.numbered_at)
  update events e set seq = h.base + p.place, numbered_at = h.numbered_at
    from pending p join heads h on h.workspace_id = p.workspace_id
   where e.id = p.id
  returning 1`;

/**
 * Numbers the committed events. Only these are visible, so an open transaction delays no other
 * event, and an event that commits later gets a higher number. The lock is taken by an earlier
 * statement, so that the second one sees what the previous holder committed.
 */
export async function numberEvents(db: Db): Promise<void> {
  for (let isMore = true; isMore;) {
    isMore = await transaction(db, async (trx) => {
      const [, numbered] = await allInOrder([
        rows(trx, "select pg_advisory_xact_lock(:lock)", { lock: LOCK_IDS.eventNumbers }),
        rows(trx, NUMBER_EVENTS, { batch: BATCH }),
      ]);
      return numbered.length === BATCH;
    });
  }
}

/** Whether there are committed events without a number. */
export const hasPendingEvents = async (db: Db): Promise<boolean> =>
  (await firstRow(db, "select 1 from events where seq is null limit 1")) !== null;
