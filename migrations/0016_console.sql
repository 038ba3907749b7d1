-- People's sessions in the console, and how they sign in (docs/adr/0014).

-- A session is a credential of a person: idempotency keys, claims and audit rows name it. The
-- credential's secret is the cookie; it expires when the session was idle for too long.
create table sessions (
  credential_id uuid primary key references credentials on delete cascade,
  -- The session ends then, however active it is.
  ends_at timestamptz not null,
  -- The person's token for GitHub, encrypted. Null after the end of the session.
  forge_token bytea
);

-- The states of finished sign-ins, so that a state is used once. What a sign-in needs until then is
-- in a sealed cookie: anybody can start one, which must not write.
create table sign_ins (
  state_hash bytea primary key,
  finished_at timestamptz not null default now()
);
create index on sign_ins (finished_at);

-- Links of the command line, whose first user becomes a maintainer of the board. A link is used
-- once: its row is deleted then.
create table sign_in_links (
  token_hash bytea primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  -- Whether the user also becomes an operator.
  is_operator boolean not null default false,
  expires_at timestamptz not null
);

-- Operators of the service see its operations page, and the installations of all organizations there.
alter table users add column is_operator boolean not null default false;

-- A cached credential contains whether its user is an operator.
create function stamp_credentials_of_operator() returns trigger language plpgsql as $$
begin
  update credentials set version = gen_random_uuid() where user_id = new.id;
  return null;
end $$;
create trigger stamp_credentials after update of is_operator on users
  for each row when (old.is_operator <> new.is_operator) execute function stamp_credentials_of_operator();

-- GitHub accounts that become members of a board when they sign in. The login is the one with which
-- the account was invited; only its id counts, because logins can be renamed and used again.
create table invitations (
  id uuid primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  forge_account_id bigint not null,
  login text not null,
  avatar_url text,
  role text not null check (role in ('viewer', 'member', 'maintainer')),
  invited_by uuid not null references users,
  created_at timestamptz not null default now(),
  unique (forge_account_id, workspace_id)
);
create index on invitations (workspace_id);

-- A session does not reach a board on which its account is registered as an agent, so cached
-- credentials become stale then.
create function stamp_credentials_of_agent() returns trigger language plpgsql as $$
begin
  update credentials set version = gen_random_uuid() where user_id = coalesce(new.user_id, old.user_id);
  return null;
end $$;
create trigger stamp_credentials after insert or delete on workspace_agents
  for each row execute function stamp_credentials_of_agent();
