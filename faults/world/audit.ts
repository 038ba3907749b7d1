/**
 * Records in the schema `faults`, by triggers, what the tables later no longer show: who intended
 * each effect on GitHub, and which project a repository belonged to.
 */
export const AUDIT = `
create schema faults;

create table faults.intents (
  at timestamptz not null default clock_timestamp(),
  forge_id bigint, kind text, subject text, project_id uuid, actor_id uuid,
  -- Whether a request of the actor asked for it. A rule of a stage also acts later, without one: the
  -- job that lets it act may have begun before the actor's move, and acts for the last mover.
  is_requested boolean);

create function faults.record_intent() returns trigger language plpgsql as $$
begin
  insert into faults.intents (forge_id, kind, subject, project_id, actor_id, is_requested)
  select r.forge_id, new.kind, new.subject, c.project_id, new.actor_id,
         exists (select 1 from public.operations o
                  where o.card_id = new.card_id and o.actor_id = new.actor_id and o.state = 'running')
         and not exists (select 1 from graphile_worker._private_jobs j
                           join graphile_worker._private_tasks t on t.id = j.task_id
                          where t.identifier = 'catch-up-card' and j.locked_at is not null
                            and j.payload->>'cardId' = new.card_id::text)
    from public.repositories r, public.cards c
   where r.id = new.repository_id and c.id = new.card_id;
  return null;
end $$;
create trigger record_intent after insert or update on public.forge_intents
  for each row when (not new.done) execute function faults.record_intent();

create function faults.record_release_branch() returns trigger language plpgsql as $$
begin
  insert into faults.intents (forge_id, kind, subject, project_id, actor_id, is_requested)
  select r.forge_id, 'create_branch', new.branch_name, l.project_id, a.actor_id, true
    from public.repositories r, public.releases l
    join public.operations a on a.release_id = l.id and a.state = 'running'
   where r.id = new.repository_id and l.id = new.release_id;
  return null;
end $$;
create trigger record_release_branch after insert or update on public.release_branches
  for each row execute function faults.record_release_branch();

create function faults.record_pick_branch() returns trigger language plpgsql as $$
begin
  insert into faults.intents (forge_id, kind, subject, project_id, actor_id, is_requested)
  select r.forge_id, 'create_branch', 'trunkline/tmp/pick-' || a.id, l.project_id, a.actor_id, true
    from public.repositories r, public.operations a join public.releases l on l.id = a.release_id
   where r.id = new.repository_id and a.id = new.operation_id;
  return null;
end $$;
create trigger record_pick_branch after insert on public.pick_branches
  for each row execute function faults.record_pick_branch();

-- An unfreeze that is refused creates the branches again that it has removed.
create function faults.record_unfreeze() returns trigger language plpgsql as $$
begin
  insert into faults.intents (forge_id, kind, subject, project_id, actor_id, is_requested)
  select r.forge_id, 'create_branch', b.branch_name, l.project_id, new.actor_id, false
    from public.release_branches b join public.repositories r on r.id = b.repository_id
    join public.releases l on l.id = b.release_id
   where b.release_id = new.release_id;
  return null;
end $$;
create trigger record_unfreeze after insert on public.operations
  for each row when (new.kind = 'unfreeze') execute function faults.record_unfreeze();

create table faults.owners (
  at timestamptz not null default clock_timestamp(),
  forge_id bigint, project_id uuid);

create function faults.record_owner() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.forge_id is distinct from new.forge_id then
    insert into faults.owners (forge_id) values (old.forge_id);
  end if;
  insert into faults.owners (forge_id, project_id) values (new.forge_id, new.project_id);
  return null;
end $$;
create trigger record_owner after insert or update of project_id, forge_id on public.repositories
  for each row execute function faults.record_owner();
`;
