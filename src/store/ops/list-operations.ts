import type { Db } from "../db/connect.ts";
import { isoTime } from "../db/connect.ts";
import { readPage, type ListSlice, type ListWindow } from "../db/list-window.ts";
import { userJsonSql, type User } from "../tenancy/users.ts";
import type { Operation } from "./operations.ts";

/** An operation as `GET /v1/operations` shows it. */
export interface ListedOperation extends Pick<Operation, "id" | "kind" | "state"> {
  readonly subject:
    | { readonly type: "card"; readonly number: number; readonly title: string }
    | { readonly type: "release"; readonly id: string; readonly name: string }
    | null;
  readonly by: User;
  readonly progress: { readonly done: number; readonly total: number | null } | null;
  readonly startedAt: string;
}

/** Null for each value that any operation may have. */
interface OperationFilter {
  readonly state: Operation["state"] | null;
  /** The card of a move, or of a pick. */
  readonly cardId: string | null;
}

const SUBJECT = `
  case when c.id is not null then json_build_object('type', 'card', 'number', c.number, 'title', c.title)
       when r.id is not null then json_build_object('type', 'release', 'id', r.id, 'name', r.name) end`;

/** A card whose merge GitHub has accepted is done when its move has ended. */
const IS_DONE = `
  p.state <> 'pending' and not (p.state = 'queued' and exists (
    select 1 from operations m where m.card_id = p.card_id and m.state in ('running', 'queued')))`;

const PROGRESS = `
  case o.kind
    when 'move' then json_build_object('done', jsonb_array_length(o.progress->'promoted'), 'total', null)
    when 'promote' then (select json_build_object('done', count(*) filter (where ${IS_DONE}), 'total', count(*))
                           from release_promotions p where p.operation_id = o.id) end`;

/** Lists the operations of a board, the newest first. */
export const listOperations = (
  db: Db,
  workspaceId: string,
  filter: OperationFilter,
  window: ListWindow<string>,
): Promise<ListSlice<ListedOperation, string>> =>
  readPage<ListedOperation, string>(db, window, {
    sql: `
      select o.id, o.kind, ${SUBJECT} as subject, o.state, ${userJsonSql("o.workspace_id", "u")} as by,
             ${PROGRESS} as progress, ${isoTime("o.created_at")} as "startedAt"
        from operations o join users u on u.id = o.actor_id
        left join cards c on c.id = o.card_id left join releases r on r.id = o.release_id
       where o.workspace_id = :workspaceId
         and (cast(:state as text) is null or o.state = :state)
         and (cast(:cardId as uuid) is null or :cardId in (o.card_id, o.picked_card_id))
         and (cast(:after as uuid) is null or o.id < :after)
       order by o.id desc`,
    bindings: { workspaceId, ...filter, after: window.after },
    bytes: "octet_length(cast(listed.subject as text))",
    keyOf: ({ id }) => id,
  });
