-- The branch of a frozen release in a repository; written down before it is cut.
create table release_branches (
  release_id uuid not null references releases on delete cascade,
  repository_id uuid not null references repositories,
  branch_name text not null,
  -- The commit it is cut from: a retry cuts it nowhere else.
  cut_sha text not null,
  -- Its tip as we left it; null before it is known to be there.
  head_sha text,
  primary key (release_id, repository_id)
);
create index on release_branches (repository_id);

-- What is done to a release on the forge, from the first thing asked to its end. It outlives the process and the request that began it.
create table release_actions (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  -- Null once the release was deleted, which waits for the action's end.
  release_id uuid references releases on delete set null,
  kind text not null check (kind in ('freeze', 'unfreeze', 'pick', 'promote', 'complete')),
  -- What was asked for: a retry asks for the same.
  input jsonb not null,
  -- The card of a pick.
  card_id uuid references cards,
  actor_id uuid not null references users,
  -- The request that asked for it, as `Caller.requestId` names it.
  request_id text not null,
  state text not null check (state in ('running', 'done', 'refused', 'abandoned')),
  -- The process at work on it; null when nobody is.
  holder uuid,
  -- Grows with every taking over: who holds an older number may write nothing more.
  attempt integer not null default 1,
  -- How often in a row it could not be gone on with.
  failures integer not null default 0,
  -- What has to be known to go on where an earlier try was cut off.
  progress jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- One action at a time.
create unique index on release_actions (release_id) where state = 'running';
create index on release_actions (release_id);
create index on release_actions (workspace_id);
create index on release_actions (card_id) where card_id is not null;
create index on release_actions (request_id);
create index on release_actions (updated_at) where state = 'running';
create index on release_actions (updated_at) where state <> 'running';

-- What a promotion came to, card by card.
create table release_promotions (
  action_id uuid not null references release_actions on delete cascade,
  position integer not null,
  card_id uuid not null references cards,
  -- queued: the forge has the merge, and the card's own move tells how it ended.
  state text not null default 'pending' check (state in ('pending', 'promoted', 'refused', 'skipped', 'queued')),
  -- Of one promoted: what it merged. Of one refused or skipped: why.
  detail jsonb not null default '{}',
  -- How often somebody else was moving the card.
  tries integer not null default 0,
  primary key (action_id, position)
);
create index on release_promotions (card_id);
