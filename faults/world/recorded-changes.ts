/**
 * Records in the schema `faults`, by triggers, each state of claims and gates, the armed moves and
 * their firing, and what happens to a row of the audit log after its end. The ids of rows about one claim are in the order of its
 * changes; a change of gates excludes moves into the project's stages.
 */
export const RECORDED_CHANGES = `
create table faults.claims (
  id bigint generated always as identity, at timestamptz not null default clock_timestamp(),
  card_id uuid, generation integer, claim_id uuid, credential_id uuid, expires_at timestamptz);

create function faults.record_claim() returns trigger language plpgsql as $$
begin
  insert into faults.claims (card_id, generation, claim_id, credential_id, expires_at)
  values (new.card_id, new.generation, new.claim_id, new.credential_id, new.expires_at);
  return null;
end $$;
create trigger record_claim after update on public.claims
  for each row when (old is distinct from new) execute function faults.record_claim();

create table faults.gates (
  at timestamptz not null default clock_timestamp(),
  stage_id uuid, wip_limit integer, human_only boolean, second_person boolean);

create function faults.record_gates() returns trigger language plpgsql as $$
begin
  insert into faults.gates (stage_id, wip_limit, human_only, second_person)
  values (new.id, new.wip_limit, new.human_only, new.second_person);
  return null;
end $$;
create trigger record_gates after insert or update on public.stages
  for each row execute function faults.record_gates();

create table faults.armed_moves (
  id uuid, card_id uuid, stage_id uuid, actor_id uuid, is_human boolean, armed_with jsonb);

create function faults.record_armed() returns trigger language plpgsql as $$
begin
  insert into faults.armed_moves
  select o.id, o.card_id, o.stage_id, o.actor_id, o.is_human, new.armed_with
    from public.operations o where o.id = new.operation_id;
  return null;
end $$;
create trigger record_armed after insert on public.armed_moves
  for each row execute function faults.record_armed();

-- The states of armed moves that run. The first one is written under the lock of the card.
create table faults.fired (
  at timestamptz not null default clock_timestamp(), begun_at timestamptz not null default now(),
  is_begun boolean, armed_id uuid, state text, is_armed boolean, is_expired boolean);

create function faults.record_fired() returns trigger language plpgsql as $$
declare
  armed public.armed_moves;
begin
  select * into armed from public.armed_moves a where a.operation_id = new.id;
  if old.state = 'waiting' and new.state = 'running' or armed.operation_id is not null then
    insert into faults.fired (is_begun, armed_id, state, is_armed, is_expired)
    values (old.state = 'waiting' and new.state = 'running', new.id, new.state,
            armed.operation_id is not null, coalesce(armed.expires_at <= clock_timestamp(), false));
  end if;
  return null;
end $$;
create trigger record_fired after update of state on public.operations
  for each row execute function faults.record_fired();

create table faults.changed_attempts (id uuid, request_id text, what text);

create function faults.record_changed_attempt() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into faults.changed_attempts values (old.id, old.request_id, 'deleted');
  elsif old.position is not null or to_jsonb(old) - '{position,prev_hash,hash}'::text[]
                     is distinct from to_jsonb(new) - '{position,prev_hash,hash}'::text[] then
    insert into faults.changed_attempts values (old.id, old.request_id, 'changed');
  end if;
  return null;
end $$;
-- An UPDATE that PostgreSQL makes of a row that has not ended is how an attempt ends.
create trigger record_changed_attempt after update on public.audit_log
  for each row when (old.ended_at is not null) execute function faults.record_changed_attempt();
create trigger record_deleted_attempt after delete on public.audit_log
  for each row execute function faults.record_changed_attempt();
`;
