-- Of an intent to open a pull request: the greatest number known in the repository when it was first meant. What we opened under a greater one
-- is that very one, whatever became of it before its number was heard.
alter table forge_intents add column known_up_to integer;
