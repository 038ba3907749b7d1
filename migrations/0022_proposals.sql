-- Pull requests of others that aim at a card's branch. An agent's is a proposal: merging it, on the forge, approves it.
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
  -- Grows each time it is opened again.
  round integer not null default 1,
  opened_at timestamptz not null,
  -- The card's newest timeline item when it was last pushed to or opened again: who gave up before has gone on since.
  revived_after bigint not null default 0,
  -- The forge's own time of what was last heard of it: older news changes nothing.
  heard_at timestamptz,
  primary key (repository_id, number)
);
create index on proposals (card_id);
create index on proposals (author_id);
create index on proposals (repository_id) where state in ('draft', 'open');

create index on timeline_items (card_id, seq) where kind = 'agent_gave_up';

-- Who did something on a card's branch and its pull requests (pr_number 0), or on a proposal, and when last.
create table conversation_turns (
  card_id uuid not null references cards,
  repository_id uuid not null references repositories,
  pr_number integer not null,
  user_id uuid not null references users,
  -- Has pushed commits there or opened the pull request, and not only talked about it.
  works boolean not null,
  acted_at timestamptz not null,
  primary key (card_id, repository_id, pr_number, user_id)
);
create index on conversation_turns (repository_id);
create index on conversation_turns (user_id);

-- What waits there for a reaction. That one came is told by the turns.
create table conversation_asks (
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
create index on conversation_asks (repository_id);
create index on conversation_asks (asked_by) where asked_by is not null;
