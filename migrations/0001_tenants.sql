create table organizations (
  id uuid primary key,
  slug text not null unique,
  name text not null,
  forge_account_id bigint not null unique,
  installation_id bigint unique,
  suspended boolean not null default false,
  created_at timestamptz not null default now()
);

create table workspaces (
  id uuid primary key,
  organization_id uuid not null references organizations,
  name text not null,
  slug text not null,
  -- The number the next card of this board gets.
  next_card_number integer not null default 1,
  created_at timestamptz not null default now(),
  unique (organization_id, slug)
);

create table users (
  id uuid primary key,
  kind text not null check (kind in ('human', 'machine', 'agent')),
  name text not null,
  avatar_url text,
  -- Set for forge accounts only; login may change, the id does not.
  forge_account_id bigint unique,
  login text,
  created_at timestamptz not null default now()
);

create table memberships (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('viewer', 'member', 'maintainer')),
  created_at timestamptz not null default now(),
  primary key (user_id, workspace_id)
);
create index on memberships (workspace_id);

create table credentials (
  id uuid primary key,
  -- The public half, part of the key and safe to log.
  client_id text not null unique,
  user_id uuid not null references users,
  name text not null,
  scopes text[] not null,
  -- SHA-256 of the secret; the secret itself is shown once and kept nowhere.
  secret_hash bytea not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
