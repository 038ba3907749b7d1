-- The branch of a frozen release in a repository; written down before it is cut.
create table release_branches (
  release_id uuid not null references releases on delete cascade,
  repository_id uuid not null references repositories,
  branch_name text not null,
  -- The commit it is cut from: a retry cuts it nowhere else.
  cut_sha text not null,
  -- Its tip as we left it; null before it is known to be there.
  head_sha text,
  primary key (release_id, repository_id)
);
create index on release_branches (repository_id);
