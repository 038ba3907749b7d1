create table cards (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  project_id uuid not null references projects,
  number integer not null,
  title text not null,
  description text not null default '',
  stage_id uuid not null references stages,
  -- Fractional rank within the stage: a move writes one row however long the column is. Byte order is its order.
  rank text collate "C" not null,
  priority text not null default 'none' check (priority in ('none', 'low', 'medium', 'high', 'urgent')),
  assignee_id uuid references users,
  parent_id uuid references cards,
  due_date date,
  hotfix boolean not null default false,
  blocked jsonb,
  created_by uuid not null references users,
  -- The request that created it: its retry finds this card instead of making a second one.
  request_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  unique (workspace_id, number)
);
create unique index on cards (stage_id, rank) where deleted_at is null;
create index on cards (project_id) where deleted_at is null;
create index on cards (request_id) where request_id is not null;
create index on cards (parent_id) where parent_id is not null;

-- A card's link to a repository, and the branch it owns there.
create table card_repositories (
  card_id uuid not null references cards,
  repository_id uuid not null references repositories,
  branch_name text,
  -- The branch's tip as last heard; null before there is one and after it was deleted.
  head_sha text,
  linked_at timestamptz not null default now(),
  primary key (card_id, repository_id)
);
-- A branch belongs to one card.
create unique index on card_repositories (repository_id, branch_name);

create table pull_requests (
  repository_id uuid not null references repositories,
  number integer not null,
  card_id uuid not null references cards,
  node_id text not null,
  target_branch text not null,
  state text not null check (state in ('draft', 'open', 'merged', 'closed')),
  head_sha text not null,
  merge_sha text,
  -- The forge's own time of what was last heard of it: older news changes nothing.
  heard_at timestamptz,
  primary key (repository_id, number)
);
create index on pull_requests (card_id);

-- The newest report of each check run or commit status series on a card's commits.
create table check_reports (
  repository_id uuid not null references repositories on delete cascade,
  sha text not null,
  source text not null check (source in ('check_run', 'status')),
  name text not null,
  app_id bigint not null default 0,
  forge_id bigint not null,
  outcome text not null check (outcome in ('passing', 'failing', 'pending', 'skipped')),
  primary key (repository_id, sha, source, name, app_id)
);
