-- Organizations, their boards (workspaces), users, and the credentials that call the API.

create table organizations (
  id uuid primary key,
  slug text not null unique,
  name text not null,
  forge_account_id bigint not null unique,
  installation_id bigint unique,
  suspended boolean not null default false,
  -- GitHub's message if it refuses the installation although the App is installed.
  refused text,
  -- Permissions that Trunkline needs and the installation lacks, for example `workflows: write`.
  missing_permissions text[] not null default '{}',
  -- Since when the installation is unusable: uninstalled, suspended or refused.
  broken_at timestamptz,
  -- Why the last failed call to GitHub got no response, and until when that is shown.
  unavailable_reason text,
  unavailable_until timestamptz,
  -- When GitHub was asked for this row. Responses to earlier requests do not overwrite it.
  asked_at timestamptz,
  -- Where the next comparison with GitHub continues: `{ repositoryId, branchName }`, or null.
  reconcile_from jsonb,
  -- Not null while a comparison is pending because GitHub refuses the installation. It skips what
  -- changed within this many milliseconds.
  deferred_comparison_min_age_ms integer,
  created_at timestamptz not null default now()
);

create table workspaces (
  id uuid primary key,
  organization_id uuid not null references organizations,
  name text not null,
  slug text not null,
  -- The number of the next card on this board.
  next_card_number integer not null default 1,
  created_at timestamptz not null default now(),
  unique (organization_id, slug)
);

create table users (
  id uuid primary key,
  kind text not null check (kind in ('human', 'machine', 'agent')),
  name text not null,
  avatar_url text,
  -- Only for GitHub accounts. The login may change, the id does not.
  forge_account_id bigint unique,
  login text,
  created_at timestamptz not null default now()
);
create index on users (lower(login)) where login is not null;

create table memberships (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('viewer', 'member', 'maintainer')),
  created_at timestamptz not null default now(),
  primary key (user_id, workspace_id)
);
create index on memberships (workspace_id);

-- GitHub accounts that a board treats as agents, in addition to the well-known ones.
create table workspace_agents (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  -- The person who answers for the agent's commits, or null.
  owner_id uuid references users,
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);

create table credentials (
  id uuid primary key,
  -- The public part of the API key; safe to log.
  client_id text not null unique,
  user_id uuid not null references users,
  -- The person as whom the credential counts where a stage needs a second person, or null.
  owner_id uuid references users,
  name text not null,
  -- The board for which it was issued, which lists it after its revocation.
  issued_for uuid references workspaces,
  scopes text[] not null,
  -- SHA-256 of the secret, which is not stored.
  secret_hash bytea not null,
  -- During a rotation the previous secret is valid, too.
  previous_secret_hash bytea,
  previous_until timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Changes with the credential, its user's memberships and their boards. A process compares it to
  -- find out whether a cached credential is stale (docs/adr/0007).
  version uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now(),
  constraint credentials_exchange check ((previous_secret_hash is null) = (previous_until is null))
);
create index on credentials (user_id);
create index on credentials (owner_id) where owner_id is not null;
create index on credentials (issued_for) where issued_for is not null;

-- When users last called the API or the console. Not a column of `credentials`, whose changes make
-- every process read the credential again.
create table last_uses (
  user_id uuid primary key references users on delete cascade,
  at timestamptz not null
);

-- Triggers write the stamps, so that every statement does, manual corrections included. Stamps are
-- random, so that a restored database never repeats one that a process has cached.
create function stamp_credential() returns trigger language plpgsql as $$
begin
  new.version := gen_random_uuid();
  return new;
end $$;
create trigger stamp_credential before update on credentials
  for each row execute function stamp_credential();

create function stamp_credentials_of_member() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update credentials set version = gen_random_uuid() where user_id = old.user_id;
  end if;
  if tg_op = 'INSERT' or (tg_op = 'UPDATE' and new.user_id <> old.user_id) then
    update credentials set version = gen_random_uuid() where user_id = new.user_id;
  end if;
  return null;
end $$;
create trigger stamp_credentials after insert or update or delete on memberships
  for each row execute function stamp_credentials_of_member();

-- A cached credential contains the organization of each board and lists the boards by age.
create function stamp_credentials_of_workspace() returns trigger language plpgsql as $$
begin
  update credentials set version = gen_random_uuid()
   where user_id in (select m.user_id from memberships m where m.workspace_id = new.id);
  return null;
end $$;
create trigger stamp_credentials after update of organization_id, created_at on workspaces
  for each row execute function stamp_credentials_of_workspace();
