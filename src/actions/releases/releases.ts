import { busy, conflict, invalid, notFound, requireFound } from "../../errors.ts";
import { freeSlug, slugOf } from "../../flow/names.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { lockProject, type Project } from "../../store/cards/projects.ts";
import { finishOperation } from "../../store/ops/operations.ts";
import { findOpenOperation, findRunningPick } from "../../store/releases/release-operations.ts";
import {
  lockCards,
  listOpenScopes,
  mapReleaseCards,
  removeReleaseCard,
  saveReleaseCards,
  type ScopedCard,
} from "../../store/releases/release-cards.ts";
import {
  lockOpenReleases,
  insertRelease,
  listReleaseSlugs,
  readRelease,
  removeRelease,
  type ReleaseHead,
} from "../../store/releases/releases.ts";
import { recordChange, type ChangedBy } from "../../store/events/feed.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import { busyRelease, lockOpenRelease, requireIdle } from "./release-operation.ts";

/** Adds an empty release to a project; its slug names its branches. Returns 201. */
export async function createRelease(
  deps: Deps,
  write: Write,
  project: Project,
  name: string,
): Promise<StoredResponse> {
  const id = deps.newId();
  const { trx } = write;
  requireFound(await lockProject(trx, project.id, "no key update"), "project");
  const taken = await listReleaseSlugs(trx, project.id);
  const slug = freeSlug(slugOf(name) || "release", (candidate) => taken.has(candidate));
  await insertRelease(trx, { id, projectId: project.id, name, slug, createdBy: write.userId });
  await recordRelease(trx, write, { id, name }, { from: null, to: "open" });
  return write.respond(await readRelease(trx, id), 201);
}

/**
 * Deletes an open release, also a frozen one; its cards stay, and its branches and tags on GitHub. Ends an
 * operation that no process is working on, except a promotion, which can be cancelled. Returns 204. Throws
 * `conflict` if the release is completed, and busy during another operation.
 */
export async function deleteRelease(write: Write, release: ReleaseHead): Promise<StoredResponse> {
  const { trx } = write;
  const current = await lockOpenRelease(trx, release);
  const operation = await findOpenOperation(trx, current.id);
  if (operation && (operation.hasLiveOwner || operation.kind === "promote"))
    throw busyRelease(current, operation);
  if (operation) await finishOperation(trx, operation, "abandoned");
  await removeRelease(trx, current.id);
  await recordRelease(trx, write, current, { from: current.frozenAt ? "frozen" : "open", to: null });
  return write.respond(null, 204);
}

/**
 * Replaces the cards of a release. Returns 204. Throws `not_found` for a number that no card of the
 * board has, `invalid` for a card of another project, and `conflict` if a card is in another open
 * release or the release is frozen.
 */
export async function setReleaseCards(
  write: Write,
  release: ReleaseHead,
  taskNumbers: readonly number[],
): Promise<StoredResponse> {
  const { trx } = write;
  const cards = await lockCards(trx, write.workspaceId, taskNumbers);
  requireOfProject(release, cards, taskNumbers);
  const current = await lockOpenRelease(trx, release);
  if (current.frozenAt) {
    throw conflict(
      `The release ${current.name} is frozen. Add a card with POST /v1/releases/${current.id}/pick, or unfreeze the release to change its scope.`,
    );
  }
  await requireIdle(trx, current);
  await requireInNoOtherRelease(trx, current, cards);
  const { id: releaseId, name: releaseName } = current;
  const cardIds = cards.map(({ id }) => id);
  const before = await mapReleaseCards(trx, releaseId);
  const added = await saveReleaseCards(trx, releaseId, cardIds);
  await recordEvents(
    trx,
    cardIds
      .filter((cardId) => added.has(cardId))
      .map((cardId) => ({
        cardId,
        kind: "release_added",
        actor: { userId: write.userId, login: null },
        data: { releaseId, releaseName },
      })),
  );
  const [from, to] = [{ taskNumbers: [...before.keys()] }, { taskNumbers }];
  await recordChange(trx, write, { kind: "release_changed", data: { releaseId, releaseName, from, to } });
  return write.respond(null, 204);
}

type ReleaseState = "open" | "frozen" | "completed" | null;

/** The state of one of its operations. */
interface OperationState {
  readonly operationId: string;
  readonly state: "running" | "cancelled";
}

/**
 * Records the new state of a release or of its operation. A release has the state null before it
 * exists and after it is deleted.
 */
export const recordRelease = (
  trx: Trx,
  by: ChangedBy,
  { id: releaseId, name: releaseName }: Pick<ReleaseHead, "id" | "name">,
  { from, to }: Record<"from" | "to", ReleaseState | OperationState>,
): Promise<void> =>
  recordChange(trx, by, { kind: "release_changed", data: { releaseId, releaseName, from, to } });

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

/** Refuses cards that are in another open release, or are being picked into a release. */
export async function requireInNoOtherRelease(
  trx: Trx,
  release: ReleaseHead,
  cards: readonly Pick<ScopedCard, "id">[],
): Promise<void> {
  const cardIds = cards.map(({ id }) => id);
  const pickedInto = await findRunningPick(trx, cardIds);
  if (pickedInto !== null) {
    throw busy(`A card is being picked into release ${pickedInto}. Try again after that.`, 2);
  }
  const scopes = await listOpenScopes(trx, cardIds);
  const taken = scopes.filter(({ releaseId }) => releaseId !== release.id);
  const [first] = taken;
  if (!first) return;
  const others = taken.length - 1;
  const more =
    others > 0 ? ` (${others} more ${others === 1 ? "card is" : "cards are"} in open releases)` : "";
  throw conflict(
    `Card ${first.number} is in the open release ${first.releaseName}. Remove it from that release first${more}.`,
  );
}

/**
 * Removes a card that is about to be deleted from its open release; completed releases keep it. The
 * caller has locked the card. Throws `conflict` if the release is frozen, and busy during an operation
 * on it.
 */
export async function removeFromRelease(trx: Trx, card: CardHead): Promise<void> {
  const pickedInto = await findRunningPick(trx, [card.id]);
  if (pickedInto !== null) {
    throw busy(`Card ${card.number} is being picked into release ${pickedInto}. Delete it after that.`, 2);
  }
  const [scope] = await listOpenScopes(trx, [card.id]);
  if (!scope) return;
  const open = await lockOpenReleases(trx, card.projectId);
  const release = open.find(({ id }) => id === scope.releaseId);
  if (release?.frozenAt) {
    throw conflict(
      `Card ${card.number} is in the frozen release ${release.name}. Unfreeze, complete or delete the release first.`,
    );
  }
  if (release) await requireIdle(trx, release);
  await removeReleaseCard(trx, scope.releaseId, card.id);
}

/** Throws `not_found` for numbers that no card of the board has. */
export function requireKnown(numbers: readonly number[], isKnown: (number: number) => boolean): void {
  const unknown = numbers.filter((number) => !isKnown(number));
  if (unknown.length === 0) return;
  const named = unknown.slice(0, 10).join(", ") + (unknown.length > 10 ? ", …" : "");
  throw notFound(
    unknown.length === 1
      ? `There is no card ${named} on this board.`
      : `There are no cards ${named} on this board.`,
  );
}
