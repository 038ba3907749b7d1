-- Writes that are one statement (docs/adr/0006-writes-in-one-statement.md) as functions of simple statements. What they plan they keep as long as the connection, each statement sees what was
-- committed before it, and there is no plan of fifteen parts to be set up for each call. Another way of writing gets another name, since the version before this one may still be running.

-- Who asks, and by what key.
create type keyed_request as (client_id text, stamp text, credential_id uuid, key text, fingerprint bytea);
-- What became of it. `is_answer` is null where the key is not known; `done` is the answer where the work was done, `stale` a column that is to be counted again, `behind`
-- one whose end is to be moved on.
create type written as (
  stamp text, is_free boolean, is_answer boolean, fingerprint bytea, status integer, body text, done text, stale uuid, behind uuid
);

-- Looks the key up under its lock: who gets it sees what its holder before has done. Who does not still finds an answer that others ask for again at this moment. `is_free` says that the work is to be done.
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

create function keep_answer(asked keyed_request, status integer, body text) returns text language plpgsql volatile as $$
begin
  insert into idempotency_keys (credential_id, key, fingerprint, state, status, body)
  values (asked.credential_id, asked.key, asked.fingerprint, 'done', status, body);
  return body;
end $$;

-- A rank beyond the last of a column, or before the first; the first of all where `rank` is null. The first letter says how many digits follow. `fraction` keeps apart those that are put there at the
-- same moment. Null where there is none.
create function rank_beyond(rank text, is_last boolean, fraction text) returns text language plpgsql immutable as $$
declare
  digits constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  letter constant integer := ascii(rank);
  step constant integer := case when is_last then 1 else -1 end;
  whole constant text := left(rank, case when letter >= ascii('a') then letter - ascii('a') else ascii('Z') - letter end + 2);
  full_digit constant text := case when is_last then 'z' else '0' end;
  empty_digit constant text := case when is_last then '0' else 'z' end;
  -- As far as the last digit that can be turned; those behind it begin anew.
  turned constant text := rtrim(whole, full_digit);
begin
  return case
    when rank is null then 'a0'
    when length(turned) > 1
      then left(turned, -1) || substr(digits, strpos(digits, right(turned, 1)) + step, 1) || repeat(empty_digit, length(whole) - length(turned))
    -- All digits have come to their end: the next letter, and a digit more, or fewer.
    when is_last and letter = ascii('Z') then 'a0'
    when not is_last and letter = ascii('a') then 'Zz'
    when is_last and letter between ascii('a') and ascii('y') or not is_last and letter between ascii('B') and ascii('Z')
      then chr(letter + step) || repeat(empty_digit, length(whole))
    when is_last and letter between ascii('A') and ascii('Y') or not is_last and letter between ascii('b') and ascii('z')
      then chr(letter + step) || repeat(empty_digit, length(whole) - 2)
    end || fraction;
end $$;

-- As the API tells of a time, and of a user on a board, on which an account registered as an agent is one.
create function iso_time(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
create function is_agent_on(board uuid, account uuid) returns boolean language sql stable as $$
  select exists (select 1 from workspace_agents wa where wa.workspace_id = board and wa.user_id = account)
$$;
create function user_json(board uuid, u users) returns json language sql stable as $$
  select json_build_object('id', u.id, 'name', u.name, 'avatarUrl', u.avatar_url,
                           'kind', case when u.kind = 'human' and is_agent_on(board, u.id) then 'agent' else u.kind end)
$$;

-- Makes a draft at the end of its project's backlog and tells of it: on a board with one project, or in the one that is named, with an assignee who is a member.
-- Of the locks, which others take in this order, too: the project's row is shared where repositories are linked, so that none leaves it meanwhile; the column, with all who do not count their way through
-- it; and the board's row last, which hands out the numbers and is held by all who create cards there.
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
  -- An assignment is cheaper than a statement.
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
