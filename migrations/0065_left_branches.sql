-- The branches that cards left when they were unlinked from a repository, each with the card that had it last: linked again, that card takes it up
-- where nobody else has it.
create table left_branches (
  repository_id uuid not null references repositories (id) on delete cascade,
  branch_name text not null,
  card_id uuid not null references cards (id) on delete cascade,
  left_at timestamptz not null default now(),
  primary key (repository_id, branch_name)
);
create index on left_branches (card_id);
