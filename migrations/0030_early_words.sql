-- The pull request that a comment or review was about, where that was no card's and no proposal when it was heard: known later, it is worked again.
alter table deliveries add column awaits_pull_request integer;
create index on deliveries (lane, awaits_pull_request) where awaits_pull_request is not null;
