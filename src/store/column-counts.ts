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

/** A column's end in the snapshot of this statement, where it has changed much since the one that is known, or its last card has left. Gives a row where one is known, moved on or not. */
const MOVE_END_ON = `
  with known as materialized (
    select e.* from column_ends e
     where e.stage_id = :stageId and e.server = pg_postmaster_start_time() and e.at > now() - interval '1 hour'),
  turn as materialized (
    select known.* from known where pg_try_advisory_xact_lock(hashtextextended('column-count:' || cast(known.stage_id as text), 0))),
  since as materialized (
    select count(*) as changes, coalesce(sum(p.change), 0) as shift
      from turn join place_changes p on p.stage_id = turn.stage_id
       and p.xid >= pg_snapshot_xmin(turn.snapshot) and not pg_visible_in_snapshot(p.xid, turn.snapshot)),
  moved as (
    update column_ends e set length = turn.length + since.shift, last = beyond.rank, snapshot = pg_current_snapshot(), at = now()
      from turn, since, lateral (
           select c.rank from cards c where c.stage_id = turn.stage_id and c.deleted_at is null order by c.rank desc limit 1) beyond
     where e.stage_id = turn.stage_id and cast(e.snapshot as text) = cast(turn.snapshot as text)
       and (since.changes > 32 or beyond.rank < turn.last))
  select 1 from known`;

/** One caller at a time, and not before all transactions are over that may not have noted their changes. */
const GO_THROUGH = `
  with known as materialized (select k.stage_id, k.since from column_counts k where k.stage_id = :stageId),
  turn as materialized (
    select known.stage_id from known
     where known.since <= pg_snapshot_xmin(pg_current_snapshot())
       and pg_try_advisory_xact_lock(hashtextextended('column-count:' || cast(known.stage_id as text), 0))),
  gone_through as materialized (
    select array_agg(ranked.rank order by ranked.rank) filter (where ranked.nth % ${FEW} = 1) as ranks,
           count(*) as length, max(ranked.rank) as last
      from turn, lateral (
           select c.rank, row_number() over (order by c.rank) as nth
             from cards c where c.stage_id = turn.stage_id and c.deleted_at is null) ranked),
  kept as (
    update column_counts k
       set snapshot = pg_current_snapshot(), server = pg_postmaster_start_time(), at = now(), ranks = gone_through.ranks
      from turn, gone_through
     where k.stage_id = turn.stage_id and gone_through.ranks is not null
    returning k.*),
  ended as (
    insert into column_ends (stage_id, length, last, snapshot, server, at)
    select kept.stage_id, gone_through.length, gone_through.last, kept.snapshot, kept.server, kept.at from kept, gone_through
    on conflict (stage_id) do update
       set length = excluded.length, last = excluded.last, snapshot = excluded.snapshot, server = excluded.server, at = excluded.at)
  select 1 from known where since is not null`;

/**
 * Moves a column's end on by what has changed since, so that a place at the end does not cost more with each card; goes through the column where there is no end, or it is of another
 * time. Callers of one moment share it.
 */
export async function moveEndOn(db: Db, stageId: string): Promise<void> {
  const moving =
    endsUnderWay.get(stageId) ??
    firstRow(db, MOVE_END_ON, { stageId })
      .then((known) => (known ? undefined : countColumn(db, stageId)))
      .finally(() => endsUnderWay.delete(stageId));
  endsUnderWay.set(stageId, moving);
  await moving;
}

/** By column. */
const endsUnderWay = new Map<string, Promise<void>>();

/**
 * Goes through a column and keeps what `place_in_long_column` and `place_at_end` count on from: what the place of a card costs then does not grow with the column. From the first time on its
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
          and not exists (select 1 from (select stage_id, snapshot from column_counts union all select stage_id, snapshot from column_ends) k
                           where k.stage_id = p.stage_id and not pg_visible_in_snapshot(p.xid, k.snapshot))
       returning 1)
     select count(*) as count from dropped`,
  );
  return dropped?.count ?? 0;
}
