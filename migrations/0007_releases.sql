-- Releases: their cards, branches and tags, promotions, and back-merges.

create table releases (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  -- Part of the branch name `release/{slug}`. It does not change with the name.
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
create index on releases (project_id, completed_at) where completed_at is not null;

create table release_cards (
  release_id uuid not null references releases on delete cascade,
  card_id uuid not null references cards,
  -- False if the release is completed. A card is in at most one open release.
  is_open boolean not null default true,
  -- When the card's commits were picked. Null for a card that was added before the freeze.
  picked_at timestamptz,
  -- True if the release was completed without the work of the card.
  is_missing boolean not null default false,
  primary key (release_id, card_id)
);
create unique index on release_cards (card_id) where is_open;

-- The tags that the completion of a release has created.
create table release_tags (
  release_id uuid not null references releases on delete cascade,
  repository_id uuid not null references repositories,
  tag_name text not null,
  sha text not null,
  -- How its GitHub release is published, stored before that. Null until then.
  published_as jsonb,
  -- The page of the GitHub release. Null until it is known to be published.
  url text,
  primary key (release_id, repository_id)
);

-- The branch of a frozen release in a repository, stored before it is created.
create table release_branches (
  release_id uuid not null references releases on delete cascade,
  repository_id uuid not null references repositories,
  branch_name text not null,
  -- The commit it starts from. A retry uses the same commit.
  start_sha text not null,
  -- The last tip that Trunkline wrote. Null until the branch is known to exist.
  head_sha text,
  primary key (release_id, repository_id)
);

alter table operations add foreign key (release_id) references releases on delete set null;

-- The result of a promotion for each card.
create table release_promotions (
  operation_id uuid not null references operations on delete cascade,
  position integer not null,
  card_id uuid not null references cards,
  -- queued: GitHub finishes the merge later, and the card's move has the result.
  state text not null default 'pending'
    check (state in ('pending', 'promoted', 'refused', 'skipped', 'queued')),
  -- For promoted: the merges. For refused and skipped: the reason.
  detail jsonb not null default '{}',
  -- Attempts that found another unfinished move of the card.
  tries integer not null default 0,
  primary key (operation_id, position)
);

-- Temporary branches that picks may have left on GitHub.
create table pick_branches (
  operation_id uuid not null references operations on delete cascade,
  repository_id uuid not null references repositories on delete cascade,
  primary key (operation_id, repository_id)
);

-- Commits that another branch needs: those of a landed hotfix in the earlier targets of the flow,
-- and those that were picked into a release from another branch than releases start from.
create table backmerges (
  card_id uuid not null references cards,
  repository_id uuid not null references repositories,
  target_branch text not null,
  -- Null for a hotfix.
  release_id uuid references releases on delete cascade,
  -- The landed commit. The back-merge is done when the target branch contains it.
  sha text not null,
  actor_id uuid not null references users,
  -- The pull request of the back-merge. Null until it is open.
  branch_name text,
  pr_number integer,
  -- GitHub's message if it refused to open the pull request.
  refusal text,
  landed_at timestamptz not null default now(),
  checked_at timestamptz not null default now(),
  cleared_at timestamptz,
  primary key (card_id, repository_id, target_branch)
);
create index on backmerges (repository_id, target_branch);
create index on backmerges (release_id) where release_id is not null;
create index on backmerges (checked_at) where cleared_at is null;
