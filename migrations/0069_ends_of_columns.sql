-- How long a long column was, and which card stood last, in a snapshot of its own. Beyond that card a place is this length and what transactions outside the snapshot changed before it: of the column's cards none
-- is looked at. It is moved on by adding such changes up, which costs the same in any column. Goes with the row that has the changes noted.
create table column_ends (
  stage_id uuid primary key references column_counts on delete cascade,
  length bigint not null,
  last text collate "C" not null,
  snapshot pg_snapshot not null,
  server timestamptz not null,
  at timestamptz not null
);

-- How many cards stand above a rank that is likely beyond the last known, in the snapshot of who asks; and whether the column's end should be moved on, or first be found.
create function place_at_end(stage uuid, place text, out above bigint, out is_stale boolean)
language plpgsql stable as $$
declare
  known record;
  counted record;
begin
  select e.length, e.snapshot into known from column_ends e
   where e.stage_id = stage and e.last < place collate "C" and e.server = pg_postmaster_start_time() and e.at > now() - interval '1 hour';
  if found then
    select known.length + coalesce(sum(p.change) filter (where p.rank < place collate "C"), 0), count(*) > 32 into above, is_stale
      from place_changes p
     where p.stage_id = stage and p.xid >= pg_snapshot_xmin(known.snapshot) and not pg_visible_in_snapshot(p.xid, known.snapshot);
  else
    counted := place_in_column(stage, place);
    above := counted.above;
    is_stale := counted.is_stale or above >= 256;
  end if;
end $$;
