import { busy, conflict, invalid } from "../../errors.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import { insertLinks, listLinks, removeLinks, type Link } from "../../store/cards/links.ts";
import type { Trx } from "../../store/db/connect.ts";
import { recordEvents, type NewEvent } from "../../store/events/timeline.ts";
import { listProjectRepositories } from "../../store/forge/repositories.ts";
import { findOpenOperation } from "../../store/ops/operations.ts";
import { catchUpSoon } from "../reconcile/catch-up-card.ts";
import { recheckSoon } from "../reconcile/recheck-blocked.ts";
import type { Caller } from "../write.ts";

/**
 * Makes these the repositories a card is linked to, all of them and no others; true where that changed anything. A card that stands in a stage
 * with Git gets its branch in a new one soon, and any card the one it had where it is linked again. The card's row, and its project's, are held by the caller.
 */
export async function relinkCard(
  trx: Trx,
  caller: Caller,
  card: CardHead,
  repositoryIds: readonly string[],
): Promise<boolean> {
  const links = await listLinks(trx, card.id);
  const linked = new Set(links.map(({ repository }) => repository.id));
  const added = await knownRepositories(
    trx,
    card.projectId,
    repositoryIds.filter((id) => !linked.has(id)),
  );
  const removed = links.filter(({ repository }) => !repositoryIds.includes(repository.id));
  if (added.length === 0 && removed.length === 0) return false;
  if (await findOpenOperation(trx, card.id)) {
    throw busy(`Card ${card.number} is being moved. Change its repositories once that is done.`, 2);
  }
  for (const link of removed) requireNoOpenPullRequest(card, link);
  await removeLinks(
    trx,
    card.id,
    removed.map(({ repository }) => repository.id),
  );
  await insertLinks(trx, card.id, added);
  const actor = { userId: caller.userId, login: null };
  await recordEvents(trx, [
    ...removed.map((link): NewEvent => unlinked(card.id, actor, link.repository.id, link.branchName)),
    ...added.map((repositoryId): NewEvent => ({
      cardId: card.id,
      kind: "repository_linked",
      actor,
      repositoryId,
      data: { repositoryId },
    })),
  ]);
  if (added.length > 0) await catchUpSoon(trx, card.id);
  // What stood in its way in a repository that it has no more to do with is gone.
  if (card.blocked) await recheckSoon(trx, card.id);
  return true;
}

/** What a card's timeline says of a repository it is linked to no longer. */
export const unlinked = (
  cardId: string,
  actor: NewEvent["actor"],
  repositoryId: string,
  branchName: string | null,
): NewEvent => ({
  cardId,
  kind: "repository_unlinked",
  actor,
  repositoryId,
  data: { repositoryId, branchName },
});

/** These repositories, each once. Throws `invalid` naming those that are not the project's. */
export async function knownRepositories(
  trx: Trx,
  projectId: string,
  repositoryIds: readonly string[],
): Promise<string[]> {
  const known = new Set((await listProjectRepositories(trx, projectId)).map(({ id }) => id));
  const unknown = repositoryIds.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw invalid(`These are not repositories of the card's project: ${unknown.join(", ")}.`, [
      { path: "body.repositoryIds", message: "not a repository of this project" },
    ]);
  }
  return [...new Set(repositoryIds)];
}

function requireNoOpenPullRequest(card: CardHead, { repository, pullRequests }: Link): void {
  const open = pullRequests.find(({ state }) => state === "draft" || state === "open");
  if (!open) return;
  throw conflict(
    `Pull request #${open.number} of card ${card.number} is open in ${repository.fullName}. Merge or close it before unlinking the repository.`,
  );
}
