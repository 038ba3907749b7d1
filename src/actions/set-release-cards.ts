import { busy, conflict, invalid } from "../errors.ts";
import type { Trx } from "../store/db/connect.ts";
import { findPickUnderWay } from "../store/releases/release-actions.ts";
import {
  holdCards,
  listOpenScopes,
  saveReleaseCards,
  type ScopedCard,
} from "../store/releases/release-cards.ts";
import type { ReleaseHead } from "../store/releases/releases.ts";
import { recordEvents, type NewEvent } from "../store/events/timeline.ts";
import { requireIdle } from "./begin-release-action.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import { holdOpenRelease } from "./hold-release.ts";
import { requireKnown } from "./unknown-cards.ts";

/**
 * Makes these the cards of a release, all of them and no others. Answers 204. Throws `not_found` for a number that no card of the board has, `invalid` for
 * a card of another project, `conflict` for a card that is in another open release, or once the release is frozen.
 */
export async function setReleaseCards(
  write: Write,
  release: ReleaseHead,
  taskNumbers: readonly number[],
): Promise<StoredAnswer> {
  const { trx } = write;
  const cards = await holdCards(trx, write.workspaceId, taskNumbers);
  requireOfProject(release, cards, taskNumbers);
  const current = await holdOpenRelease(trx, release);
  if (current.frozenAt) {
    throw conflict(
      `The release ${current.name} is frozen. Add a card with POST /v1/releases/${current.id}/pick, or unfreeze the release to change its scope.`,
    );
  }
  await requireIdle(trx, current);
  await requireInNoOther(trx, current, cards);
  const added = await saveReleaseCards(
    trx,
    current.id,
    cards.map(({ id }) => id),
  );
  const told = cards.filter(({ id }) => added.has(id));
  await recordEvents(
    trx,
    told.map(({ id }) => addedTo(current, id, write.userId, "release_added")),
  );
  return write.answer(null, 204);
}

function requireOfProject(
  { projectId }: ReleaseHead,
  cards: readonly ScopedCard[],
  numbers: readonly number[],
): void {
  const known = new Map(cards.map((card) => [card.number, card]));
  requireKnown(numbers, (number) => known.has(number));
  const issues = numbers.flatMap((number, at) =>
    known.get(number)?.projectId === projectId
      ? []
      : [{ path: `body.taskNumbers.${at}`, message: `card ${number} belongs to another project` }],
  );
  const [first] = issues;
  if (first) throw invalid(`${first.path}: ${first.message}`, issues.slice(0, 50));
}

/** Refuses cards that are in another open release, or on their way into one. */
export async function requireInNoOther(
  trx: Trx,
  release: ReleaseHead,
  cards: readonly Pick<ScopedCard, "id">[],
): Promise<void> {
  const cardIds = cards.map(({ id }) => id);
  const pickedInto = await findPickUnderWay(trx, cardIds);
  if (pickedInto !== null) {
    throw busy(
      `A card of these is being picked into the release ${pickedInto}. Try again once that is done.`,
      2,
    );
  }
  const scopes = await listOpenScopes(trx, cardIds);
  const taken = scopes.filter(({ releaseId }) => releaseId !== release.id);
  const [first] = taken;
  if (!first) return;
  const more = taken.length > 1 ? ` (${taken.length - 1} more are in other releases)` : "";
  throw conflict(
    `Card ${first.number} is in the open release ${first.releaseName} already, and a card is in one at a time. Take it out of that one first${more}.`,
  );
}

/** What a card's timeline says of the release it came into. */
export const addedTo = (
  { id, name }: ReleaseHead,
  cardId: string,
  userId: string,
  kind: "release_added" | "release_picked",
): NewEvent => ({
  cardId,
  kind,
  actor: { userId, login: null },
  data: { releaseId: id, releaseName: name },
});
