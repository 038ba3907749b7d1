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

alter table organizations
  -- Where the comparison with the forge goes on: `{ repositoryId, branchName }`; null at the beginning.
  add column reconcile_from jsonb;

alter table card_repositories
  -- When the branch's tip was last written: what the forge shows of something just changed may be older than that.
  add column changed_at timestamptz not null default now(),
  -- The last change of the branch that was found rather than told: when, and what it came to.
  add column found_at timestamptz,
  add column found_sha text;
alter table pull_requests add column changed_at timestamptz not null default now();
alter table check_reports add column changed_at timestamptz not null default now();
