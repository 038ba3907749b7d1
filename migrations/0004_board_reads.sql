-- Makes boards cheap to read: the revalidation of cached boards (docs/adr/0005), and counts from
-- which the position of a card in a long column is computed (docs/adr/0004).

-- The transactions that changed a project's board. A cached board is valid until one of them is
-- outside the snapshot that it was read in. Writers only insert rows, so they never wait for each
-- other. A job deletes old rows.
create table board_changes (
  project_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default now(),
  primary key (project_id, xid)
);
create index on board_changes (at);

-- Triggers write `board_changes`, so that no statement changes a board without recording it.
create function record_changed_card() returns trigger language plpgsql as $$
begin
  -- A deleted card may have no project.
  if new.project_id is not null then
    insert into board_changes (project_id) values (new.project_id) on conflict do nothing;
  end if;
  if tg_op = 'UPDATE' and old.project_id <> new.project_id then
    insert into board_changes (project_id) values (old.project_id) on conflict do nothing;
  end if;
  return null;
end $$;
create trigger record_board_change after insert on cards
  for each row execute function record_changed_card();
create trigger record_board_change_of_fields
  after update of number, title, project_id, stage_id, rank, priority, assignee_id, deleted_at
  on cards for each row execute function record_changed_card();

create function record_changed_card_labels() returns trigger language plpgsql as $$
begin
  insert into board_changes (project_id)
  select distinct c.project_id from cards c where c.id in (select card_id from changed)
      on conflict do nothing;
  return null;
end $$;
create trigger record_board_change_on_insert after insert on card_labels
  referencing new table as changed
  for each statement execute function record_changed_card_labels();
create trigger record_board_change_on_delete after delete on card_labels
  referencing old table as changed
  for each statement execute function record_changed_card_labels();

create function record_changed_label() returns trigger language plpgsql as $$
begin
  insert into board_changes (project_id)
  select p.id from projects p where p.workspace_id = new.workspace_id on conflict do nothing;
  return null;
end $$;
create trigger record_board_change after update of name, color on labels
  for each row execute function record_changed_label();

create function record_changed_user() returns trigger language plpgsql as $$
begin
  insert into board_changes (project_id)
  select distinct c.project_id from cards c where c.assignee_id = new.id on conflict do nothing;
  return null;
end $$;
create trigger record_board_change after update on users for each row
  when ((old.name, old.avatar_url, old.kind) is distinct from (new.name, new.avatar_url, new.kind))
  execute function record_changed_user();

create function record_changed_agent() returns trigger language plpgsql as $$
begin
  insert into board_changes (project_id)
  select distinct c.project_id from cards c join projects p on p.id = c.project_id
   where c.assignee_id = coalesce(new.user_id, old.user_id)
     and p.workspace_id = coalesce(new.workspace_id, old.workspace_id)
      on conflict do nothing;
  return null;
end $$;
create trigger record_board_change after insert or delete on workspace_agents
  for each row execute function record_changed_agent();

create function record_changed_stages() returns trigger language plpgsql as $$
begin
  insert into board_changes (project_id)
  select distinct p.id from projects p where p.id in (select project_id from changed)
      on conflict do nothing;
  return null;
end $$;
create trigger record_board_change_on_insert after insert on stages
  referencing new table as changed for each statement execute function record_changed_stages();
create trigger record_board_change_on_update after update on stages
  referencing new table as changed for each statement execute function record_changed_stages();
create trigger record_board_change_on_delete after delete on stages
  referencing old table as changed for each statement execute function record_changed_stages();

-- Every 256th rank of a long column, with the snapshot of the count. A card's position is the count
-- at the nearest rank, plus the changes of transactions outside the snapshot (`place_changes`),
-- plus the cards between that rank and the card. It equals a full count.
create table column_counts (
  stage_id uuid primary key,
  -- The id of a transaction that saw this row. It and all later transactions recorded in
  -- `place_changes` which cards they moved into or out of the stage; earlier ones may not have. Null
  -- until known.
  since xid8,
  -- Null until the column is counted, which is possible after the end of the older transactions.
  snapshot pg_snapshot,
  -- The start time of the PostgreSQL server: a restored server may repeat transaction ids.
  server timestamptz,
  -- The first rank, and every 256th after it.
  ranks text[] collate "C",
  at timestamptz not null default now()
);

-- Cards that entered (1) or left (-1) a column of `column_counts`, by rank.
create table place_changes (
  stage_id uuid not null,
  rank text collate "C" not null,
  change smallint not null check (change in (1, -1)),
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default now()
);
create index on place_changes (stage_id, xid);
create index on place_changes using brin (at);

-- A transaction under repeatable read may not see the row of `column_counts`, so it always writes.
create function record_changed_place() returns trigger language plpgsql as $$
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
create trigger record_place after insert or delete on cards
  for each row execute function record_changed_place();
create trigger record_changed_place after update of stage_id, rank, deleted_at on cards for each row
  when ((old.stage_id, old.rank, old.deleted_at is null)
        is distinct from (new.stage_id, new.rank, new.deleted_at is null))
  execute function record_changed_place();

-- Returns the number of cards before a rank in a long column, and whether the column should be
-- counted again: when reading the changes costs about as much as a recount. A function in SQL,
-- because statements that read cards have to read the counts and the changes in the same snapshot.
create function place_in_long_column(
  stage uuid, place text, out above bigint, out is_stale boolean
) language plpgsql stable as $$
declare
  known column_counts;
  base text collate "C" := '';
  changes integer;
  shift integer;
begin
  select * into known from column_counts k
   where k.stage_id = stage and k.server = pg_postmaster_start_time()
     and k.at > now() - interval '1 hour';
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
        from cards c
       where c.stage_id = stage and c.deleted_at is null
         and c.rank >= base and c.rank < place collate "C";
      return;
    end if;
  end if;
  is_stale := true;
  select count(*) into above
    from cards c
   where c.stage_id = stage and c.deleted_at is null and c.rank < place collate "C";
end $$;

-- The same for a column of any length. Without stored counts, up to 255 cards above are counted directly.
create function place_in_column(
  stage uuid, place text, out above bigint, out is_stale boolean
) language plpgsql stable as $$
begin
  if not exists (select 1 from column_counts k where k.stage_id = stage) then
    select count(*), false into above, is_stale
      from (select 1 from cards c
             where c.stage_id = stage and c.deleted_at is null and c.rank < place collate "C"
             -- The order keeps the planner on the index of the column before statistics exist.
             order by c.rank limit 256) few;
    if above < 256 then return; end if;
  end if;
  select f.above, f.is_stale into above, is_stale from place_in_long_column(stage, place) f;
end $$;
