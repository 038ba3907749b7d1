-- Moves that wait until their checks have passed and their reviews are given. A row exists while the
-- move waits; the events `armed` and `disarmed` are its history.

create table armed_moves (
  -- A card has at most one.
  card_id uuid primary key references cards,
  id uuid not null unique,
  workspace_id uuid not null references workspaces,
  stage_id uuid not null references stages,
  index integer not null,
  actor_id uuid not null references users,
  -- Whether the actor used a session of the console, not an API key.
  is_human boolean not null,
  -- What the actor agreed to: { "<repository id>": { sha, targetBranch, prNumber, isDraft } }.
  armed_with jsonb not null,
  -- Refusals, as in `blocked.reasons`.
  waiting_for jsonb not null,
  expires_at timestamptz not null,
  -- When GitHub was last asked, so that the periodic job asks about the longest waiting ones.
  inspected_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  -- The attempt of the audit log that armed the move. What it causes later belongs to it, too.
  attempt_id uuid default current_attempt()
);
create index on armed_moves (stage_id);
create index on armed_moves (expires_at);
create index on armed_moves (inspected_at);
