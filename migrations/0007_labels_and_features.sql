-- What a board's cards are sorted by, across its projects.
create table labels (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  -- The name as names are compared: no two labels of a board differ by case only.
  folded_name text not null,
  color text not null,
  created_at timestamptz not null default now(),
  unique (workspace_id, folded_name)
);

create table card_labels (
  card_id uuid not null references cards on delete cascade,
  label_id uuid not null references labels on delete cascade,
  primary key (card_id, label_id)
);
create index on card_labels (label_id);

create table features (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  description text not null default '',
  color text not null,
  archived boolean not null default false,
  -- Their order on the board; it may have gaps, what is shown has none.
  position integer not null,
  created_at timestamptz not null default now()
);
create index on features (workspace_id);

alter table cards add column feature_id uuid references features on delete set null;
create index on cards (feature_id) where feature_id is not null;
