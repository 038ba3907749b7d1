-- Where a trunk branch stands by all that was heard of it; null in doubt. `head_sha` is what its history was read up to, and comes later.
alter table trunks add column tip_sha text;
-- When that was last told.
alter table trunks add column tip_at timestamptz;
