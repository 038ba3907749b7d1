-- What a repository was last found to lack, and when; nothing is known where it is null.
alter table repositories
  add column lacks_drafts_at timestamptz,
  add column lacks_async_merge_at timestamptz;
