-- A card's place is the number of cards above it in its column. In a long column that is not counted out for each reader: every 256th rank is kept with the
-- snapshot in which the column was gone through, and what has changed since is added up. Both only ever are what transactions did, so the sum is
-- what a count in the same snapshot would give.
create table column_counts (
  stage_id uuid primary key,
  -- A transaction that began after this row was there to be seen: those before it may have changed the column without a note. Null until there is one.
  since xid8,
  -- Null until the column was gone through, for which all of those have to be over.
  snapshot pg_snapshot,
  -- This run of the server: in another, restored from a copy, the numbers of transactions may begin anew.
  server timestamptz,
  -- The first rank, and every 256th after it.
  ranks text[] collate "C",
  at timestamptz not null default now()
);

-- Where cards came to stand (1) and left (-1), of columns above. Rows are only added, so that who places cards never waits for another, and by triggers, so
-- that no way of writing can forget to.
create table place_changes (
  stage_id uuid not null,
  rank text collate "C" not null,
  change smallint not null check (change in (1, -1)),
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default now()
);
create index on place_changes (stage_id, xid);
create index on place_changes using brin (at);

-- A transaction that reads everything in one snapshot may not see that changes are noted, and notes them always.
create function note_changed_place() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    if old.deleted_at is null
       and (current_setting('transaction_isolation') <> 'read committed'
            or exists (select 1 from column_counts k where k.stage_id = old.stage_id)) then
      insert into place_changes (stage_id, rank, change) values (old.stage_id, old.rank, -1);
    end if;
  end if;
  if tg_op <> 'DELETE' then
    if new.deleted_at is null
       and (current_setting('transaction_isolation') <> 'read committed'
            or exists (select 1 from column_counts k where k.stage_id = new.stage_id)) then
      insert into place_changes (stage_id, rank, change) values (new.stage_id, new.rank, 1);
    end if;
  end if;
  return null;
end $$;
create trigger note_place after insert or delete on cards for each row execute function note_changed_place();
create trigger note_other_place after update of stage_id, rank, deleted_at on cards for each row
  when ((old.stage_id, old.rank, old.deleted_at is null) is distinct from (new.stage_id, new.rank, new.deleted_at is null))
  execute function note_changed_place();

-- How many cards stand above a rank, of which more than a few do, in the snapshot of who asks; and whether the column should be gone through again.
create function place_in_long_column(stage uuid, place text, out above bigint, out is_stale boolean)
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
    is_stale := changes > 500;
    if changes <= 1000 then
      select above * 256 + shift + count(*) into above
        from cards c where c.stage_id = stage and c.deleted_at is null and c.rank >= base and c.rank < place collate "C";
      return;
    end if;
  end if;
  is_stale := true;
  select count(*) into above from cards c where c.stage_id = stage and c.deleted_at is null and c.rank < place collate "C";
end $$;

-- How many cards stand above a rank, in the snapshot of who asks.
create function place_in_column(stage uuid, place text, out above bigint, out is_stale boolean)
language plpgsql stable as $$
begin
  select coalesce(far.above, near.above), coalesce(far.is_stale, false) into above, is_stale
    from (select count(*) as above
            from (select 1 from cards c
                   where c.stage_id = stage and c.deleted_at is null and c.rank < place collate "C" limit 256) few) near
    left join lateral (select f.* from place_in_long_column(stage, place) f where near.above = 256) far on true;
end $$;

-- The same as it is when this is called: for a statement that has got a lock and has to know what was committed before that.
create function place_now(stage uuid, place text, out above bigint, out is_stale boolean)
language plpgsql volatile as $$
begin
  select p.above, p.is_stale into above, is_stale from place_in_column(stage, place) p;
end $$;
