-- The temporary branches that picks may have on the forge, until they are known to be gone.
create table pick_branches (
  action_id uuid not null references release_actions on delete cascade,
  repository_id uuid not null references repositories on delete cascade,
  primary key (action_id, repository_id)
);
create index on pick_branches (repository_id);

-- Of picks from before nobody noted where they had one.
insert into pick_branches (action_id, repository_id)
select a.id, b.repository_id from release_actions a join release_branches b on b.release_id = a.release_id
 where a.kind = 'pick' and a.updated_at > now() - interval '2 days';

-- It was for looking through all picks that ended lately.
drop index release_actions_updated_at_idx2;
