-- Moves that have ended are gone through in the order in which they did, and those of long ago forgotten.
create index on operations (updated_at) where state in ('done', 'refused', 'abandoned');
