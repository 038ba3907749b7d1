-- What a project completed in a span of time. By time alone it was looked for among the releases of all tenants.
create index on releases (project_id, completed_at) where completed_at is not null;
drop index releases_completed_at_idx;
