-- The audit log: one row for each attempt to change something (docs/adr/0013).

create table audit_log (
  id uuid primary key,
  occurred_at timestamptz not null default now(),
  -- No foreign keys: rows outlive what they name. Null if the board is unknown, and for commands.
  workspace_id uuid,
  -- Id, name and kind at that time. Null if the API key was refused.
  actor jsonb,
  -- The client id of the API key, also of a refused one.
  client_id text,
  action text not null,
  -- Ids and numbers in the path.
  targets jsonb not null,
  -- Null while the attempt runs.
  ended_at timestamptz,
  -- Of the response. Null if there was none, because the process died.
  status integer,
  problem text,
  is_replay boolean not null default false,
  address text,
  user_agent text,
  request_id text,
  forge_calls jsonb not null default '[]',
  -- The process that runs the attempt. Null after its end, and for a command.
  holder uuid,
  -- Contiguous from 1. Null until the ended attempt is added to the chain of hashes.
  position bigint,
  prev_hash bytea,
  hash bytea,
  check (ended_at is not null or position is null),
  check ((position is null) = (hash is null) and (position is null) = (prev_hash is null))
);
create unique index on audit_log (position) where position is not null;
create index on audit_log (id) where position is null;
create index on audit_log (workspace_id, occurred_at, id) where ended_at is not null;

-- The newest row of the chain, and the last one that retention has deleted.
create table audit_chain (
  only_row boolean primary key default true check (only_row),
  head_position bigint not null default 0,
  head_hash bytea not null default '',
  anchor_position bigint not null default 0,
  anchor_hash bytea not null default ''
);
insert into audit_chain default values;

-- The attempt of the transaction, which `beginTransaction` sets. A default of columns, because many
-- statements write events.
create function current_attempt() returns uuid language sql stable as $$
  select cast(nullif(current_setting('trunkline.attempt', true), '') as uuid)
$$;
alter table events add column attempt_id uuid default current_attempt();
create index on events (attempt_id) where attempt_id is not null;

-- The attempt that an operation belongs to, also when a job resumes it.
alter table operations add column attempt_id uuid default current_attempt();
create index on operations (attempt_id) where state = 'running';
