import { invalid } from "../../errors.ts";
import { wikiLinksOf } from "../../flow/wiki-links.ts";
import { findCard, isSelfOrAncestor } from "../../store/cards/cards.ts";
import { holdFeature } from "../../store/cards/features.ts";
import { holdLabels } from "../../store/cards/labels.ts";
import { holdThesePages, setCardPageLinks, setCardPages } from "../../store/cards/page-links.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import { allInOrder } from "../../store/db/transaction.ts";
import { isMember } from "../../store/tenancy/credentials.ts";

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

export interface GroupingInput {
  /** The whole set. */
  readonly labelIds?: readonly string[] | undefined;
  readonly featureId?: string | null | undefined;
}

/**
 * Checks that what a card is to be grouped by is the board's, and holds it until the transaction ends. To be called before the card's
 * own row is held: a deletion goes from the label or feature to its cards, and who goes the other way would deadlock with it.
 */
export async function holdGrouping(
  trx: Trx,
  workspaceId: string,
  { labelIds = [], featureId }: GroupingInput,
): Promise<void> {
  const [labels, feature] = await allInOrder([
    labelIds.length > 0 ? holdLabels(trx, workspaceId, labelIds) : new Set<string>(),
    typeof featureId === "string" ? holdFeature(trx, workspaceId, featureId) : true,
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

export interface CardPagesInput {
  readonly description?: string | undefined;
  /** The whole set. */
  readonly docIds?: readonly string[] | undefined;
}

/**
 * Checks that the pages a card is to carry are the board's, and holds them until the transaction ends. To be called before the card's own
 * row is held.
 */
export async function holdCardPages(
  trx: Trx,
  workspaceId: string,
  { docIds = [] }: CardPagesInput,
): Promise<void> {
  if (docIds.length === 0) return;
  const known = await holdThesePages(trx, workspaceId, docIds);
  const unknown = docIds.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  throw invalid(`These are not pages of this board: ${unknown.join(", ")}. GET /v1/docs lists them.`, [
    { path: "body.docIds", message: "not a page of this board" },
  ]);
}

/** Has the card carry the pages it is given, where any are, and those its description links to. */
export async function saveCardPages(
  trx: Trx,
  workspaceId: string,
  cardId: string,
  { description, docIds }: CardPagesInput,
): Promise<void> {
  await allInOrder([
    docIds && setCardPages(trx, cardId, docIds),
    description !== undefined && setCardPageLinks(trx, workspaceId, cardId, wikiLinksOf(description)),
  ]);
}
