-- How far the history of each trunk branch is known: of a project's repositories, the branches its flow merges into.
create table trunks (
  repository_id uuid not null references repositories on delete cascade,
  branch_name text not null,
  -- The branch's tip when its history was last read.
  head_sha text not null,
  -- A commit whose landing will be told no otherwise any more: the forge needs a while to know which pull request brought a commit.
  settled_sha text,
  -- What landed before is not known.
  known_since timestamptz not null,
  primary key (repository_id, branch_name)
);

-- What the forge says landed on a trunk branch.
create table landings (
  repository_id uuid not null,
  branch_name text not null,
  -- The pull request's number, as `#7`, whose commits are one landing however they were merged; else the commit.
  key text not null,
  -- The order along the branch.
  seq bigint generated always as identity,
  -- The newest of its commits on the branch.
  sha text not null,
  title text not null,
  -- When that commit was made, as git has it.
  at timestamptz not null,
  author_login text,
  pr_number integer,
  -- The commit it undoes, and the one that does so where that came with a merge.
  reverts_sha text,
  reverting_sha text,
  -- False for what undoes a revert: the work is back.
  is_revert boolean not null,
  primary key (repository_id, branch_name, key),
  foreign key (repository_id, branch_name) references trunks on delete cascade
);
create index on landings (repository_id, branch_name, at);
create index on landings (repository_id, branch_name, sha);
create index on landings (repository_id, branch_name, reverting_sha) where reverting_sha is not null;

-- What the trunk report reads of the cards' timelines.
create index on timeline_items (card_id, at) where kind in ('status_changed', 'promotion_refused');
-- A landing finds its pull request by the merge's commit, where the forge does not say.
create index on pull_requests (repository_id, merge_sha) where merge_sha is not null;
