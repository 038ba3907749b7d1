-- The documents of a board. They nest, within their board.
create table pages (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  title text not null,
  -- Follows the title; what it was before is in page_slugs.
  slug text not null,
  parent_id uuid,
  -- Fractional rank among its siblings, as cards have in their column.
  rank text collate "C" not null,
  body text not null default '',
  created_by uuid not null references users,
  updated_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, slug),
  unique (workspace_id, id),
  foreign key (workspace_id, parent_id) references pages (workspace_id, id)
);
-- Pages without a parent are siblings too.
create unique index on pages (workspace_id, coalesce(parent_id, workspace_id), rank);
create index on pages (parent_id) where parent_id is not null;

-- Which page a slug leads to: its own, and those it had before, until another page takes them.
create table page_slugs (
  workspace_id uuid not null references workspaces,
  slug text not null,
  page_id uuid not null references pages on delete cascade,
  primary key (workspace_id, slug)
);
create index on page_slugs (page_id);

-- The slugs a page's body links to, in the order of the text, whether or not a page has them.
create table page_links (
  page_id uuid not null references pages on delete cascade,
  workspace_id uuid not null references workspaces,
  slug text not null,
  position integer not null,
  primary key (page_id, slug)
);
create index on page_links (workspace_id, slug);

-- The same for a card's description.
create table card_page_links (
  card_id uuid not null references cards on delete cascade,
  workspace_id uuid not null references workspaces,
  slug text not null,
  position integer not null,
  primary key (card_id, slug)
);
create index on card_page_links (workspace_id, slug);

-- The pages a card was given to carry.
create table card_pages (
  card_id uuid not null references cards on delete cascade,
  page_id uuid not null references pages on delete cascade,
  primary key (card_id, page_id)
);
create index on card_pages (page_id);
