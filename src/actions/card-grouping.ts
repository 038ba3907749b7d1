import { invalid } from "../errors.ts";
import type { Trx } from "../store/db/connect.ts";
import { holdFeature } from "../store/cards/features.ts";
import { holdLabels } from "../store/cards/labels.ts";
import { allInOrder } from "../store/db/transaction.ts";

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
