create table timeline_items (
  id uuid primary key,
  -- The order recorded, which is the order told.
  seq bigint generated always as identity,
  card_id uuid not null references cards,
  type text not null check (type in ('event', 'comment')),
  kind text,
  actor_id uuid not null references users,
  -- The forge login, for what the forge reported.
  login text,
  repository_id uuid references repositories,
  data jsonb not null default '{}',
  body text,
  at timestamptz not null default now(),
  edited_at timestamptz,
  -- Names the happening, so that it is told once however often and by whichever way we hear of it.
  natural_key text,
  check ((type = 'event') = (kind is not null)),
  check ((type = 'comment') = (body is not null))
);
create index on timeline_items (card_id, seq);
create unique index on timeline_items (card_id, natural_key) where natural_key is not null;
