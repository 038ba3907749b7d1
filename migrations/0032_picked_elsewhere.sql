-- A card picked into a release from another branch than releases are cut from: the branch that lacks it is `target_branch`. Null of a hotfix.
alter table backmerges add column release_id uuid references releases on delete cascade;
create index on backmerges (release_id) where release_id is not null;
