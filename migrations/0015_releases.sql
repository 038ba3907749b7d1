-- What a project ships together.
create table releases (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  -- Names its branch, `release/{slug}`, in every repository of the project; it does not follow the name.
  slug text not null,
  status text not null default 'open' check (status in ('open', 'completed')),
  frozen_at timestamptz,
  completed_at timestamptz,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  unique (project_id, slug),
  check ((status = 'completed') = (completed_at is not null))
);
create index on releases (project_id, id);
create index on releases (completed_at) where completed_at is not null;

-- The scope of a release; of a completed one, what it carried.
create table release_cards (
  release_id uuid not null references releases on delete cascade,
  card_id uuid not null references cards,
  -- False once the release is completed: a card is in one open release at the most.
  is_open boolean not null default true,
  -- When its commits were picked onto the release's branches; null for a card that was there before the freeze.
  picked_at timestamptz,
  added_at timestamptz not null default now(),
  primary key (release_id, card_id)
);
create unique index on release_cards (card_id) where is_open;
create index on release_cards (card_id);

-- The tags a release's completion has written.
create table release_tags (
  release_id uuid not null references releases on delete cascade,
  repository_id uuid not null references repositories,
  tag_name text not null,
  sha text not null,
  -- The page of its provider release; null before that is published.
  url text,
  primary key (release_id, repository_id)
);
create index on release_tags (repository_id);
