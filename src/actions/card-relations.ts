import { invalid } from "../errors.ts";
import { findCard, isSelfOrAncestor } from "../store/cards/cards.ts";
import type { Db } from "../store/db/connect.ts";
import { isMember } from "../store/tenancy/credentials.ts";

export interface RelationInput {
  readonly assigneeId?: string | null | undefined;
  readonly parentNumber?: number | null | undefined;
}

export interface Relations {
  readonly assigneeId?: string | null;
  readonly parentId?: string | null;
}

/**
 * Turns what a card's fields name into what they are, within the board: an assignee must be a member of it, a parent a card of
 * it that does not descend from the card itself (`cardId`, absent for a new one). Absent stays absent, null stays null.
 */
export async function cardRelations(
  db: Db,
  workspaceId: string,
  input: RelationInput,
  cardId?: string,
): Promise<Relations> {
  const { assigneeId, parentNumber } = input;
  if (typeof assigneeId === "string" && !(await isMember(db, workspaceId, assigneeId))) {
    throw invalid("The assignee is not a member of this board.", [
      { path: "body.assigneeId", message: "not a member of this board" },
    ]);
  }
  return {
    ...(assigneeId !== undefined && { assigneeId }),
    ...(parentNumber !== undefined && { parentId: await parentOf(db, workspaceId, parentNumber, cardId) }),
  };
}

const wrongParent = (message: string): Error => invalid(message, [{ path: "body.parentNumber", message }]);

async function parentOf(
  db: Db,
  workspaceId: string,
  parentNumber: number | null,
  cardId: string | undefined,
): Promise<string | null> {
  if (parentNumber === null) return null;
  const parent = await findCard(db, workspaceId, parentNumber);
  if (!parent) throw wrongParent(`There is no card ${parentNumber} on this board.`);
  if (cardId !== undefined && (await isSelfOrAncestor(db, cardId, parent.id))) {
    throw wrongParent(`Card ${parentNumber} is below this card, or is the card itself.`);
  }
  return parent.id;
}
