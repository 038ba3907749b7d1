-- The branch a pull request comes from. Null of those from before this was kept, until something is heard of them.
alter table pull_requests add column head_branch text;
