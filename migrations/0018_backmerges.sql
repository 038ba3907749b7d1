-- A landed hotfix, and a branch earlier in the flow that has to get it, too.
create table backmerges (
  card_id uuid not null references cards,
  repository_id uuid not null references repositories,
  target_branch text not null,
  -- The commit that landed: the target is served once it contains it.
  sha text not null,
  actor_id uuid not null references users,
  -- The pull request that brings it there, once it is open.
  branch_name text,
  pr_number integer,
  -- The forge's words where it could not be opened.
  refusal text,
  landed_at timestamptz not null default now(),
  looked_at timestamptz not null default now(),
  cleared_at timestamptz,
  primary key (card_id, repository_id, target_branch)
);
create index on backmerges (repository_id, target_branch);
create index on backmerges (looked_at) where cleared_at is null;

-- What is meant for a card is looked for by the card, too.
create index on forge_intents (card_id);
