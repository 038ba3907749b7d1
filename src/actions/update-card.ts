import { notFound } from "../errors.ts";
import {
  holdParents,
  lockCard,
  readCard,
  updateCard,
  type CardChanges,
  type CardHead,
  type Priority,
} from "../store/cards.ts";
import type { AtOnce } from "../store/at-once.ts";
import { updateCardAtOnce } from "../store/card-changes.ts";
import { setCardLabels } from "../store/labels.ts";
import { lockProject } from "../store/projects.ts";
import { recordEvents } from "../store/timeline.ts";
import { holdGrouping, type GroupingInput } from "./card-grouping.ts";
import { holdCardPages, saveCardPages, type CardPagesInput } from "./card-pages.ts";
import { cardRelations, type RelationInput } from "./card-relations.ts";
import type { Answered, Caller, KeyedAsker } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { relinkCard } from "./relink-card.ts";

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

/** Fields that are columns of the card, and that nothing else follows from. */
const PLAIN = new Set(["title", "priority", "dueDate", "assigneeId"]);

/** The same in one statement, where all fields given are plain ones. */
export async function setCardFields(
  deps: Deps,
  asker: KeyedAsker,
  number: number,
  input: UpdateCardInput,
): Promise<AtOnce> {
  const fields = fieldsOf(input);
  if (fields.length === 0 || !Object.keys(input).every((field) => PLAIN.has(field))) return null;
  const { title, priority, dueDate, assigneeId } = input;
  const changes = {
    ...(title !== undefined && { title }),
    ...(priority !== undefined && { priority }),
    ...(dueDate !== undefined && { dueDate }),
    ...(assigneeId !== undefined && { assigneeId }),
  };
  const { userId: actorId, workspaceId } = asker;
  const update = { workspaceId, number, changes, eventId: deps.newId(), actorId, fields };
  return updateCardAtOnce(deps.db, asker, update);
}

/** Sets the fields that are given, leaves the others, and answers with the whole card. */
export async function patchCard(
  deps: Deps,
  caller: Caller,
  card: CardHead,
  input: UpdateCardInput,
): Promise<Answered> {
  return deps.db.transaction(async (trx) => {
    if (input.repositoryIds) await lockProject(trx, card.projectId, "share");
    await holdGrouping(trx, caller.workspaceId, input);
    await holdCardPages(trx, caller.workspaceId, input);
    const current = await lockCard(trx, card.id);
    if (!current) throw notFound(`There is no card ${card.number} on this board.`);
    if (typeof input.parentNumber === "number") await holdParents(trx, caller.workspaceId);
    const { title, description, priority, dueDate, featureId } = input;
    const changes: CardChanges = {
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(priority !== undefined && { priority }),
      ...(dueDate !== undefined && { dueDate }),
      ...(featureId !== undefined && { featureId }),
      ...(await cardRelations(trx, caller.workspaceId, input, card.id)),
    };
    if (input.labelIds) await setCardLabels(trx, card.id, input.labelIds);
    await saveCardPages(trx, caller.workspaceId, card.id, input);
    const isRelinked = input.repositoryIds && (await relinkCard(trx, caller, current, input.repositoryIds));
    const fields = fieldsOf(input);
    if (fields.length > 0 || isRelinked) await updateCard(trx, card.id, changes);
    if (fields.length > 0) {
      await recordEvents(trx, [
        {
          cardId: card.id,
          kind: "updated",
          actor: { userId: caller.userId, login: null },
          data: { fields },
        },
      ]);
    }
    return caller.answer(trx, await readCard(trx, caller.workspaceId, card.number));
  });
}
