-- How a delivery came in: sent by the forge, or read from its log because it never arrived.
alter table deliveries add column source text not null default 'webhook' check (source in ('webhook', 'log'));
create index on deliveries (seq) where state = 'parked';

-- How far each repair that goes along the forge's time has come.
create table repairs (
  name text primary key,
  done_until timestamptz not null
);
