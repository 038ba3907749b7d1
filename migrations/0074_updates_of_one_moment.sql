-- Changes of several cards by one function (docs/adr/0008-calls-of-one-moment.md): its statements are set up once for all of them. They are read in a way that leaves PostgreSQL no
-- choice: a plan is made once a connection, perhaps when a table has a handful of rows and to read all of it for each call seems cheapest, and is kept while it grows. What stands behind `offset 0` is looked up once for each row
-- before it.

-- A card as the API shows it, so many of its column above it. Part of the statement that asks, not one of its own.
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

-- `claim_key` for several requests, whose keys and credentials are given in their order.
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

-- `update_card` for several cards of a board, no two of which are one; gives what became of each, in their order. Their rows are locked in that order. A plan that knows how many there are this time would be
-- made anew each time, at ten times the price of what it does; and one that joins otherwise than row by row would read the whole board.
create function update_cards(
  client_ids text[], stamps text[], credential_ids uuid[], keys text[], fingerprints bytea[], board uuid, numbers integer[],
  titles text[], priorities text[], dues date[], sets_due boolean[], assignees uuid[], sets_assignee boolean[],
  events uuid[], actors uuid[], fields jsonb[]
) returns setof written language plpgsql volatile
  set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  claims constant written[] := claim_keys(client_ids, stamps, credential_ids, keys);
  -- Null where nothing is to be done.
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

-- As before, with what is shown written once.
create or replace function update_card(
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
