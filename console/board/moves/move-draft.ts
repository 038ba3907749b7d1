import type { Card } from "../../api/schema.d.ts";
import type { MoveRequest } from "./move.ts";

/** The backlog after a move: with the draft at its new place, or without it. */
export function moveDraft(drafts: readonly Card[], { number, to }: MoveRequest): readonly Card[] {
  const draft = drafts.find((each) => each.number === number);
  if (!draft) return drafts;
  const others = drafts.filter((each) => each !== draft);
  if (to.statusId !== draft.statusId) return others;
  const above = others.findIndex((each) => each.number === to.above);
  return others.toSpliced(to.above !== null && above < 0 ? others.length : above + 1, 0, draft);
}
