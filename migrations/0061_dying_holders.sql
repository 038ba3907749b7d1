-- Processes that died in a row while they held a move, an action on a release or a delivery, without getting it any further. How far it was
-- when the last of them was found dead: for a move the deeds done for its card, for an action a digest of what it has written down.
alter table operations
  add column deaths integer not null default 0,
  add column deeds integer not null default 0;
alter table release_actions
  add column deaths integer not null default 0,
  add column got_to text;
alter table deliveries
  add column deaths integer not null default 0;
