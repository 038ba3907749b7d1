import { atOnce, atOnceOfSeveral, doAtOnce, sideBySide, type AtOnce, type KeyedRequest } from "./at-once.ts";
import type { NewCard } from "./cards.ts";
import type { Db, Question } from "./connect.ts";
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

const GIVEN = [
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
];
const CREATE_AT_ONCE = atOnce("create_draft", GIVEN);
const CREATE_SEVERAL = atOnceOfSeveral("create_drafts", GIVEN);

/** Makes drafts in one project of a board by one statement. */
const asOne = (drafts: readonly Question["bindings"][]): Question => ({
  sql: CREATE_SEVERAL,
  bindings: sideBySide(drafts, ["workspaceId", "projectId"]),
});

/** Makes a draft at the end of its project's backlog and tells of it, with the answer. */
export async function createDraftAtOnce(db: Db, request: KeyedRequest, draft: NewDraft): Promise<AtOnce> {
  const company = { group: `create ${draft.workspaceId} ${draft.projectId}`, apart: request.key, asOne };
  return doAtOnce(db, CREATE_AT_ONCE, 201, request, company, { ...draft, fraction: someFraction() });
}
