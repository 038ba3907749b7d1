alter table timeline_items
  -- Of a comment: grows with every edit made here, so that a mirror can be told from an up-to-date one.
  add column revision integer not null default 0,
  -- Of a comment written on the forge: the forge's own time of what was last heard of it. Older news changes nothing.
  add column heard_at timestamptz,
  -- Of a comment deleted on the forge: the row stays, without its text, so that late news does not bring it back.
  add column deleted_at timestamptz;

-- A comment of ours on a pull request: the intent before it is written there, and what became of it.
create table comment_mirrors (
  comment_id uuid not null references timeline_items,
  repository_id uuid not null references repositories,
  pr_number integer not null,
  forge_comment_id bigint,
  -- The comment's revision that it shows; null before it is known to be there.
  shown_revision integer,
  -- Of the present revision.
  tries integer not null default 0,
  -- From when on a try of ours may have written it.
  first_tried_at timestamptz,
  -- Whoever is at work on it has it until then.
  held_until timestamptz,
  -- Deleted on the forge: it is not written again.
  gone boolean not null default false,
  primary key (comment_id, repository_id, pr_number)
);
create unique index on comment_mirrors (repository_id, forge_comment_id) where forge_comment_id is not null;

-- Keys of this database's own, which no configuration knows and no rotation changes.
create table secrets (
  name text primary key,
  value bytea not null
);
-- 244 random bits, of PostgreSQL's cryptographic generator: they sign the marks by which mirrored comments are known again.
insert into secrets (name, value)
  values ('comment_marks', decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
