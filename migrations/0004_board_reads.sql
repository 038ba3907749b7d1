-- Makes boards cheap to read: shows whether a cached board is still valid (docs/adr/0005).

-- The transactions that changed a project's board. A cached board is valid until one of them is
-- outside the snapshot that it was read in. Writers only insert rows, so they never wait for each
-- other. A job deletes old rows.
create table board_changes (
  project_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  -- The card whose details changed; all zeros for a change that only concerns a board without details.
  card_id uuid not null default '00000000-0000-0000-0000-000000000000',
  -- Whether only a board with details shows the change.
  is_detail boolean not null default false,
  at timestamptz not null default now(),
  primary key (project_id, xid, card_id, is_detail)
);
create index on board_changes (at);

-- Triggers write `board_changes`, so that no statement changes a board without recording it.
create function record_changed_card() returns trigger language plpgsql as $$
declare
  is_detail boolean := tg_op = 'UPDATE'
    and (new.number, new.title, new.project_id, new.stage_id, new.rank, new.priority, new.assignee_id, new.deleted_at)
        is not distinct from
        (old.number, old.title, old.project_id, old.stage_id, old.rank, old.priority, old.assignee_id, old.deleted_at);
begin
  -- A deleted card may have no project.
  if new.project_id is not null then
    insert into board_changes (project_id, card_id, is_detail) values (new.project_id, new.id, is_detail)
        on conflict do nothing;
  end if;
  if tg_op = 'UPDATE' and old.project_id <> new.project_id then
    insert into board_changes (project_id) values (old.project_id) on conflict do nothing;
  end if;
  return null;
end $$;
create trigger record_board_change after insert on cards
  for each row execute function record_changed_card();
create trigger record_board_change_of_fields after update on cards
  for each row when (old.* is distinct from new.*) execute function record_changed_card();

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
