-- What an armed move waits for. A row exists while its operation waits, and while that runs because it
-- was ready; the events `armed` and `disarmed` are its history.

create table armed_moves (
  operation_id uuid primary key references operations on delete cascade,
  -- A card has at most one.
  card_id uuid not null unique references cards,
  -- What the actor agreed to: { "<repository id>": { sha, targetBranch, prNumber, isDraft } }.
  armed_with jsonb not null,
  -- Refusals, as in `blocked.reasons`.
  waiting_for jsonb not null,
  expires_at timestamptz not null,
  -- When GitHub was last asked, so that the periodic job asks about the longest waiting ones.
  inspected_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);
create index on armed_moves (expires_at);
create index on armed_moves (inspected_at);
