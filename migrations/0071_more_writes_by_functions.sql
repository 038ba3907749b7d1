-- As in 0070: what is written often, each by a function that asks for nothing but what the statement before it has left open.

-- The repositories a card is linked to, as the API shows them.
create function links_json(card uuid) returns json language plpgsql stable as $$
begin
  return (
    select json_agg(json_build_object(
             'fullName', r.full_name, 'branchName', cr.branch_name, 'prNumber', pr.number, 'prState', pr.state,
             'checksState', (select case when bool_or(k.outcome = 'failing') then 'failing' when bool_or(k.outcome = 'pending') then 'pending'
                                         when count(*) > 0 then 'passing' end
                               from check_reports k where k.repository_id = cr.repository_id and k.sha = cr.head_sha))
             order by r.full_name)
      from card_repositories cr
      join repositories r on r.id = cr.repository_id
      left join lateral (select p.number, p.state from pull_requests p
                          where p.card_id = cr.card_id and p.repository_id = cr.repository_id
                          order by p.state in ('draft', 'open') desc, p.number desc limit 1) pr on true
     where cr.card_id = card);
end $$;

-- Sets fields of a card and tells of it: of one that is there, with an assignee who is a member of its board.
create function update_card(
  asked keyed_request, board uuid, card_number integer, new_title text, new_priority text, new_due date, sets_due boolean,
  new_assignee uuid, sets_assignee boolean, event uuid, actor uuid, fields text[]
) returns written language plpgsql volatile as $$
declare
  outcome written;
  changed cards;
  place record;
begin
  outcome := claim_key(asked);
  if not outcome.is_free then return outcome; end if;
  if new_assignee is not null then
    if not exists (select 1 from memberships m where m.workspace_id = board and m.user_id = new_assignee) then return outcome; end if;
  end if;
  update cards c
     set title = coalesce(new_title, c.title), priority = coalesce(new_priority, c.priority),
         due_date = case when sets_due then new_due else c.due_date end,
         assignee_id = case when sets_assignee then new_assignee else c.assignee_id end, updated_at = now()
   where c.workspace_id = board and c.number = card_number and c.deleted_at is null
  returning c.* into changed;
  if not found then return outcome; end if;
  insert into timeline_items (id, card_id, type, kind, actor_id, data)
  values (event, changed.id, 'event', 'updated', actor, jsonb_build_object('fields', fields));
  place := place_in_column(changed.stage_id, changed.rank);
  if place.is_stale then outcome.stale := changed.stage_id; end if;
  select to_json(shown)::text into outcome.done
    from users b left join users a on a.id = changed.assignee_id
   cross join lateral (
         select changed.id, changed.project_id as "projectId", changed.number, changed.title, changed.description, changed.stage_id as "statusId",
                place.above as position, changed.priority, case when a.id is not null then user_json(board, a) end as assignee,
                user_json(board, b) as "createdBy", changed.blocked,
                coalesce((select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color) order by l.folded_name)
                            from card_labels cl join labels l on l.id = cl.label_id where cl.card_id = changed.id), '[]') as labels,
                case when exists (select 1 from card_repositories cr where cr.card_id = changed.id) then links_json(changed.id) else '[]' end as repositories,
                (select parent.number from cards parent where parent.id = changed.parent_id and parent.deleted_at is null) as "parentNumber",
                changed.feature_id as "featureId", changed.due_date as "dueDate", changed.hotfix,
                iso_time(changed.created_at) as "createdAt", iso_time(changed.updated_at) as "updatedAt") shown
   where b.id = changed.created_by;
  outcome.done := keep_answer(asked, 200, outcome.done);
  return outcome;
end $$;

-- Places a card and tells of it: one that is there and that no move is at work on, into a stage of its project's flow that the caller may use and that asks for no Git of it. A request whose move was finished
-- without it is not one of these: it is answered with what came of that. The card's row is held before any of this is asked, as by whoever begins such a move.
-- `goes_to` is the `first` or `last` place of the column; without it the card comes to a rank between two others.
create function move_card(
  asked keyed_request, board uuid, card_number integer, into_stage uuid, goes_to text, between_others text, fraction text,
  roles text[], rules_without_git text[], request text, event uuid, actor uuid
) returns written language plpgsql volatile as $$
declare
  outcome written;
  card uuid;
  project uuid;
  from_stage uuid;
  its_rank text := between_others;
  now_blocked jsonb;
  ignored text;
begin
  outcome := claim_key(asked);
  if not outcome.is_free then return outcome; end if;
  select c.id, c.project_id, c.stage_id into card, project, from_stage
    from cards c where c.workspace_id = board and c.number = card_number and c.deleted_at is null for no key update;
  if not found then return outcome; end if;
  perform 1 from stages s
    where s.id = into_stage and s.project_id = project and s.min_role = any(roles)
      and not exists (select 1 from operations o where o.card_id = card and (o.state in ('running', 'queued') or o.state = 'done' and o.request_id = request))
      and (s.id = from_stage or s.rule_type = any(rules_without_git) or not exists (select 1 from card_repositories cr where cr.card_id = card));
  if not found then return outcome; end if;
  ignored := pg_advisory_xact_lock_shared(hashtextextended('column:' || into_stage::text, 0));
  if goes_to = 'first' then
    its_rank := rank_beyond(
      (select c.rank from cards c where c.stage_id = into_stage and c.deleted_at is null and c.id <> card order by c.rank limit 1), false, fraction);
  elsif goes_to = 'last' then
    its_rank := rank_beyond(
      (select c.rank from cards c where c.stage_id = into_stage and c.deleted_at is null and c.id <> card order by c.rank desc limit 1), true, fraction);
  end if;
  update cards c
     set stage_id = into_stage, rank = its_rank, updated_at = now(), blocked = case when from_stage = into_stage then c.blocked end
   where c.id = card
  returning c.blocked into now_blocked;
  if from_stage <> into_stage then
    insert into timeline_items (id, card_id, type, kind, actor_id, data)
    values (event, card, 'event', 'status_changed', actor, jsonb_build_object('from', from_stage, 'to', into_stage));
  end if;
  outcome.done := json_build_object('task', json_build_object('number', card_number, 'statusId', into_stage, 'blocked', now_blocked),
                                    'promoted', json_build_array())::text;
  outcome.done := keep_answer(asked, 200, outcome.done);
  return outcome;
end $$;

-- Writes a comment that nothing else follows from: on a card that is there and has no pull request to mirror it to, and not when an earlier try of the request has written it.
create function comment_on_card(
  asked keyed_request, board uuid, card_number integer, comment uuid, author uuid, words text, written_as text
) returns written language plpgsql volatile as $$
declare
  outcome written;
  card uuid;
  shown_author json;
  made timestamptz;
begin
  outcome := claim_key(asked);
  if not outcome.is_free then return outcome; end if;
  select c.id, json_build_object('user', json_build_object('id', u.id, 'name', u.name, 'kind', u.kind), 'login', null) into card, shown_author
    from cards c join users u on u.id = author
   where c.workspace_id = board and c.number = card_number and c.deleted_at is null
     and not exists (select 1 from pull_requests p where p.card_id = c.id and p.state in ('draft', 'open'))
     and not exists (select 1 from timeline_items t where t.card_id = c.id and t.natural_key = written_as);
  if not found then return outcome; end if;
  insert into timeline_items (id, card_id, type, actor_id, body) values (comment, card, 'comment', author, words)
    returning at into made;
  outcome.done := json_build_object('id', comment, 'body', words, 'author', shown_author, 'mirroredTo', 0, 'editable', true,
                                    'at', iso_time(made), 'editedAt', null)::text;
  outcome.done := keep_answer(asked, 201, outcome.done);
  return outcome;
end $$;
