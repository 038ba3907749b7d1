-- The details of cards on a board (`include=details`): which transactions changed them, for the
-- revalidation of cached boards (docs/adr/0005), and feed events for the facts of Git that nothing else
-- announces.

-- The board counts the comments of its cards, and finds the cards at a commit.
create index on timeline_items (card_id) where type = 'comment' and deleted_at is null;
create index on card_repositories (repository_id, head_sha);

create function record_changed_details(cards uuid[]) returns void language sql as $$
  insert into board_changes (project_id, card_id, is_detail)
  select c.project_id, c.id, true from cards c where c.id = any(record_changed_details.cards)
      and c.project_id is not null
      on conflict do nothing;
$$;

-- A card shows the number of its parent, and how many of its children are done.
create function record_changed_relatives() returns trigger language plpgsql as $$
begin
  if new.parent_id is not null or tg_op = 'UPDATE' and old.parent_id is not null then
    perform record_changed_details(array[new.parent_id, case when tg_op = 'UPDATE' then old.parent_id end]);
  end if;
  if tg_op = 'UPDATE' and old.deleted_at is distinct from new.deleted_at then
    perform record_changed_details(array(select id from cards where parent_id = new.id));
  end if;
  return null;
end $$;
create trigger record_changed_relatives after insert on cards
  for each row when (new.parent_id is not null) execute function record_changed_relatives();
create trigger record_changed_relatives_of_fields after update of parent_id, stage_id, deleted_at on cards
  for each row when ((old.parent_id, old.stage_id, old.deleted_at)
                     is distinct from (new.parent_id, new.stage_id, new.deleted_at))
  execute function record_changed_relatives();

-- The parent may be a card of another project than the stage.
create function record_changed_kind_of_stage() returns trigger language plpgsql as $$
begin
  perform record_changed_details(array(
    select distinct parent_id from cards where stage_id = new.id and parent_id is not null));
  return null;
end $$;
create trigger record_changed_kind after update of kind on stages
  for each row when (old.kind <> new.kind) execute function record_changed_kind_of_stage();

-- For tables with a column `card_id`.
create function record_changed_details_of_card() returns trigger language plpgsql as $$
begin
  perform record_changed_details(array[
    case when tg_op <> 'DELETE' then new.card_id end, case when tg_op <> 'INSERT' then old.card_id end]);
  return null;
end $$;
create trigger record_new_comment after insert on timeline_items
  for each row when (new.type = 'comment') execute function record_changed_details_of_card();
create trigger record_deleted_comment after update of deleted_at on timeline_items
  for each row when (new.type = 'comment' and old.deleted_at is distinct from new.deleted_at)
  execute function record_changed_details_of_card();
create trigger record_changed_details after insert or delete on card_repositories
  for each row execute function record_changed_details_of_card();
create trigger record_changed_details_of_fields
  after update of branch_name, head_sha, project_id on card_repositories
  for each row when ((old.branch_name, old.head_sha, old.project_id)
                     is distinct from (new.branch_name, new.head_sha, new.project_id))
  execute function record_changed_details_of_card();
create trigger record_changed_details after insert or delete on pull_requests
  for each row execute function record_changed_details_of_card();
create trigger record_changed_details_of_fields
  after update of card_id, state, target_branch, head_sha on pull_requests
  for each row when ((old.card_id, old.state, old.target_branch, old.head_sha)
                     is distinct from (new.card_id, new.state, new.target_branch, new.head_sha))
  execute function record_changed_details_of_card();
create trigger record_changed_details after insert or update or delete on armed_moves
  for each row execute function record_changed_details_of_card();

create function record_changed_checks() returns trigger language plpgsql as $$
begin
  perform record_changed_details(array(
    select distinct cr.card_id from changed k
      join card_repositories cr on cr.repository_id = k.repository_id and cr.head_sha = k.sha));
  return null;
end $$;
create trigger record_changed_details_on_insert after insert on check_reports
  referencing new table as changed for each statement execute function record_changed_checks();
create trigger record_changed_details_on_update after update on check_reports
  referencing new table as changed for each statement execute function record_changed_checks();
create trigger record_changed_details_on_delete after delete on check_reports
  referencing old table as changed for each statement execute function record_changed_checks();

-- Announces changed facts of Git of a repository: for one card, or without a card for several.
create function announce_git_facts(repository uuid, cards uuid[]) returns void language sql as $$
  insert into events (workspace_id, card_number, card_title, kind, data)
  select c.workspace_id, case when count(*) = 1 then min(c.number) end,
         case when count(*) = 1 then min(c.title) end, 'git_facts_changed',
         jsonb_build_object('fullName', (select full_name from repositories where id = announce_git_facts.repository))
    from cards c where c.id = any(announce_git_facts.cards) and c.deleted_at is null
   group by c.workspace_id;
$$;

-- In SQL, because several statements write snapshots, and say at once for many that they hold no longer.
create function record_changed_snapshots() returns trigger language plpgsql as $$
declare
  repository uuid;
  cards uuid[];
begin
  for repository, cards in select s.repository_id, array_agg(distinct s.card_id) from changed s group by 1 loop
    perform record_changed_details(cards);
    perform announce_git_facts(repository, cards);
  end loop;
  return null;
end $$;
create trigger record_new_snapshots after insert on branch_snapshots
  referencing new table as changed for each statement execute function record_changed_snapshots();

create function record_replaced_snapshots() returns trigger language plpgsql as $$
declare
  repository uuid;
  cards uuid[];
begin
  for repository, cards in
    select n.repository_id, array_agg(distinct n.card_id)
      from after n join before o using (card_id, repository_id, target_branch)
     where (to_jsonb(n) - 'asked_at') <> (to_jsonb(o) - 'asked_at')
        -- The same answer counts if it was asked for after a change, and the earlier one before.
        or (n.asked_at > n.pull_changed_at) is distinct from (o.asked_at > o.pull_changed_at)
        or (n.asked_at > n.target_moved_at + interval '1 minute')
           is distinct from (o.asked_at > o.target_moved_at + interval '1 minute')
     group by 1
  loop
    perform record_changed_details(cards);
    perform announce_git_facts(repository, cards);
  end loop;
  return null;
end $$;
create trigger record_replaced_snapshots after update on branch_snapshots
  referencing old table as before new table as after
  for each statement execute function record_replaced_snapshots();

-- The events of the timeline announce other changes of a pull request.
create function announce_pull_request() returns trigger language plpgsql as $$
begin
  perform announce_git_facts(new.repository_id, array[new.card_id]);
  return null;
end $$;
create trigger announce_pull_request after update of state, target_branch on pull_requests
  for each row when (old.target_branch <> new.target_branch or (old.state = 'open' and new.state = 'draft'))
  execute function announce_pull_request();

create function record_renamed_repository() returns trigger language plpgsql as $$
declare
  cards uuid[] := array(select card_id from card_repositories where repository_id = new.id);
begin
  perform record_changed_details(cards);
  perform announce_git_facts(new.id, cards);
  return null;
end $$;
create trigger record_renamed_repository after update of full_name on repositories
  for each row when (old.full_name <> new.full_name) execute function record_renamed_repository();
