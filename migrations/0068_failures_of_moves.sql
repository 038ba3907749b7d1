-- How often going on with a move has failed for a reason of our own. Its attempts count also what waited for the forge.
alter table operations add column failures integer not null default 0;
