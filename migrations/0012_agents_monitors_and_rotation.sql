-- While a credential's secret is being exchanged the one before it holds, too.
alter table credentials
  add column previous_secret_hash bytea,
  add column previous_until timestamptz,
  add constraint credentials_exchange check ((previous_secret_hash is null) = (previous_until is null));

-- The forge accounts a board takes for agents, beyond those everybody knows. It says nothing about them to other boards.
create table workspace_agents (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index on workspace_agents (user_id);

-- Who may report production errors to a project.
create table monitors (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  -- As it is: a signature can only be checked with the secret itself.
  secret text not null,
  created_at timestamptz not null default now()
);
create index on monitors (project_id);

-- Reports that name themselves: a repeated one is one.
create table monitor_reports (
  monitor_id uuid not null references monitors on delete cascade,
  report_id text not null,
  received_at timestamptz not null default now(),
  primary key (monitor_id, report_id)
);
create index on monitor_reports (received_at);

-- Accounts are looked up by the name they were last seen under.
create index on users (lower(login)) where login is not null;
