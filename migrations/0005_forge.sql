-- What GitHub reports about repositories, its deliveries, and the limits of calls to it.

create table pull_requests (
  repository_id uuid not null references repositories,
  number integer not null,
  card_id uuid not null references cards,
  node_id text not null,
  target_branch text not null,
  -- Null until GitHub reports it.
  head_branch text,
  state text not null check (state in ('draft', 'open', 'merged', 'closed')),
  head_sha text not null,
  merge_sha text,
  -- GitHub's time of the last known change. Older events do not overwrite it.
  event_at timestamptz,
  -- The action of that event. Of two events within one second, `opened` is the earlier.
  event_action text,
  changed_at timestamptz not null default now(),
  primary key (repository_id, number)
);
create index on pull_requests (card_id);
-- The inbox lists open pull requests with failing checks.
create index on pull_requests (repository_id) where state in ('draft', 'open');
-- Finds the pull request of a landing by its merge commit.
create index on pull_requests (repository_id, merge_sha) where merge_sha is not null;

-- What only GitHub knows of a card's branch, compared with a target: the answer of the last inspection. Webhooks keep
-- the other facts (`card_repositories`, `pull_requests`, `check_reports`), and say here when an answer
-- no longer holds.
create table branch_snapshots (
  card_id uuid not null,
  repository_id uuid not null,
  target_branch text not null,
  -- When GitHub was asked. An answer never replaces that to a later question.
  asked_at timestamptz not null,
  -- The branch and the tips that were compared. Null for a tip that did not exist.
  branch_name text not null,
  head_sha text,
  target_sha text,
  ahead_by integer,
  behind_by integer,
  -- The open pull request, or null. `mergeable` is null until GitHub has computed it.
  pr_number integer,
  mergeable text check (mergeable in ('mergeable', 'conflicting')),
  review_decision text check (review_decision in ('approved', 'changes_requested', 'review_required')),
  is_in_merge_queue boolean not null,
  -- The last push to the target and its tip since then, by webhook.
  target_moved_at timestamptz,
  target_moved_to text,
  -- The last review or change of the pull request, by webhook.
  pull_changed_at timestamptz,
  primary key (card_id, repository_id, target_branch),
  foreign key (card_id, repository_id) references card_repositories on delete cascade
);
create index on branch_snapshots (repository_id, target_branch);

-- The newest report of each check run, commit status or check suite without runs.
create table check_reports (
  repository_id uuid not null references repositories on delete cascade,
  sha text not null,
  source text not null check (source in ('check_run', 'check_suite', 'status')),
  name text not null,
  app_id bigint not null default 0,
  -- The check suite of a run, 0 for a status: runs of one name in two suites are two checks.
  suite_id bigint not null default 0,
  forge_id bigint not null,
  outcome text not null check (outcome in ('passing', 'failing', 'pending', 'skipped')),
  -- The branches for which it ran. Other branches at the commit may have no commits of their own.
  branch_names text[] not null default '{}',
  changed_at timestamptz not null default now(),
  primary key (repository_id, sha, source, name, app_id, suite_id)
);
-- Reports on commits that nothing refers to are deleted by age.
create index on check_reports (changed_at);

-- Pull requests into a card's branch. Those of agents are proposals, which a person approves in the
-- console or on GitHub.
create table proposals (
  repository_id uuid not null references repositories,
  number integer not null,
  card_id uuid not null references cards,
  author_id uuid not null references users,
  title text not null,
  head_branch text not null,
  target_branch text not null,
  state text not null check (state in ('draft', 'open', 'merged', 'closed')),
  head_sha text not null,
  -- Grows each time the pull request is reopened.
  round integer not null default 1,
  opened_at timestamptz not null,
  -- The card's newest timeline item at the last push or reopening. An agent that gave up before
  -- then has resumed its work.
  revived_after bigint not null default 0,
  -- GitHub's time of the last known change. Older events do not overwrite it.
  event_at timestamptz,
  primary key (repository_id, number)
);
create index on proposals (card_id);
create index on proposals (repository_id) where state in ('draft', 'open');

-- When each user last acted on a card's branch and its pull requests (pr_number 0) or on a
-- proposal.
create table last_reactions (
  card_id uuid not null references cards,
  repository_id uuid not null references repositories,
  pr_number integer not null,
  user_id uuid not null references users,
  -- Whether the user has pushed or opened a pull request, not only commented.
  works boolean not null,
  acted_at timestamptz not null,
  primary key (card_id, repository_id, pr_number, user_id)
);

-- The reviews, failing checks and questions that an agent should react to.
create table awaited_reactions (
  card_id uuid not null references cards,
  repository_id uuid not null references repositories,
  pr_number integer not null,
  kind text not null check (kind in ('changes_requested', 'checks_failing', 'question')),
  -- The review, the commit, or the comment.
  subject text not null,
  asked_by uuid references users,
  asked_at timestamptz not null,
  primary key (card_id, repository_id, pr_number, kind, subject)
);
create index on awaited_reactions (repository_id);

-- The branches that a project's flow merges into, and how far their history has been read.
create table trunks (
  repository_id uuid not null references repositories on delete cascade,
  branch_name text not null,
  -- The tip when the history was last read.
  head_sha text not null,
  -- The newest tip that events reported, and when. Null if unknown.
  tip_sha text,
  tip_at timestamptz,
  -- The landings up to this commit are final. Later ones are read again, because GitHub assigns a
  -- commit to its pull request with a delay.
  attributed_sha text,
  -- Earlier landings are unknown.
  known_since timestamptz not null,
  primary key (repository_id, branch_name)
);

-- What landed on a trunk branch, according to GitHub.
create table landings (
  repository_id uuid not null,
  branch_name text not null,
  -- `#7` for all commits of pull request 7, otherwise the commit.
  key text not null,
  -- The order along the branch.
  seq bigint generated always as identity,
  -- The newest of its commits on the branch.
  sha text not null,
  title text not null,
  -- The committer date of that commit.
  at timestamptz not null,
  author_login text,
  pr_number integer,
  -- The commit that this landing reverts, and the reverting commit itself if it came with a merge.
  reverts_sha text,
  reverting_sha text,
  -- False for the revert of a revert, which restores the work.
  is_revert boolean not null,
  primary key (repository_id, branch_name, key),
  foreign key (repository_id, branch_name) references trunks on delete cascade
);
create index on landings (repository_id, branch_name, at);
create index on landings (repository_id, branch_name, sha);
create index on landings (repository_id, branch_name, reverting_sha)
  where reverting_sha is not null;

-- Webhook deliveries. Those of one lane are processed in order.
create table deliveries (
  -- GitHub's delivery id.
  guid text primary key,
  seq bigint generated always as identity,
  event text not null,
  -- `repository:<id>`, `installation:<id>` or `app`.
  lane text not null,
  payload text not null,
  -- `log` for a lost delivery that was read from GitHub's delivery log.
  source text not null default 'webhook' check (source in ('webhook', 'log')),
  state text not null default 'waiting' check (state in ('waiting', 'done', 'parked')),
  attempts integer not null default 0,
  -- Processes that died while processing it.
  crashes integer not null default 0,
  error text,
  -- For a deferred event: the number of a pull request that is not known yet. The delivery is
  -- replayed when it becomes known.
  awaits_pull_request integer,
  received_at timestamptz not null default now(),
  processed_at timestamptz
);
create index on deliveries (lane, seq) where state = 'waiting';
create index on deliveries (seq) where state = 'parked';
create index on deliveries (lane, awaits_pull_request) where awaits_pull_request is not null;
create index on deliveries (received_at);

-- Up to when each job has done its work.
create table job_progress (
  name text primary key,
  done_until timestamptz not null
);

-- When an installation may write next. GitHub counts the calls of all processes together.
create table forge_turns (
  installation_id bigint primary key,
  -- When the next writing call may begin.
  next_write_at timestamptz not null default now(),
  -- When the allowance for content-creating calls has fully recovered.
  recovered_at timestamptz not null default now()
);

-- Limits of requests that GitHub reported to any process.
create table forge_limits (
  -- An installation id, `app`, or `nobody` for calls without authentication.
  account text primary key,
  -- No process sends a request before then.
  limited_until timestamptz not null,
  -- Limits in a row for which GitHub stated no time. Each doubles the wait.
  repeats integer not null,
  -- Whether GitHub limited a write. A successful read does not end the row then.
  by_write boolean not null
);
