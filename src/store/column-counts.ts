import { firstRow, rows, type Db } from "./connect.ts";

/** So many cards above another are counted out; of a longer column every so many ranks are kept, as `place_in_long_column` knows. */
const FEW = 256;

/**
 * Joins `place`, where a card `c` stands: `above`, in the snapshot of the statement, and `is_stale`, whether its column is to be counted again. Without its `offset` the
 * function would be called for every card, and its answer dropped where the column is short.
 */
export const WITH_PLACE = `
  cross join lateral (
       select coalesce(far.above, near.above) as above, coalesce(far.is_stale, false) as is_stale
         from (select count(*) as above
                 from (select 1 from cards o where o.stage_id = c.stage_id and o.deleted_at is null and o.rank < c.rank limit ${FEW}) few) near
         left join lateral (select f.* from place_in_long_column(c.stage_id, c.rank) f where near.above = ${FEW} offset 0) far on true) place`;

/** The same for a card that the statement itself writes: as it is once that is written. */
export const WITH_PLACE_NOW = "cross join lateral place_now(c.stage_id, c.rank) place";

/** One caller at a time, and not before all transactions are over that may not have noted their changes. */
const GO_THROUGH = `
  with known as materialized (select k.stage_id, k.since from column_counts k where k.stage_id = :stageId),
  turn as materialized (
    select known.stage_id from known
     where known.since <= pg_snapshot_xmin(pg_current_snapshot())
       and pg_try_advisory_xact_lock(hashtextextended('column-count:' || cast(known.stage_id as text), 0))),
  kept as (
    update column_counts k
       set snapshot = pg_current_snapshot(), server = pg_postmaster_start_time(), at = now(), ranks = gone_through.ranks
      from turn, lateral (
           select array_agg(ranked.rank order by ranked.rank) as ranks
             from (select c.rank, row_number() over (order by c.rank) as nth
                     from cards c where c.stage_id = turn.stage_id and c.deleted_at is null) ranked
            where ranked.nth % ${FEW} = 1) gone_through
     where k.stage_id = turn.stage_id and gone_through.ranks is not null)
  select 1 from known where since is not null`;

/**
 * Goes through a column and keeps what `place_in_long_column` counts on from: what the place of a card costs then does not grow with the column. From the first time on its
 * changes are noted. Keeps nothing while another caller is at it, or a transaction from before that time is under way: the next caller will.
 */
export async function countColumn(db: Db, stageId: string): Promise<void> {
  if (await firstRow(db, GO_THROUGH, { stageId })) return;
  await rows(db, "insert into column_counts (stage_id) values (:stageId) on conflict do nothing", {
    stageId,
  });
  await rows(
    db,
    "update column_counts set since = pg_current_xact_id() where stage_id = :stageId and since is null",
    { stageId },
  );
  await rows(db, GO_THROUGH, { stageId });
}

/** Drops counts that are good no more, and changes that no other one is counted on from. Gives how many changes. */
export async function dropOldPlaceChanges(db: Db): Promise<number> {
  await rows(db, "delete from column_counts where at < now() - interval '2 hours'");
  const dropped = await firstRow<{ count: number }>(
    db,
    `with dropped as (
       delete from place_changes p
        where p.at < now() - interval '2 hours'
          and not exists (select 1 from column_counts k
                           where k.stage_id = p.stage_id and not pg_visible_in_snapshot(p.xid, k.snapshot))
       returning 1)
     select count(*) as count from dropped`,
  );
  return dropped?.count ?? 0;
}
