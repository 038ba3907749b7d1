-- The pages of a board, and the links between pages and cards.

create table pages (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  title text not null,
  -- Changes with the title. `page_slugs` has the latest earlier slugs.
  slug text not null,
  parent_id uuid,
  -- A fractional rank among the pages with the same parent, in byte order.
  rank text collate "C" not null,
  body text not null default '',
  created_by uuid not null references users,
  updated_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, slug),
  unique (workspace_id, id),
  -- A page and its parent are on the same board.
  foreign key (workspace_id, parent_id) references pages (workspace_id, id)
);
-- `coalesce`, because null is distinct from null in a unique index.
create unique index on pages (workspace_id, coalesce(parent_id, workspace_id), rank);
create index on pages (parent_id) where parent_id is not null;

-- The current slugs of pages, and the latest earlier ones until another page uses them.
create table page_slugs (
  workspace_id uuid not null references workspaces,
  slug text not null,
  page_id uuid not null references pages on delete cascade,
  -- Not the start of the transaction, which may have waited for another one.
  taken_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, slug)
);
create index on page_slugs (page_id, taken_at);

-- The slugs that a page's body links to. A page with the slug need not exist. `page_slug` is the part
-- before a `#`, if there is one: `[[Deploy guide#Rollback]]` links to a heading of a page, unless a
-- page has this title.
create table page_links (
  page_id uuid not null references pages on delete cascade,
  workspace_id uuid not null references workspaces,
  slug text not null,
  page_slug text,
  position integer not null,
  primary key (page_id, position)
);
create index on page_links (workspace_id, slug);
create index on page_links (workspace_id, page_slug) where page_slug is not null;

-- The slugs that a card's description links to.
create table card_page_links (
  card_id uuid not null references cards on delete cascade,
  workspace_id uuid not null references workspaces,
  slug text not null,
  page_slug text,
  position integer not null,
  primary key (card_id, position)
);
create index on card_page_links (workspace_id, slug);
create index on card_page_links (workspace_id, page_slug) where page_slug is not null;

-- The pages that are attached to a card.
create table card_pages (
  card_id uuid not null references cards on delete cascade,
  page_id uuid not null references pages on delete cascade,
  primary key (card_id, page_id)
);
create index on card_pages (page_id);
