import { notFound } from "../errors.ts";
import {
  holdParents,
  lockCard,
  readChangedCard,
  saveCardFields,
  type CardChanges,
  type CardHead,
  type Priority,
} from "../store/cards/cards.ts";
import { countColumn } from "../store/cards/placing.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import { setCardLabels } from "../store/cards/labels.ts";
import { lockProject } from "../store/cards/projects.ts";
import { recordEvents } from "../store/events/timeline.ts";
import { holdGrouping, type GroupingInput } from "./card-grouping.ts";
import { holdCardPages, saveCardPages, type CardPagesInput } from "./card-pages.ts";
import { cardRelations, type RelationInput } from "./card-relations.ts";
import type { Deps } from "./deps.ts";
import { relinkCard } from "./relink-card.ts";
import type { Write } from "./write.ts";
import { allInOrder } from "../store/db/transaction.ts";

export interface UpdateCardInput extends RelationInput, GroupingInput, CardPagesInput {
  readonly title?: string | undefined;
  readonly priority?: Priority | undefined;
  readonly dueDate?: string | null | undefined;
  /** The whole set. */
  readonly repositoryIds?: readonly string[] | undefined;
}

/** What the timeline says was changed: repositories have events of their own. */
const fieldsOf = (input: UpdateCardInput): string[] =>
  Object.keys(input)
    .filter((field) => field !== "repositoryIds")
    .toSorted();

/** Sets the fields that are given, leaves the others, and answers with the whole card. */
export async function updateCard(
  deps: Deps,
  write: Write,
  card: CardHead,
  input: UpdateCardInput,
): Promise<StoredAnswer> {
  const { trx, workspaceId, userId } = write;
  const { title, description, priority, dueDate, featureId } = input;
  const [, , , current, , relations] = await allInOrder([
    input.repositoryIds && lockProject(trx, card.projectId, "share"),
    holdGrouping(trx, workspaceId, input),
    holdCardPages(trx, workspaceId, input),
    lockCard(trx, card.id),
    typeof input.parentNumber === "number" && holdParents(trx, workspaceId),
    cardRelations(trx, workspaceId, input, card.id),
  ]);
  if (!current) throw notFound(`There is no card ${card.number} on this board.`);
  const changes: CardChanges = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(priority !== undefined && { priority }),
    ...(dueDate !== undefined && { dueDate }),
    ...(featureId !== undefined && { featureId }),
    ...relations,
  };
  const isRelinked = input.repositoryIds && (await relinkCard(trx, write, current, input.repositoryIds));
  const fields = fieldsOf(input);
  const updated = {
    cardId: card.id,
    kind: "updated",
    actor: { userId, login: null },
    data: { fields },
  } as const;
  const [, , , , { card: changed, columnToCount }] = await allInOrder([
    input.labelIds && setCardLabels(trx, card.id, input.labelIds),
    saveCardPages(trx, workspaceId, card.id, input),
    (fields.length > 0 || isRelinked) && saveCardFields(trx, card.id, changes),
    fields.length > 0 && recordEvents(trx, [updated]),
    readChangedCard(trx, workspaceId, card.number),
  ]);
  const answer = await write.answer(changed);
  if (columnToCount !== null) await countColumn(deps.db, columnToCount);
  return answer;
}
