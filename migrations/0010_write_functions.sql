-- Writes that are one statement (docs/adr/0006-writes-in-one-statement.md), as functions of simple
-- statements: each statement sees what was committed before it, and plans are kept per connection.

-- The credential and the idempotency key of a request.
create type keyed_request as (client_id text, stamp text, credential_id uuid, key text, fingerprint bytea);

-- The result: `is_answer` is null for an unknown key; `done` is the answer if the write was done;
-- `stale` is a column to be counted again, `behind` one whose row of `column_ends` is.
create type written as (
  stamp text, is_free boolean, is_answer boolean, fingerprint bytea, status integer, body text, done text, stale uuid, behind uuid
);

-- Looks up the key under an advisory lock, so that the next holder sees what this one has
-- committed. `is_free` says that the write may be done.
create function claim_key(asked keyed_request) returns written language plpgsql volatile as $$
declare
  outcome written;
begin
  outcome.is_free := pg_try_advisory_xact_lock(hashtextextended(concat_ws(':', 'key', asked.credential_id::text, asked.key), 0));
  select (select case when c.revoked_at is null and (c.expires_at is null or c.expires_at > now())
                      then c.stamp::text || case when c.previous_until > now() then '+' else '' end end
            from credentials c where c.client_id = asked.client_id),
         k.state = 'done' and k.created_at >= now() - interval '24 hours', k.fingerprint, k.status, k.body
    into outcome.stamp, outcome.is_answer, outcome.fingerprint, outcome.status, outcome.body
    from (select) once left join idempotency_keys k on k.credential_id = asked.credential_id and k.key = asked.key;
  outcome.is_free := outcome.is_free and outcome.is_answer is null and coalesce(outcome.stamp = asked.stamp, false);
  return outcome;
end $$;

-- Stores the answer of a request.
create function keep_answer(asked keyed_request, status integer, body text) returns text language plpgsql volatile as $$
begin
  insert into idempotency_keys (credential_id, key, fingerprint, state, status, body)
  values (asked.credential_id, asked.key, asked.fingerprint, 'done', status, body);
  return body;
end $$;

-- A rank after the last of a column, or before the first; `a0` where `rank` is null. The first
-- letter encodes the number of digits. `fraction` separates ranks that are created at the same
-- time. Null if there is no such rank.
create function rank_beyond(rank text, is_last boolean, fraction text) returns text language plpgsql immutable as $$
declare
  digits constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  letter constant integer := ascii(rank);
  step constant integer := case when is_last then 1 else -1 end;
  whole constant text := left(rank, case when letter >= ascii('a') then letter - ascii('a') else ascii('Z') - letter end + 2);
  full_digit constant text := case when is_last then 'z' else '0' end;
  empty_digit constant text := case when is_last then '0' else 'z' end;
  turned constant text := rtrim(whole, full_digit);
begin
  return case
    when rank is null then 'a0'
    when length(turned) > 1
      then left(turned, -1) || substr(digits, strpos(digits, right(turned, 1)) + step, 1) || repeat(empty_digit, length(whole) - length(turned))
    when is_last and letter = ascii('Z') then 'a0'
    when not is_last and letter = ascii('a') then 'Zz'
    when is_last and letter between ascii('a') and ascii('y') or not is_last and letter between ascii('B') and ascii('Z')
      then chr(letter + step) || repeat(empty_digit, length(whole))
    when is_last and letter between ascii('A') and ascii('Y') or not is_last and letter between ascii('b') and ascii('z')
      then chr(letter + step) || repeat(empty_digit, length(whole) - 2)
    end || fraction;
end $$;

-- A time as the API shows it.
create function iso_time(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Whether the board has registered the account as an agent.
create function is_agent_on(board uuid, account uuid) returns boolean language sql stable as $$
  select exists (select 1 from workspace_agents wa where wa.workspace_id = board and wa.user_id = account)
$$;

-- A user as the API shows it on a board.
create function user_json(board uuid, u users) returns json language sql stable as $$
  select json_build_object('id', u.id, 'name', u.name, 'avatarUrl', u.avatar_url,
                           'kind', case when u.kind = 'human' and is_agent_on(board, u.id) then 'agent' else u.kind end)
$$;

-- Creates a draft at the end of a project's backlog. Locks, in the order of all writers: the
-- project if repositories are linked, the column (shared), and the board, which assigns the number.
create function create_draft(
  asked keyed_request, card uuid, board uuid, named_project uuid, title text, description text, priority text, assignee uuid, due date,
  hotfix boolean, is_linked boolean, author uuid, event uuid, fraction text
) returns written language plpgsql volatile as $$
declare
  outcome written;
  project uuid;
  backlog uuid;
  links uuid[];
  taken_number integer;
  its_rank text;
  made timestamptz;
  place record;
  ignored text;
begin
  outcome := claim_key(asked);
  if not outcome.is_free then return outcome; end if;
  select p.id, s.id, is_linked and exists (select 1 from repositories r where r.project_id = p.id and r.link_by_default)
    into project, backlog, is_linked
    from projects p join stages s on s.project_id = p.id and s.kind = 'backlog'
   where p.workspace_id = board
     and case when named_project is not null then p.id = named_project
              else not exists (select 1 from projects other where other.workspace_id = board and other.id <> p.id) end;
  if backlog is null then return outcome; end if;
  if assignee is not null then
    if not exists (select 1 from memberships m where m.workspace_id = board and m.user_id = assignee) then return outcome; end if;
  end if;
  if is_linked then
    perform 1 from projects p where p.id = project for share;
    links := array(select r.id from repositories r where r.project_id = project and r.link_by_default);
  end if;
  ignored := pg_advisory_xact_lock_shared(hashtextextended('column:' || backlog::text, 0));
  update workspaces w set next_card_number = w.next_card_number + 1 where w.id = board
    returning w.next_card_number - 1 into taken_number;
  its_rank := rank_beyond(
    (select c.rank from cards c where c.stage_id = backlog and c.deleted_at is null order by c.rank desc limit 1), true, fraction);
  insert into cards (id, workspace_id, project_id, number, title, description, stage_id, rank, priority, assignee_id, due_date, hotfix, created_by)
  values (card, board, project, taken_number, title, description, backlog, its_rank, priority, assignee, due, hotfix, author)
    returning created_at into made;
  if is_linked then
    insert into card_repositories (card_id, repository_id) select card, unnest(links);
  end if;
  insert into timeline_items (id, card_id, type, kind, actor_id, data)
  values (event, card, 'event', 'created', author, jsonb_build_object('number', taken_number));
  place := place_at_end(backlog, its_rank);
  if place.is_stale then outcome.behind := backlog; end if;
  select to_json(shown)::text into outcome.done
    from users b left join users a on a.id = assignee
   cross join lateral (
         select card as id, project as "projectId", taken_number as number, title, description, backlog as "statusId", place.above as position, priority,
                case when a.id is not null then user_json(board, a) end as assignee, user_json(board, b) as "createdBy", null as blocked, json_build_array() as labels,
                coalesce((select json_agg(json_build_object('fullName', r.full_name, 'branchName', null, 'prNumber', null, 'prState', null,
                                                            'checksState', null) order by r.full_name)
                            from repositories r where r.id = any(links)), '[]') as repositories,
                null as "parentNumber", null as "featureId", due as "dueDate", hotfix,
                iso_time(made) as "createdAt", iso_time(made) as "updatedAt") shown
   where b.id = author;
  outcome.done := keep_answer(asked, 201, outcome.done);
  return outcome;
end $$;

-- The repositories of a card as the API shows them.
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

-- A card as the API shows it, with `above` cards before it in its column. PostgreSQL inlines it.
create function shown_card(card cards, above bigint) returns table (body text) language sql stable as $$
  select to_json(shown)::text
    from users b left join users a on a.id = card.assignee_id
   cross join lateral (
         select card.id, card.project_id as "projectId", card.number, card.title, card.description, card.stage_id as "statusId",
                above as position, card.priority, case when a.id is not null then user_json(card.workspace_id, a) end as assignee,
                user_json(card.workspace_id, b) as "createdBy", card.blocked,
                coalesce((select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color) order by l.folded_name)
                            from card_labels cl join labels l on l.id = cl.label_id where cl.card_id = card.id), '[]') as labels,
                case when exists (select 1 from card_repositories cr where cr.card_id = card.id) then links_json(card.id) else '[]' end as repositories,
                (select parent.number from cards parent where parent.id = card.parent_id and parent.deleted_at is null) as "parentNumber",
                card.feature_id as "featureId", card.due_date as "dueDate", card.hotfix,
                iso_time(card.created_at) as "createdAt", iso_time(card.updated_at) as "updatedAt") shown
   where b.id = card.created_by
$$;

-- Updates fields of a card.
create function update_card(
  asked keyed_request, board uuid, card_number integer, new_title text, new_priority text, new_due date, sets_due boolean,
  new_assignee uuid, sets_assignee boolean, event uuid, actor uuid, fields text[]
) returns written language plpgsql volatile as $$
declare
  outcome written;
  changed record;
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
  returning c.id, c.stage_id, c.rank into changed;
  if not found then return outcome; end if;
  insert into timeline_items (id, card_id, type, kind, actor_id, data)
  values (event, changed.id, 'event', 'updated', actor, jsonb_build_object('fields', fields));
  place := place_in_column(changed.stage_id, changed.rank);
  if place.is_stale then outcome.stale := changed.stage_id; end if;
  select s.body into outcome.done from cards c cross join lateral shown_card(c, place.above) s where c.id = changed.id;
  outcome.done := keep_answer(asked, 200, outcome.done);
  return outcome;
end $$;

-- Moves a card to a stage that requires no Git operation. `goes_to` is `first` or `last`; without
-- it the card gets the rank `between_others`.
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

-- Writes a comment on a card without a pull request to mirror it to.
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

-- Ends a move that the forge has carried out. False, without any effect, if the card is deleted or
-- already in the stage, or if the caller holds the move or the key no longer.
create function end_move(
  held_move uuid, held_attempt integer, card uuid, into_stage uuid, goes_to text, between_others text, fraction text, event uuid, actor uuid,
  credential uuid, request_key text, key_attempt integer, answer text
) returns boolean language plpgsql volatile as $$
declare
  from_stage uuid;
  its_rank text := between_others;
  ignored text;
begin
  select c.stage_id into from_stage from cards c where c.id = card and c.deleted_at is null for no key update;
  if not found or from_stage = into_stage then return false; end if;
  perform 1 from idempotency_keys k
    where k.credential_id = credential and k.key = request_key and k.attempt = key_attempt and k.state = 'running' for no key update;
  if not found then return false; end if;
  update operations o set state = 'done', holder = null, result = answer::jsonb, updated_at = now()
   where o.id = held_move and o.attempt = held_attempt and o.state = 'running';
  if not found then return false; end if;
  ignored := pg_advisory_xact_lock_shared(hashtextextended('column:' || into_stage::text, 0));
  if goes_to = 'first' then
    its_rank := rank_beyond((select c.rank from cards c where c.stage_id = into_stage and c.deleted_at is null order by c.rank limit 1), false, fraction);
  elsif goes_to = 'last' then
    its_rank := rank_beyond((select c.rank from cards c where c.stage_id = into_stage and c.deleted_at is null order by c.rank desc limit 1), true, fraction);
  end if;
  update cards c set stage_id = into_stage, rank = its_rank, updated_at = now(), blocked = null where c.id = card;
  insert into timeline_items (id, card_id, type, kind, actor_id, data)
  values (event, card, 'event', 'status_changed', actor, jsonb_build_object('from', from_stage, 'to', into_stage));
  update idempotency_keys k set state = 'done', holder = null, status = 200, body = answer where k.credential_id = credential and k.key = request_key;
  return true;
end $$;

-- `claim_key` for several requests.
create function claim_keys(client_ids text[], stamps text[], credential_ids uuid[], keys text[]) returns written[] language plpgsql volatile as $$
declare
  locked constant boolean[] := array(
    select pg_try_advisory_xact_lock(hashtextextended(concat_ws(':', 'key', w.credential_id::text, w.key), 0))
      from unnest(credential_ids, keys) w (credential_id, key));
begin
  return array(
    select row(w.stamp, w.is_locked and k.key is null and coalesce(w.stamp = w.known, false),
               k.state = 'done' and k.created_at >= now() - interval '24 hours', k.fingerprint, k.status, k.body, null, null, null)::written
      from (select asked.*, (select case when c.revoked_at is null and (c.expires_at is null or c.expires_at > now())
                                         then c.stamp::text || case when c.previous_until > now() then '+' else '' end end
                               from credentials c where c.client_id = asked.client_id) as stamp
              from unnest(client_ids, stamps, credential_ids, keys, locked) with ordinality asked (client_id, known, credential_id, key, is_locked, at)) w
      left join lateral (select * from idempotency_keys known where known.credential_id = w.credential_id and known.key = w.key offset 0) k on true
     order by w.at);
end $$;

-- `update_card` for several cards of a board. The plan settings keep one generic plan that looks up
-- each row by its key.
create function update_cards(
  client_ids text[], stamps text[], credential_ids uuid[], keys text[], fingerprints bytea[], board uuid, numbers integer[],
  titles text[], priorities text[], dues date[], sets_due boolean[], assignees uuid[], sets_assignee boolean[],
  events uuid[], actors uuid[], fields jsonb[]
) returns setof written language plpgsql volatile
  set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  claims constant written[] := claim_keys(client_ids, stamps, credential_ids, keys);
  changed constant uuid[] := array(
    select case when (claims[w.at]).is_free
                     and (w.assignee is null or exists (select 1 from memberships m where m.workspace_id = board and m.user_id = w.assignee))
                then (select c.id from cards c where c.workspace_id = board and c.number = w.number and c.deleted_at is null for no key update) end
      from unnest(numbers, assignees) with ordinality w (number, assignee, at));
begin
  update cards c
     set (title, priority, due_date, assignee_id) = (
           select coalesce(titles[w.at], c.title), coalesce(priorities[w.at], c.priority),
                  case when sets_due[w.at] then dues[w.at] else c.due_date end,
                  case when sets_assignee[w.at] then assignees[w.at] else c.assignee_id end
             from array_position(changed, c.id) w (at)),
         updated_at = now()
   where c.id = any(changed);
  insert into timeline_items (id, card_id, type, kind, actor_id, data)
  select events[w.at], w.id, 'event', 'updated', actors[w.at], jsonb_build_object('fields', fields[w.at])
    from unnest(changed) with ordinality w (id, at) where w.id is not null;
  return query
    with shown as materialized (
      select w.at, c.stage_id, c.is_stale, c.body
        from unnest(changed) with ordinality w (id, at)
       cross join lateral (
             select c.stage_id, place.is_stale, s.body
               from cards c
              cross join lateral place_in_column(c.stage_id, c.rank) place
              cross join lateral shown_card(c, place.above) s
              where c.id = w.id offset 0) c),
    kept as (
      insert into idempotency_keys (credential_id, key, fingerprint, state, status, body)
      select credential_ids[s.at], keys[s.at], fingerprints[s.at], 'done', 200, s.body from shown s)
    select w.stamp, w.is_free, w.is_answer, w.fingerprint, w.status, w.body, s.body, case when s.is_stale then s.stage_id end, null::uuid
      from unnest(claims) with ordinality w (stamp, is_free, is_answer, fingerprint, status, body, done, stale, behind, at)
      left join shown s on s.at = w.at
     order by w.at;
end $$;

-- `create_draft` for at most sixty drafts of one project.
create function create_drafts(
  client_ids text[], stamps text[], credential_ids uuid[], keys text[], fingerprints bytea[], drafts uuid[], board uuid, named_project uuid,
  titles text[], descriptions text[], priorities text[], assignees uuid[], dues date[], hotfixes boolean[], are_linked boolean[],
  authors uuid[], events uuid[], fractions text[]
) returns setof written language plpgsql volatile
  set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  digits constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  claims constant written[] := claim_keys(client_ids, stamps, credential_ids, keys);
  made integer[] := '{}';
  project uuid;
  backlog uuid;
  links uuid[];
  first_number integer;
  rank_of_all text;
  place record;
  ignored text;
begin
  select p.id, s.id into project, backlog
    from projects p join stages s on s.project_id = p.id and s.kind = 'backlog'
   where p.workspace_id = board
     and case when named_project is not null then p.id = named_project
              else not exists (select 1 from projects other where other.workspace_id = board and other.id <> p.id) end;
  if backlog is not null then
    made := array(
      select w.at::integer from unnest(assignees) with ordinality w (assignee, at)
       where (claims[w.at]).is_free
         and (w.assignee is null or exists (select 1 from memberships m where m.workspace_id = board and m.user_id = w.assignee)));
  end if;
  if made <> '{}' then
    if exists (select 1 from unnest(made) at where are_linked[at])
       and exists (select 1 from repositories r where r.project_id = project and r.link_by_default) then
      perform 1 from projects p where p.id = project for share;
      links := array(select r.id from repositories r where r.project_id = project and r.link_by_default);
    end if;
    ignored := pg_advisory_xact_lock_shared(hashtextextended('column:' || backlog::text, 0));
    update workspaces w set next_card_number = w.next_card_number + cardinality(made) where w.id = board
      returning w.next_card_number - cardinality(made) into first_number;
    rank_of_all := rank_beyond(
      (select c.rank from cards c where c.stage_id = backlog and c.deleted_at is null order by c.rank desc limit 1), true, '');
    insert into cards (id, workspace_id, project_id, number, title, description, stage_id, rank, priority, assignee_id, due_date, hotfix, created_by)
    select drafts[m.at], board, project, first_number + m.nth - 1, titles[m.at], descriptions[m.at], backlog,
           rank_of_all || substr(digits, m.nth::integer + 1, 1) || fractions[m.at], priorities[m.at], assignees[m.at], dues[m.at], hotfixes[m.at], authors[m.at]
      from unnest(made) with ordinality m (at, nth);
    insert into card_repositories (card_id, repository_id)
    select drafts[m.at], l.id from unnest(made) m (at), unnest(links) l (id) where are_linked[m.at];
    insert into timeline_items (id, card_id, type, kind, actor_id, data)
    select events[m.at], drafts[m.at], 'event', 'created', authors[m.at], jsonb_build_object('number', first_number + m.nth - 1)
      from unnest(made) with ordinality m (at, nth);
    place := place_at_end(backlog, rank_of_all);
  end if;
  return query
    with shown as materialized (
      select m.at, c.body
        from unnest(made) m (at)
       cross join lateral (
             select s.body
               from cards c
              cross join lateral (select count(*) as among from cards other
                                   where other.stage_id = backlog and other.deleted_at is null and other.rank >= rank_of_all and other.rank < c.rank) n
              cross join lateral shown_card(c, place.above + n.among) s
              where c.id = drafts[m.at] offset 0) c),
    kept as (
      insert into idempotency_keys (credential_id, key, fingerprint, state, status, body)
      select credential_ids[s.at], keys[s.at], fingerprints[s.at], 'done', 201, s.body from shown s)
    select w.stamp, w.is_free, w.is_answer, w.fingerprint, w.status, w.body, s.body, null::uuid,
           case when s.at = made[1] and place.is_stale then backlog end
      from unnest(claims) with ordinality w (stamp, is_free, is_answer, fingerprint, status, body, done, stale, behind, at)
      left join shown s on s.at = w.at
     order by w.at;
end $$;
