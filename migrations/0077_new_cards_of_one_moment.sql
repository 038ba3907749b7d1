-- New cards that come at one moment by one function, as changes of cards have one (0074, docs/adr/0008-calls-of-one-moment.md).

-- `create_draft` for several drafts of a board, all in one project or in its only one, and no more than sixty; gives what became of each, in their order, in which they get their numbers and stand in the column.
create function create_drafts(
  client_ids text[], stamps text[], credential_ids uuid[], keys text[], fingerprints bytea[], drafts uuid[], board uuid, named_project uuid,
  titles text[], descriptions text[], priorities text[], assignees uuid[], dues date[], hotfixes boolean[], are_linked boolean[],
  authors uuid[], events uuid[], fractions text[]
) returns setof written language plpgsql volatile
  set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  digits constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  claims constant written[] := claim_keys(client_ids, stamps, credential_ids, keys);
  -- Of those that are to be made, where they stand among what was asked.
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
