import { invalid } from "../errors.ts";
import { wikiLinksOf } from "../flow/wiki-links.ts";
import type { Trx } from "../store/db/connect.ts";
import { holdThesePages, setCardPageLinks, setCardPages } from "../store/cards/page-links.ts";
import { allInOrder } from "../store/db/transaction.ts";

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
