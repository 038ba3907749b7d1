-- Flows and projects change under their cards. A card on the board always stands in a stage of a project; a deleted card, and a move
-- that has ended, outlive both.
alter table cards
  alter column project_id drop not null,
  alter column stage_id drop not null,
  drop constraint cards_project_id_fkey,
  drop constraint cards_stage_id_fkey,
  add constraint cards_project_id_fkey foreign key (project_id) references projects on delete set null,
  add constraint cards_stage_id_fkey foreign key (stage_id) references stages on delete set null,
  add constraint cards_stand_somewhere
    check (deleted_at is not null or (project_id is not null and stage_id is not null));

alter table operations
  alter column stage_id drop not null,
  drop constraint operations_stage_id_fkey,
  add constraint operations_stage_id_fkey foreign key (stage_id) references stages on delete set null,
  add constraint operations_lead_somewhere
    check (state not in ('running', 'queued') or stage_id is not null);
create index on operations (stage_id);
