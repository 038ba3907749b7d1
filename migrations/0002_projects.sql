create table projects (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  slug text not null,
  description text not null default '',
  -- The flow's settings; its stages are rows of their own.
  releases boolean not null default true,
  branch_pattern text not null default 'card/{number}-{slug}',
  merge_method text not null default 'merge' check (merge_method in ('merge', 'squash', 'rebase')),
  checks text not null default 'required' check (checks in ('required', 'ignored')),
  stale_after_days integer not null default 14,
  agent_silence_hours integer not null default 24,
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
  rule_type text not null check (rule_type in ('none', 'branch', 'draft_pull_request', 'pull_request', 'merge')),
  -- Of a merge: the branch merged into; null is the repository's default branch.
  rule_into text,
  unique (project_id, position) deferrable initially immediate
);

create table repositories (
  id uuid primary key,
  organization_id uuid not null references organizations,
  -- At most one project owns a repository, so a branch name never belongs to two cards.
  project_id uuid references projects on delete set null,
  forge_id bigint not null unique,
  full_name text not null,
  default_branch text not null,
  link_by_default boolean not null default false,
  -- False once the installation no longer grants it.
  connected boolean not null default true,
  created_at timestamptz not null default now()
);
create index on repositories (project_id);
create index on repositories (organization_id);
