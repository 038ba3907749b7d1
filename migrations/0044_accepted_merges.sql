-- The forge has taken a merge into its queue: it lands as ours whatever becomes of the move that asked for it.
alter table forge_intents add column accepted boolean not null default false;
