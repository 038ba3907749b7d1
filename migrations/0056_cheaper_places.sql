-- How many cards stand above a rank, in the snapshot of who asks. What is kept of a long column is looked up first: who finds it there need not count a few first, and
-- whoever finds nothing has lost one look. A column is gone through again after so many changes that these cost about what going through it does, shared by all who asked
-- since.
create or replace function place_in_column(stage uuid, place text, out above bigint, out is_stale boolean)
language plpgsql stable as $$
begin
  if not exists (select 1 from column_counts k where k.stage_id = stage) then
    select count(*), false into above, is_stale
      from (select 1 from cards c
             where c.stage_id = stage and c.deleted_at is null and c.rank < place collate "C" limit 256) few;
    if above < 256 then return; end if;
  end if;
  select f.above, f.is_stale into above, is_stale from place_in_long_column(stage, place) f;
end $$;

create or replace function place_in_long_column(stage uuid, place text, out above bigint, out is_stale boolean)
language plpgsql stable as $$
declare
  known column_counts;
  base text collate "C" := '';
  changes integer;
  shift integer;
begin
  select * into known from column_counts k
   where k.stage_id = stage and k.server = pg_postmaster_start_time() and k.at > now() - interval '1 hour';
  if found then
    above := width_bucket(place collate "C", known.ranks) - 1;
    if above >= 0 then base := known.ranks[above + 1]; else above := 0; end if;
    select count(*), coalesce(sum(d.change) filter (where d.rank < base), 0) into changes, shift
      from (select p.change, p.rank from place_changes p
             where p.stage_id = stage and p.xid >= pg_snapshot_xmin(known.snapshot)
               and not pg_visible_in_snapshot(p.xid, known.snapshot) limit 1001) d;
    is_stale := changes > least(500, greatest(64, cardinality(known.ranks) * 8));
    if changes <= 1000 then
      select above * 256 + shift + count(*) into above
        from cards c where c.stage_id = stage and c.deleted_at is null and c.rank >= base and c.rank < place collate "C";
      return;
    end if;
  end if;
  is_stale := true;
  select count(*) into above from cards c where c.stage_id = stage and c.deleted_at is null and c.rank < place collate "C";
end $$;

-- An expression, and not a query, takes a new snapshot, too, and is cheaper.
create or replace function place_now(stage uuid, place text, out above bigint, out is_stale boolean)
language plpgsql volatile as $$
declare
  found_place record;
begin
  found_place := place_in_column(stage, place);
  above := found_place.above;
  is_stale := found_place.is_stale;
end $$;
