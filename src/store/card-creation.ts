import { atOnce, doAtOnce, type AtOnce, type KeyedRequest } from "./at-once.ts";
import type { NewCard } from "./cards.ts";
import type { Db } from "./connect.ts";
import { someFraction } from "./placing.ts";

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

const CREATE_AT_ONCE = atOnce("create_draft", [
  "id",
  "workspaceId",
  "projectId",
  "title",
  "description",
  "priority",
  "assigneeId",
  "dueDate",
  "hotfix",
  "isLinked",
  "createdBy",
  "eventId",
  "fraction",
]);

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
