-- For statements that get a lock and then have to know what was committed before they got it: a statement sees what was committed before it began, a volatile function in
-- it what was committed before each call. Another way of reading gets another name, since the version before this one may still be running.
create function default_repositories_of(project uuid) returns setof uuid language sql volatile as $$
  select r.id from repositories r where r.project_id = project and r.link_by_default
$$;
create function is_being_moved(card uuid) returns boolean language sql volatile as $$
  select exists (select 1 from operations o where o.card_id = card and o.state in ('running', 'queued'))
$$;
create function last_rank_of(stage uuid) returns text language sql volatile as $$
  select c.rank from cards c where c.stage_id = stage and c.deleted_at is null order by c.rank desc limit 1
$$;
create function count_above(stage uuid, place text) returns bigint language sql volatile as $$
  select count(*) from cards c where c.stage_id = stage and c.deleted_at is null and c.rank < place collate "C"
$$;
