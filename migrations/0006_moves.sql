-- The processes of the service, card moves, their effects on the forge, and idempotency keys.

-- One row per service process. A process whose `seen_at` is too old is dead: what it held is free.
create table instances (
  id uuid primary key,
  -- The ids of its job workers, which the job queue records as the holders of jobs.
  worker_ids text[] not null default '{}',
  seen_at timestamptz not null default now()
);

-- A card's move, from the first request to the forge to its end. It outlives the process and the
-- request that began it.
create table operations (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  card_id uuid not null references cards,
  -- A move that has ended outlives its stage.
  stage_id uuid references stages on delete set null,
  index integer not null,
  actor_id uuid not null references users,
  -- The request that began it, `Caller.requestId`. A retry of the request finds the earlier
  -- effects.
  request_id text,
  -- queued: the forge accepted the merge and finishes it later.
  state text not null check (state in ('running', 'queued', 'done', 'refused', 'abandoned')),
  -- The process at work on the move, or null.
  holder uuid,
  -- Grows with each takeover. A holder with a lower number may write nothing more.
  attempt integer not null default 1,
  -- How often the move failed for a reason of Trunkline's own. Attempts also count waits for the
  -- forge.
  failures integer not null default 0,
  -- Processes in a row that died while they held the move, without progress, and the number of its
  -- card's forge effects when the last of them was found dead.
  deaths integer not null default 0,
  deeds integer not null default 0,
  -- What this move has merged so far: [{ fullName, targetBranch, prNumber }].
  promoted jsonb not null default '[]',
  -- The answer of a successful move.
  result jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint operations_lead_somewhere
    check (state not in ('running', 'queued') or stage_id is not null)
);
-- A card has at most one move under way.
create unique index on operations (card_id) where state in ('running', 'queued');
create index on operations (card_id, created_at);
create index on operations (stage_id);
create index on operations (updated_at) where state in ('running', 'queued');
-- Retention reads ended moves in the order of their ends.
create index on operations (updated_at) where state in ('done', 'refused', 'abandoned');

-- What Trunkline is about to do on the forge, written before the request. So its own effects can be
-- distinguished from other people's.
create table forge_intents (
  repository_id uuid not null references repositories,
  kind text not null check (kind in ('create_branch', 'open_pull_request', 'mark_ready', 'merge')),
  -- The branch, `head:target`, or the number of the pull request.
  subject text not null,
  card_id uuid not null references cards,
  actor_id uuid not null references users,
  done boolean not null default false,
  -- Grows when the same effect is intended again: a pull request that somebody converted to a draft
  -- may be marked ready again.
  round integer not null default 1,
  -- For open_pull_request: the highest known number in the repository when this round began. A pull
  -- request of the same branches with a higher number is this one.
  known_up_to integer,
  -- For an asynchronous merge: the forge's handle.
  handle text,
  -- For a merge: the forge accepted it, so it counts as Trunkline's whatever the move's result is.
  accepted boolean not null default false,
  -- For a merge: it is or was in the forge's merge queue, and the reason if the queue removed it.
  queued boolean not null default false,
  thrown_out text,
  -- The forge's time of the newest event from the merge queue. Older events do not overwrite it.
  queue_told_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (repository_id, kind, subject)
);
create index on forge_intents (card_id);
-- Branches to be created whose result is unknown: few rows of a large table.
create index forge_intents_unheard_cuts on forge_intents (created_at)
  where kind = 'create_branch' and not done;

create table idempotency_keys (
  credential_id uuid not null references credentials,
  key text not null,
  fingerprint bytea not null,
  state text not null check (state in ('running', 'done')),
  holder uuid,
  attempt integer not null default 1,
  status integer,
  -- The exact bytes of the answer. Null for an answer without a body.
  body text,
  created_at timestamptz not null default now(),
  primary key (credential_id, key)
);
create index on idempotency_keys (created_at);
