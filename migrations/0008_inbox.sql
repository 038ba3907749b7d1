-- The inbox, and the monitors that report production errors to it.

-- Inbox items that stay until somebody acts on them or dismisses them. Items of all other kinds are
-- computed when the inbox is read.
create table inbox_items (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  project_id uuid not null references projects on delete cascade,
  card_id uuid references cards,
  repository_id uuid references repositories,
  kind text not null check (kind in ('branch_suggestion', 'branch_deleted', 'error_reported', 'move_disarmed')),
  -- Identifies the subject: a repeated report updates the open item.
  natural_key text not null,
  detail text not null,
  data jsonb not null default '{}',
  at timestamptz not null default now(),
  dismissed_at timestamptz,
  dismissed_by uuid references users
);
create unique index on inbox_items (project_id, kind, natural_key) where dismissed_at is null;
create index on inbox_items (natural_key, kind);
create index on inbox_items (project_id);

-- Services that may report production errors to a project.
create table monitors (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  -- In plain text: verifying an HMAC signature needs the secret itself.
  secret text not null,
  -- Null for the operator.
  created_by uuid references users,
  -- The users who got the secret.
  known_to uuid[] not null default '{}',
  -- Since when nobody knows the secret: it was replaced because one of them left the board or was demoted.
  stopped_at timestamptz,
  created_at timestamptz not null default now()
);
create index on monitors (project_id);

-- The ids of received reports, to ignore repeated ones.
create table monitor_reports (
  monitor_id uuid not null references monitors on delete cascade,
  report_id text not null,
  received_at timestamptz not null default now(),
  primary key (monitor_id, report_id)
);
create index on monitor_reports (received_at);
