-- Outgoing webhooks: addresses that receive the events of a board in order.

create table webhooks (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  url text not null,
  -- The host in the URL: each receiver has a share of the sender.
  receiver text not null,
  -- Null for all kinds.
  kinds text[],
  -- In plain text: signing needs the secret itself.
  secret text not null,
  created_by uuid references users,
  -- The users who chose its URL or got its secret. Deliveries stop when one of them leaves the board.
  known_to uuid[] not null default '{}',
  previous_secret text,
  previous_secret_until timestamptz,
  -- The number of the last event that was delivered or that the kinds leave out.
  position bigint not null,
  -- Failed attempts at the next event, and when the first of them was.
  attempts integer not null default 0,
  failing_since timestamptz,
  next_attempt_at timestamptz not null default now(),
  paused_reason text check (paused_reason in ('maintainer', 'failing', 'gone', 'left')),
  paused_at timestamptz,
  -- The process that delivers now. Any process may take over after `leased_until`.
  lease uuid,
  leased_until timestamptz,
  created_at timestamptz not null default now(),
  check ((paused_reason is null) = (paused_at is null)),
  check ((lease is null) = (leased_until is null)),
  check ((previous_secret is null) = (previous_secret_until is null))
);
create index on webhooks (workspace_id);
create index on webhooks (next_attempt_at) where paused_reason is null;

-- Each attempt, also of a ping, which is no event of the feed.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  webhook_id uuid not null references webhooks on delete cascade,
  event_id text not null,
  kind text not null,
  -- Null if there was no response; `error` says why.
  status integer,
  error text,
  -- The start of the response's body.
  response text not null,
  ms integer not null,
  at timestamptz not null default now(),
  check ((status is null) = (error is not null))
);
create index on webhook_deliveries (webhook_id, id);
create index on webhook_deliveries (at);
