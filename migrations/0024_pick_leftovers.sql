-- Picks that ended lately: what they may have left on the forge is looked for.
create index on release_actions (updated_at) where kind = 'pick';
