import { atOnce, doAtOnce, type AtOnce, type KeyedRequest } from "./at-once.ts";
import type { NewCard } from "./cards.ts";
import type { Db } from "./connect.ts";
import { rankBeyond, shareColumn, someFraction } from "./placing.ts";
import { shownCard } from "./shown-card.ts";

/** A new draft that refers to nothing but its project, its assignee and the repositories it is linked to. */
export interface NewDraft extends Pick<
  NewCard,
  | "id"
  | "workspaceId"
  | "title"
  | "description"
  | "priority"
  | "assigneeId"
  | "dueDate"
  | "hotfix"
  | "createdBy"
> {
  /** Null means the board's only project. */
  readonly projectId: string | null;
  /** To those the project links by default, or to none. */
  readonly isLinked: boolean;
  readonly eventId: string;
}

/** Its links in the answer: new, so that nothing is known of them yet. */
const LINKS = `
  coalesce((select json_agg(json_build_object('fullName', r.full_name, 'branchName', null, 'prNumber', null, 'prState', null,
                                              'checksState', null) order by r.full_name)
              from linked join repositories r on r.id = linked.id), '[]')`;

/**
 * On a board with one project, or in the one that is named, with an assignee who is a member. The project's row is shared where repositories are linked,
 * so that none leaves it meanwhile. The board's row, which hands out the numbers, is held by all who create cards there. It comes last of the locks and is
 * held for the rest of one statement; what is read under it is as the one before has left it.
 */
const CREATE_AT_ONCE = atOnce(
  `project as (
     select p.id from free join projects p on p.workspace_id = :workspaceId
      where cast(:projectId as uuid) is null or p.id = cast(:projectId as uuid)),
   backlog as (
     select s.id, s.project_id from project join stages s on s.project_id = project.id and s.kind = 'backlog'
      where (select count(*) from project) = 1
        and (cast(:assigneeId as uuid) is null
             or exists (select 1 from memberships m where m.workspace_id = :workspaceId and m.user_id = cast(:assigneeId as uuid)))),
   shared as (
     select p.id from backlog join projects p on p.id = backlog.project_id
      where :isLinked and exists (select 1 from repositories r where r.project_id = p.id and r.link_by_default)
        for share of p),
   linked as materialized (select r.id from shared, default_repositories_of(shared.id) r (id)),
   held as materialized (
     select backlog.id as stage_id, backlog.project_id, ${shareColumn("backlog.id")}
       from backlog where (select count(*) from linked) >= 0),
   taken as (
     update workspaces w set next_card_number = w.next_card_number + 1 from held where w.id = :workspaceId
     returning held.stage_id, held.project_id, w.next_card_number - 1 as number),
   placed as materialized (
     select taken.*, ${rankBeyond("last.rank", "last")} as rank from taken, last_rank_of(taken.stage_id) last (rank)),
   made as (
     insert into cards (id, workspace_id, project_id, number, title, description, stage_id, rank, priority, assignee_id, due_date, hotfix, created_by)
     select :id, :workspaceId, project_id, number, :title, :description, stage_id, rank, :priority,
            cast(:assigneeId as uuid), cast(:dueDate as date), :hotfix, :createdBy
       from placed
     returning *),
   links as (insert into card_repositories (card_id, repository_id) select made.id, linked.id from made, linked),
   told as (
     insert into timeline_items (id, card_id, type, kind, actor_id, data)
     select :eventId, made.id, 'event', 'created', :createdBy, jsonb_build_object('number', made.number) from made),
   answer as (${shownCard("made", { repositories: LINKS, labels: "json_build_array()", parentNumber: "cast(null as integer)" })})`,
  201,
);

/** Makes a draft at the end of its project's backlog and tells of it, with the answer. */
export const createDraftAtOnce = (db: Db, request: KeyedRequest, draft: NewDraft): Promise<AtOnce> =>
  doAtOnce(
    db,
    CREATE_AT_ONCE,
    201,
    request,
    { group: `create ${draft.workspaceId} ${draft.projectId}` },
    { ...draft, fraction: someFraction() },
  );
