import { invalid } from "../../errors.ts";
import { findCard, isSelfOrAncestor, type Priority } from "../../store/cards/cards.ts";
import { lockFeature } from "../../store/cards/features.ts";
import { lockRelated, setRelated } from "../../store/cards/card-relations.ts";
import { setCardPageLinks } from "../../store/cards/page-links.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import { allInOrder } from "../../store/db/transaction.ts";
import { wikiLinksOf } from "../pages/wiki-links.ts";
import { isMember } from "../../store/tenancy/credentials.ts";

/** The fields of a card that a request sets. Ids refer to the board. */
export interface CardInput {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly priority?: Priority | undefined;
  readonly dueDate?: string | null | undefined;
  readonly assigneeId?: string | null | undefined;
  readonly parentNumber?: number | null | undefined;
  readonly featureId?: string | null | undefined;
  readonly labelIds?: readonly string[] | undefined;
  readonly docIds?: readonly string[] | undefined;
  /** Replaces all of them. A new card has by default those that its project links by default. */
  readonly repositoryIds?: readonly string[] | undefined;
}

interface Relations {
  readonly assigneeId?: string | null;
  readonly parentId?: string | null;
}

/**
 * Finds the assignee and the parent of a card. The assignee must be a member of the board, the
 * parent a card of the board that does not descend from the card itself (`cardId`, absent for a new
 * one). Absent stays absent, null stays null.
 */
export async function findRelations(
  db: Db,
  workspaceId: string,
  input: CardInput,
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
  if (cardId !== undefined && (await isSelfOrAncestor(db, "cards", cardId, parent.id))) {
    throw wrongParent(`Card ${parentNumber} is this card itself, or is below it.`);
  }
  return parent.id;
}

/**
 * Checks that labels and feature exist on the board, and locks them. Call it before locking the
 * card, to prevent deadlocks: deleting a label or feature locks its cards after it.
 */
export async function lockGrouping(
  trx: Trx,
  workspaceId: string,
  { labelIds = [], featureId }: CardInput,
): Promise<void> {
  const [labels, feature] = await allInOrder([
    labelIds.length > 0 ? lockRelated(trx, "labels", workspaceId, labelIds) : new Set<string>(),
    typeof featureId === "string" ? lockFeature(trx, workspaceId, featureId) : true,
  ]);
  const unknown = labelIds.filter((id) => !labels.has(id));
  if (unknown.length > 0) {
    throw invalid(`These are not labels of this board: ${unknown.join(", ")}. GET /v1/labels lists them.`, [
      { path: "body.labelIds", message: "not a label of this board" },
    ]);
  }
  if (!feature) {
    throw invalid(
      `This board has no feature with the id ${featureId}. GET /v1/features?archived=1 lists them.`,
      [{ path: "body.featureId", message: "not a feature of this board" }],
    );
  }
}

/** Checks that pages exist on the board, and locks them. Call it before locking the card. */
export async function lockCardPages(
  trx: Trx,
  workspaceId: string,
  { docIds = [] }: CardInput,
): Promise<void> {
  if (docIds.length === 0) return;
  const known = await lockRelated(trx, "pages", workspaceId, docIds);
  const unknown = docIds.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  throw invalid(`These are not pages of this board: ${unknown.join(", ")}. GET /v1/docs lists them.`, [
    { path: "body.docIds", message: "not a page of this board" },
  ]);
}

/** Stores the given pages of a card, and those its description links to. */
export async function saveCardPages(
  trx: Trx,
  workspaceId: string,
  cardId: string,
  { description, docIds }: CardInput,
): Promise<void> {
  const links = description === undefined ? null : await wikiLinksOf(description);
  await allInOrder([
    docIds && setRelated(trx, "pages", cardId, docIds),
    links && setCardPageLinks(trx, workspaceId, cardId, links),
  ]);
}
