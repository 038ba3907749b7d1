-- Cards, their labels and repositories, and their timelines with comments.

create table cards (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  -- Null if the project of a deleted card was deleted.
  project_id uuid references projects on delete set null,
  number integer not null,
  title text not null,
  description text not null default '',
  stage_id uuid references stages on delete set null,
  -- A fractional rank within the stage, in byte order, so that a move writes one row
  -- (docs/adr/0004).
  rank text collate "C" not null,
  priority text not null default 'none'
    check (priority in ('none', 'low', 'medium', 'high', 'urgent')),
  assignee_id uuid references users,
  parent_id uuid references cards,
  feature_id uuid references features on delete set null,
  due_date date,
  hotfix boolean not null default false,
  blocked jsonb,
  created_by uuid not null references users,
  -- A retry of the request finds the card instead of creating a second one.
  request_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  unique (workspace_id, number),
  -- For the foreign key of the card's links.
  unique (id, project_id),
  constraint cards_have_a_stage
    check (deleted_at is not null or (project_id is not null and stage_id is not null))
);
create unique index on cards (stage_id, rank) where deleted_at is null;
create index on cards (project_id) where deleted_at is null;
-- The inbox lists the few blocked cards of a project.
create index on cards (project_id) where blocked is not null and deleted_at is null;
create index on cards (request_id) where request_id is not null;
create index on cards (parent_id) where parent_id is not null;
create index on cards (assignee_id) where assignee_id is not null;
create index on cards (feature_id) where feature_id is not null;

create table card_labels (
  card_id uuid not null references cards on delete cascade,
  label_id uuid not null references labels on delete cascade,
  primary key (card_id, label_id)
);
create index on card_labels (label_id);

-- A card's link to a repository, and the branch that the card owns there.
create table card_repositories (
  card_id uuid not null references cards,
  repository_id uuid not null references repositories,
  -- The project that both the card and the repository belong to. Null after the repository left the
  -- card's project: the card still shows the link, and nothing acts on it. The foreign keys make it
  -- impossible that a usable link joins a card and a repository of different projects.
  project_id uuid,
  branch_name text,
  -- The last known tip of the branch. Null before the branch exists and after its deletion.
  head_sha text,
  -- When the tip was last written. Shortly after a change GitHub may still return older state.
  changed_at timestamptz not null default now(),
  -- The last change that was found without a webhook: when, and the tip.
  compared_at timestamptz,
  compared_sha text,
  primary key (card_id, repository_id),
  foreign key (card_id, project_id) references cards (id, project_id) deferrable initially deferred,
  foreign key (repository_id, project_id) references repositories (id, project_id)
    deferrable initially deferred
);
-- A branch belongs to one card.
create unique index on card_repositories (repository_id, branch_name) where project_id is not null;

-- In SQL, because a link must never outlast the repository's place in the project, however the
-- repository leaves: by the API, with a deleted project, or by a transfer to another organization.
create function update_links() returns trigger
language plpgsql as $$
begin
  update card_repositories set project_id = null where repository_id = old.id and project_id is not null;
  update card_repositories cr set project_id = new.project_id
    from cards c
   where cr.repository_id = new.id and c.id = cr.card_id and c.project_id = new.project_id;
  return null;
end $$;
create trigger repository_changes_project after update of project_id on repositories
  for each row when (old.project_id is distinct from new.project_id) execute function update_links();

-- The branches of unlinked cards. A card that is linked again gets its branch back, unless another
-- card owns it.
create table former_branches (
  repository_id uuid not null references repositories (id) on delete cascade,
  branch_name text not null,
  card_id uuid not null references cards (id) on delete cascade,
  left_at timestamptz not null default now(),
  primary key (repository_id, branch_name)
);
create index on former_branches (card_id);

create table timeline_items (
  id uuid primary key,
  -- The order of the timeline.
  seq bigint generated always as identity,
  card_id uuid not null references cards,
  type text not null check (type in ('event', 'comment')),
  kind text,
  actor_id uuid not null references users,
  -- The GitHub login of the actor, for what GitHub reported.
  login text,
  repository_id uuid references repositories,
  data jsonb not null default '{}',
  body text,
  at timestamptz not null default now(),
  edited_at timestamptz,
  -- For a comment: grows with each edit in Trunkline. A mirror with a lower revision is stale.
  revision integer not null default 0,
  -- For a comment from GitHub: GitHub's time of the last known change. Older events do not
  -- overwrite it.
  event_at timestamptz,
  -- For a comment that was deleted on GitHub: the row stays, without its text, so that a late event
  -- does not restore it.
  deleted_at timestamptz,
  -- Identifies the event, so that it is recorded once.
  natural_key text,
  check ((type = 'event') = (kind is not null)),
  check ((type = 'comment') = (body is not null))
);
create index on timeline_items (card_id, seq);
create index on timeline_items (card_id, seq) where kind = 'agent_gave_up';
-- The trunk report reads these events.
create index on timeline_items (card_id, at) where kind in ('status_changed', 'promotion_refused');
create unique index on timeline_items (card_id, natural_key) where natural_key is not null;

-- The copy of a comment on a pull request, stored before the copy is written.
create table comment_mirrors (
  comment_id uuid not null references timeline_items,
  repository_id uuid not null references repositories,
  pr_number integer not null,
  forge_comment_id bigint,
  -- The revision of the comment that the copy shows. Null until the copy is known to exist.
  shown_revision integer,
  -- Attempts to write the current revision.
  tries integer not null default 0,
  first_tried_at timestamptz,
  -- Until when a process has claimed the copy.
  held_until timestamptz,
  -- When a request without a known result may have written the copy. Until GitHub is certain to
  -- show it, Trunkline searches for the copy and does not write it again.
  unsure_since timestamptz,
  -- Deleted on GitHub. It is not written again.
  gone boolean not null default false,
  primary key (comment_id, repository_id, pr_number)
);
create unique index on comment_mirrors (repository_id, forge_comment_id)
  where forge_comment_id is not null;

-- Keys that are not configured and not rotated.
create table secrets (
  name text primary key,
  value bytea not null
);
-- Signs the marks in mirrored comments. 244 random bits from PostgreSQL's cryptographic generator.
insert into secrets (name, value)
  values ('comment_marks',
          decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
