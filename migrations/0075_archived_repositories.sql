-- Whether the forge has archived a repository: it can be read there, and nothing else.
alter table repositories add column archived boolean not null default false;
