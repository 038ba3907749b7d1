-- The processes of the service, long work, its effects on GitHub, and idempotency keys.

-- One row per process of the service. A process whose `seen_at` is too old is dead, and others take
-- over what it owned.
create table instances (
  id uuid primary key,
  -- The ids of its job workers in the job queue.
  worker_ids text[] not null default '{}',
  -- Of the service.
  version text,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

-- Long work: card moves with effects on GitHub, and what releases need there. An operation survives
-- the process and the request that started it.
create table operations (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  kind text not null check (kind in ('move', 'freeze', 'unfreeze', 'pick', 'promote', 'complete')),
  -- The card of a move. Null for other kinds.
  card_id uuid references cards,
  -- The stage of a move. Null if the stage of an ended move was deleted.
  stage_id uuid references stages on delete set null,
  -- The release of every other kind. Null if the release of an ended operation was deleted.
  release_id uuid,
  -- The card of a pick.
  picked_card_id uuid references cards,
  -- What the request asks for. Of a move: { index, headShas, whenReady }.
  input jsonb not null,
  actor_id uuid not null references users,
  -- Whether the actor used a session of the console, not an API key.
  is_human boolean not null default false,
  -- A retry of the request finds the operation by it (`Caller.requestId`).
  request_id text,
  -- queued: GitHub accepted the merge of the move and finishes it later.
  -- waiting: the move is armed, and runs when its checks have passed and its reviews are given.
  state text not null check (state in ('running', 'queued', 'waiting', 'done', 'refused', 'abandoned')),
  -- When a member cancelled the promotion. It stays running until its remaining cards are skipped.
  cancelled_at timestamptz,
  -- The process that works on it, or null.
  holder uuid,
  -- A fencing token that grows with each takeover: a process with a lower number may not write.
  generation integer not null default 1,
  -- Failures in a row. GitHub's limits do not count.
  failures integer not null default 0,
  -- Processes in a row that died while they owned it, without progress, and a digest of its progress
  -- when the last of them was found dead.
  crashes integer not null default 0,
  progress_digest text,
  -- What a later attempt needs to continue. Of a move: the merges so far,
  -- { promoted: [{ fullName, targetBranch, prNumber }] }.
  progress jsonb not null default '{}',
  -- The response to a successful move.
  result jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint operations_have_a_subject check (
    case when kind = 'move' then card_id is not null and release_id is null else card_id is null end
    and (state in ('done', 'refused', 'abandoned') or coalesce(stage_id, release_id) is not null))
);
-- A card has at most one move that runs and one that waits, a release one unfinished operation.
create unique index on operations (card_id) where state in ('running', 'queued');
create unique index on operations (card_id) where state = 'waiting';
create unique index on operations (release_id) where state in ('running', 'queued');
create index on operations (card_id, updated_at);
create index on operations (workspace_id, id);
create index on operations (stage_id);
create index on operations (release_id) where release_id is not null;
create index on operations (picked_card_id) where picked_card_id is not null;
create index on operations (request_id) where release_id is not null;
create index on operations (updated_at) where state in ('running', 'queued');
-- For retention.
create index on operations (updated_at) where state in ('done', 'refused', 'abandoned');

-- What Trunkline is about to do on GitHub, stored before the request, so that its effects can be
-- distinguished from those of others.
create table forge_intents (
  repository_id uuid not null references repositories,
  kind text not null check (kind in ('create_branch', 'open_pull_request', 'mark_ready', 'merge')),
  -- The branch, `head:target`, or the number of the pull request.
  subject text not null,
  card_id uuid not null references cards,
  actor_id uuid not null references users,
  done boolean not null default false,
  -- Grows when a finished effect is intended again, for example when somebody converted a pull
  -- request back to a draft.
  round integer not null default 1,
  -- For open_pull_request: the highest known number in the repository when this round began. A pull
  -- request of the same branches with a higher number is this one.
  known_up_to integer,
  -- For an asynchronous merge: GitHub's handle.
  handle text,
  -- For a merge: GitHub accepted it. Unless a person merged first, it counts as Trunkline's, whatever
  -- the result of the move.
  accepted boolean not null default false,
  -- For a merge: it is or was in GitHub's merge queue, and the reason if the queue removed it.
  queued boolean not null default false,
  -- For a merge: the names of the rules that it bypasses, as the flow allows.
  bypassed text[] not null default '{}',
  queue_removal_reason text,
  -- GitHub's time of the newest merge queue event. Older events do not overwrite it.
  queue_event_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (repository_id, kind, subject)
);
create index on forge_intents (card_id);
-- Creations of branches whose result is unknown.
create index forge_intents_unconfirmed_branches on forge_intents (created_at)
  where kind = 'create_branch' and not done;

create table idempotency_keys (
  credential_id uuid not null references credentials,
  key text not null,
  fingerprint bytea not null,
  state text not null check (state in ('running', 'done')),
  holder uuid,
  generation integer not null default 1,
  status integer,
  -- The exact body of the response, or null.
  body text,
  created_at timestamptz not null default now(),
  primary key (credential_id, key)
);
create index on idempotency_keys (created_at);
