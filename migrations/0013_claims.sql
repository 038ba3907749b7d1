-- Which credential works on a card: one row per card, so that the generation never restarts and
-- everything about a claim waits for the lock of one row.

create table claims (
  card_id uuid primary key references cards,
  workspace_id uuid not null references workspaces,
  -- Grows with each claim of the card. 0 before the first.
  generation integer not null default 0,
  -- A new one for each generation.
  claim_id uuid,
  credential_id uuid references credentials,
  user_id uuid references users,
  note text,
  -- A write under the claim renews it for this time.
  ttl_seconds integer,
  -- The claim is held until then. There is no other state: a released claim has expired.
  expires_at timestamptz not null default '-infinity',
  -- Whether the feed has the end of this generation.
  end_recorded boolean not null default true,
  check ((generation = 0) = (claim_id is null))
);
-- Few claims are held at a time.
create index on claims (expires_at) where not end_recorded;
create index on claims (workspace_id) where not end_recorded;
create index on claims (user_id) where not end_recorded;

-- In SQL, so that every card has a row, and a deleted card has none.
create function create_claim_row() returns trigger language plpgsql as $$
begin
  insert into claims (card_id, workspace_id) values (new.id, new.workspace_id);
  return null;
end $$;
create trigger card_has_a_claim_row after insert on cards
  for each row execute function create_claim_row();
insert into claims (card_id, workspace_id) select id, workspace_id from cards where deleted_at is null;

create function delete_claim_row() returns trigger language plpgsql as $$
begin
  delete from claims where card_id = new.id;
  return null;
end $$;
create trigger deleted_card_has_no_claim_row after update of deleted_at on cards
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function delete_claim_row();

-- A trigger, because a membership also ends with its credential or when its row is deleted by hand.
-- Triggers run in the order of their names. This one runs after `stamp_credentials`, which locks the
-- credential: a write under a claim also locks the credential before the claim.
create function stop_claims_of_member() returns trigger language plpgsql as $$
begin
  update claims set expires_at = clock_timestamp()
   where user_id = old.user_id and workspace_id = old.workspace_id and not end_recorded
     and expires_at > clock_timestamp();
  return null;
end $$;
create trigger stop_claims after delete on memberships
  for each row execute function stop_claims_of_member();

-- The board shows claims. A cached board knows when its first claim expires, so only other changes
-- are recorded.
create function record_changed_claim() returns trigger language plpgsql as $$
begin
  insert into board_changes (project_id)
  select c.project_id from cards c where c.id = new.card_id and c.project_id is not null
      on conflict do nothing;
  return null;
end $$;
create trigger record_board_change after update of generation, user_id, note, expires_at on claims
  for each row execute function record_changed_claim();

create function record_changed_holder() returns trigger language plpgsql as $$
begin
  insert into board_changes (project_id)
  select distinct c.project_id from claims k join cards c on c.id = k.card_id
   where k.user_id = coalesce(new.user_id, old.user_id) and not k.end_recorded
      on conflict do nothing;
  return null;
end $$;
create trigger record_board_change_of_holder after insert or delete on workspace_agents
  for each row execute function record_changed_holder();

create function record_changed_holding_user() returns trigger language plpgsql as $$
begin
  insert into board_changes (project_id)
  select distinct c.project_id from claims k join cards c on c.id = k.card_id
   where k.user_id = new.id and not k.end_recorded
      on conflict do nothing;
  return null;
end $$;
create trigger record_board_change_of_holder after update on users for each row
  when ((old.name, old.avatar_url, old.kind) is distinct from (new.name, new.avatar_url, new.kind))
  execute function record_changed_holding_user();
