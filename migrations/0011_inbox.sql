-- What waits in the inbox until somebody puts it away. All other kinds of items are computed when the inbox is read.
create table inbox_items (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  project_id uuid not null references projects on delete cascade,
  card_id uuid references cards,
  repository_id uuid references repositories,
  kind text not null check (kind in ('branch_suggestion', 'branch_deleted', 'error_reported')),
  -- Names what it is about: told again, the same thing updates its item.
  natural_key text not null,
  detail text not null,
  data jsonb not null default '{}',
  at timestamptz not null default now(),
  dismissed_at timestamptz,
  dismissed_by uuid references users
);
create unique index on inbox_items (project_id, kind, natural_key) where dismissed_at is null;
create index on inbox_items (natural_key, kind);
create index on inbox_items (workspace_id);
create index on inbox_items (project_id);
create index on inbox_items (card_id) where card_id is not null;
create index on inbox_items (repository_id) where repository_id is not null;

-- The inbox looks for the few cards that something stands in the way of.
create index on cards (project_id) where blocked is not null and deleted_at is null;
-- And for pull requests with broken checks.
create index on pull_requests (repository_id) where state in ('draft', 'open');
