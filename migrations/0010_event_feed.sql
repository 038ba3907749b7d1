-- The event feed: what happened on each board, numbered after commit (docs/adr/0011).

create table events (
  -- The order in which events were written. Not the order of their commits: see `seq`.
  id bigint generated always as identity primary key,
  workspace_id uuid not null references workspaces,
  -- The number on the board, contiguous from 1. Null until the event is committed and numbered.
  seq bigint,
  kind text not null,
  card_number integer,
  -- The title at that time, so that every reader gets the same bytes.
  card_title text,
  actor jsonb,
  data jsonb not null default '{}',
  -- GitHub's time for what GitHub reported, which may be late.
  at timestamptz not null default now(),
  written_at timestamptz not null default clock_timestamp(),
  numbered_at timestamptz,
  check ((card_number is null) = (card_title is null)),
  check ((seq is null) = (numbered_at is null))
);
create unique index on events (workspace_id, seq) where seq is not null;
create index on events (id) where seq is null;
create index on events (numbered_at, seq) where numbered_at is not null;

-- The number of each board's newest event. A separate table, because new cards lock `workspaces`
-- until they commit and numbering must not wait for them.
create table feeds (
  workspace_id uuid primary key references workspaces,
  head bigint not null default 0,
  -- Never decreases, even if the clock does: events are deleted in the order of their numbers.
  numbered_at timestamptz not null default now()
);

-- In SQL, because many statements block and unblock cards.
create function record_blocked() returns trigger
language plpgsql as $$
begin
  insert into events (workspace_id, card_number, card_title, kind, data)
  values (new.workspace_id, new.number, new.title,
          case when new.blocked is null then 'unblocked' else 'blocked' end,
          jsonb_build_object(
            'from', coalesce(jsonb_path_query_array(old.blocked, '$.reasons[*].reason'), '[]'),
            'to', coalesce(jsonb_path_query_array(new.blocked, '$.reasons[*].reason'), '[]')));
  return null;
end $$;
create trigger card_is_blocked after update of blocked on cards
  for each row when (old.blocked is distinct from new.blocked and new.deleted_at is null)
  execute function record_blocked();

-- In SQL, so that no board is without a feed.
create function create_feed() returns trigger
language plpgsql as $$
begin
  insert into feeds (workspace_id) values (new.id);
  return null;
end $$;
create trigger workspace_has_a_feed after insert on workspaces
  for each row execute function create_feed();
