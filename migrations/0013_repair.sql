-- How a delivery came in: sent by the forge, or read from its log because it never arrived.
alter table deliveries add column source text not null default 'webhook' check (source in ('webhook', 'log'));
create index on deliveries (seq) where state = 'parked';

-- How far each repair that goes along the forge's time has come.
create table repairs (
  name text primary key,
  done_until timestamptz not null
);

alter table organizations
  -- The forge's words where it refuses to let us in although the App is installed.
  add column refused text,
  -- What the installation does not grant of what is needed, `workflows: write`.
  add column missing_permissions text[] not null default '{}',
  -- Since when it can be used no more: removed, suspended or refused.
  add column broken_at timestamptz,
  -- When the forge was asked for what is written here: an answer to an earlier question changes nothing.
  add column asked_at timestamptz;

alter table repositories
  -- Null once it belongs to an account of another organization: there it is another row, and what was done here stays told here.
  alter column forge_id drop not null,
  add column disconnected_at timestamptz,
  add column asked_at timestamptz,
  add column last_webhook_at timestamptz,
  add column last_reconciled_at timestamptz;
