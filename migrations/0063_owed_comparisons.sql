-- A comparison with the forge that could not be made while it refused us the account: how many milliseconds of quiet it was asked to leave
-- alone; null where none is owed. It is made once the account is back.
alter table organizations add column comparison_owed integer;
