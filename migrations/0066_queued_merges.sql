-- What is known of a merge that the forge put into its merge queue: that it is there, and its word for having thrown it out.
alter table forge_intents add column queued boolean not null default false;
alter table forge_intents add column thrown_out text;
-- The forge's time of the newest that its queue told: what is older is no news.
alter table forge_intents add column queue_told_at timestamptz;
