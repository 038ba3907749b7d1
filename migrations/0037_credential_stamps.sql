-- Changes with all that a credential is made of: its own row, and what its user may do on which boards. A process that remembers a credential compares
-- this in the first statement of each call. By triggers, so that no way of writing can forget to; at random, so that a database that was
-- restored never comes to a stamp that was seen before.
alter table credentials add column stamp uuid not null default gen_random_uuid();
create index on credentials (user_id);

create function stamp_credential() returns trigger language plpgsql as $$
begin
  new.stamp := gen_random_uuid();
  return new;
end $$;
create trigger stamp_credential before update on credentials for each row execute function stamp_credential();

create function stamp_credentials_of_member() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update credentials set stamp = gen_random_uuid() where user_id = old.user_id;
  end if;
  if tg_op = 'INSERT' or (tg_op = 'UPDATE' and new.user_id <> old.user_id) then
    update credentials set stamp = gen_random_uuid() where user_id = new.user_id;
  end if;
  return null;
end $$;
create trigger stamp_credentials after insert or update or delete on memberships
  for each row execute function stamp_credentials_of_member();

create function stamp_credentials_of_workspace() returns trigger language plpgsql as $$
begin
  update credentials set stamp = gen_random_uuid()
   where user_id in (select m.user_id from memberships m where m.workspace_id = new.id);
  return null;
end $$;
create trigger stamp_credentials after update of organization_id, created_at on workspaces
  for each row execute function stamp_credentials_of_workspace();
