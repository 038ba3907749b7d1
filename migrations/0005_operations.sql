-- One row per service process; a process that has not been seen for a while is dead, and what it held is free.
create table instances (
  id uuid primary key,
  -- Its job workers, as they sign the jobs they hold.
  worker_ids text[] not null default '{}',
  seen_at timestamptz not null default now()
);

-- A card's move, from the first thing asked of the forge to its end. It outlives the process and the request that began it.
create table operations (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  card_id uuid not null references cards,
  stage_id uuid not null references stages,
  index integer not null,
  actor_id uuid not null references users,
  -- The request that asked for it, as `Caller.requestId` names it: its retry finds what was done already.
  request_id text,
  -- queued: the forge has the merge and finishes it later.
  state text not null check (state in ('running', 'queued', 'done', 'refused', 'abandoned')),
  -- The process at work on it; null when nobody is.
  holder uuid,
  -- Grows with every taking over: who holds an older number may write nothing more.
  attempt integer not null default 1,
  -- What this move has merged so far: [{ fullName, targetBranch, prNumber }].
  promoted jsonb not null default '[]',
  -- What was answered, once it ended well.
  result jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- One mover per card.
create unique index on operations (card_id) where state in ('running', 'queued');
create index on operations (card_id, created_at);
create index on operations (updated_at) where state in ('running', 'queued');

-- What we are about to do on the forge, written before it is done: how our deeds are told from other people's.
create table forge_intents (
  repository_id uuid not null references repositories,
  kind text not null check (kind in ('create_branch', 'open_pull_request', 'mark_ready', 'merge')),
  -- The branch, `head:target`, or the pull request's number.
  subject text not null,
  card_id uuid not null references cards,
  actor_id uuid not null references users,
  -- Of a merge: what to ask the forge for.
  handle text,
  done boolean not null default false,
  -- How often it was meant: a pull request may be made a draft by somebody and ready by us again.
  round integer not null default 1,
  created_at timestamptz not null default now(),
  primary key (repository_id, kind, subject)
);

create table idempotency_keys (
  credential_id uuid not null references credentials,
  key text not null,
  fingerprint bytea not null,
  state text not null check (state in ('running', 'done')),
  holder uuid,
  attempt integer not null default 1,
  status integer,
  -- The very bytes of the answer; null for one without a body.
  body text,
  created_at timestamptz not null default now(),
  primary key (credential_id, key)
);
create index on idempotency_keys (created_at);
