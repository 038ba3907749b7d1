-- Projects with their flows and repositories, and the labels and features of a board.

create table projects (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  slug text not null,
  description text not null default '',
  -- The settings of the project's flow. Its stages are rows of `stages`.
  releases boolean not null default true,
  branch_pattern text not null,
  merge_method text not null default 'merge' check (merge_method in ('merge', 'squash', 'rebase')),
  checks text not null default 'required' check (checks in ('required', 'ignored')),
  stale_after_days integer not null default 14,
  agent_silence_hours integer not null default 24,
  -- What a merge has to prove besides what GitHub demands.
  independent_approval boolean not null default true,
  bypass_rules boolean not null default false,
  checks_start_seconds integer not null default 60,
  created_at timestamptz not null default now(),
  unique (workspace_id, slug)
);

create table stages (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  position integer not null,
  name text not null,
  kind text not null check (kind in ('backlog', 'stage', 'done')),
  min_role text not null default 'member' check (min_role in ('viewer', 'member', 'maintainer')),
  rule_type text not null
    check (rule_type in ('none', 'branch', 'draft_pull_request', 'pull_request', 'merge')),
  -- The branch that a merge stage merges into. Null is the repository's default branch.
  rule_into text,
  -- The gates: conditions for entering the stage.
  wip_limit integer check (wip_limit between 1 and 10000),
  human_only boolean not null default false,
  second_person boolean not null default false,
  unique (project_id, position) deferrable initially immediate
);

create table repositories (
  id uuid primary key,
  organization_id uuid not null references organizations,
  -- A repository belongs to at most one project, so a branch name never belongs to two cards.
  project_id uuid references projects on delete set null,
  -- GitHub's id. Null after a transfer to another organization, which has a new row; this row keeps
  -- the history.
  forge_id bigint unique,
  -- GitHub's GraphQL id.
  node_id text,
  full_name text not null,
  -- Where GitHub's pages are: the repository's is `<forge_url>/<full_name>`.
  forge_url text not null default 'https://github.com',
  default_branch text not null,
  link_by_default boolean not null default false,
  -- False if the installation no longer grants access.
  connected boolean not null default true,
  disconnected_at timestamptz,
  -- An archived repository is read-only on GitHub.
  archived boolean not null default false,
  -- When GitHub was asked for this row. Responses to earlier requests do not overwrite it.
  asked_at timestamptz,
  -- When GitHub last refused draft pull requests or asynchronous merges here. Null is unknown.
  lacks_drafts_at timestamptz,
  lacks_async_merge_at timestamptz,
  last_webhook_at timestamptz,
  last_reconciled_at timestamptz,
  created_at timestamptz not null default now(),
  -- For the foreign key of a card's links.
  unique (id, project_id)
);
create index on repositories (project_id);
create index on repositories (organization_id);

create table labels (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  -- The name in Unicode NFC and lower case. No two labels of a board share it.
  folded_name text not null,
  color text not null,
  created_at timestamptz not null default now(),
  unique (workspace_id, folded_name)
);

create table features (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  description text not null default '',
  color text not null,
  archived boolean not null default false,
  -- May have gaps; the API numbers features without gaps.
  position integer not null,
  created_at timestamptz not null default now()
);
create index on features (workspace_id);
