-- What was heard of a pull request at `heard_at`: of two things within one second its opening was the first.
alter table pull_requests add column heard_action text;
