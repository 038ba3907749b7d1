-- The forge's GraphQL id of a repository: an order that names several refs at once is addressed by it.
alter table repositories add column node_id text;
