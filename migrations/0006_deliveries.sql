create table deliveries (
  -- The forge's delivery id: the same one twice is one delivery.
  guid text primary key,
  seq bigint generated always as identity,
  event text not null,
  -- Deliveries of one lane are worked in order: `repository:<id>`, `installation:<id>` or `app`.
  lane text not null,
  payload text not null,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'parked')),
  attempts integer not null default 0,
  error text,
  received_at timestamptz not null default now(),
  worked_at timestamptz
);
create index on deliveries (lane, seq) where state = 'waiting';
create index on deliveries (received_at);
