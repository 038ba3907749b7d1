import { busy, conflict, invalid, notFound } from "../../errors.ts";
import { REPOSITORIES_CHANGED } from "../../flow/readiness.ts";
import { lockCard, type CardHead } from "../../store/cards/cards.ts";
import { insertLinks, listLinks, removeLinks, type Link } from "../../store/cards/links.ts";
import type { Trx } from "../../store/db/connect.ts";
import { recordEvents, type NewEvent } from "../../store/events/timeline.ts";
import { lockProject } from "../../store/cards/projects.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { listProjectRepositories } from "../../store/forge/repositories.ts";
import { findOpenMove } from "../../store/cards/moves.ts";
import { disarmCard } from "../moves/armed-move.ts";
import { recheckRefusedAndArmedMoves } from "../../store/cards/schedule-rechecks.ts";
import type { Caller, Write } from "../write.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/**
 * Replaces the repositories of a card; true if that changed anything. A job then creates the branch
 * in a new repository if the card's stage requires one, or restores the former one in a repository
 * that is linked again. The caller has locked the project and the card.
 */
export async function relinkCard(
  trx: Trx,
  caller: Caller,
  card: CardHead,
  repositoryIds: readonly string[],
): Promise<boolean> {
  const links = await listLinks(trx, card.id);
  const linked = new Set(links.map(({ repository }) => repository.id));
  const others = repositoryIds.filter((id) => !linked.has(id));
  const added = await requireProjectRepositories(trx, card.projectId, others);
  const removed = links.filter(({ repository }) => !repositoryIds.includes(repository.id));
  if (added.length === 0 && removed.length === 0) return false;
  if (await findOpenMove(trx, card.id)) {
    throw busy(`Card ${card.number} is being moved. Change its repositories after that.`, 2);
  }
  for (const link of removed) requireNoOpenPullRequest(card, link);
  const removedIds = removed.map(({ repository }) => repository.id);
  await removeLinks(trx, card.id, removedIds);
  await insertLinks(trx, card.id, added);
  const of = { cardId: card.id, actor: { userId: caller.userId, login: null } };
  await recordEvents(trx, [
    ...removed.map((link) => unlinked(of, link.repository.id, link.branchName)),
    ...added.map((repositoryId): NewEvent => ({
      ...of,
      kind: "repository_linked",
      repositoryId,
      data: { repositoryId },
    })),
  ]);
  await disarmCard(trx, card.id, REPOSITORIES_CHANGED, caller.userId);
  if (added.length > 0) await schedule(trx, JOBS.catchUpCard, { cardId: card.id });
  // The card may be blocked by a repository that was removed.
  if (card.blocked) await schedule(trx, JOBS.recheckBlocked, { cardId: card.id });
  return true;
}

/** Unlinks a card from a repository, also with an open pull request there. Returns 204. Throws `not_found`. */
export async function unlinkRepository(
  write: Write,
  card: CardHead,
  repositoryId: string,
): Promise<StoredResponse> {
  const { trx, userId } = write;
  await lockProject(trx, card.projectId, "share");
  const current = await lockCard(trx, card.id);
  if (!current) throw notFound(`There is no card ${card.number} on this board.`);
  const link = (await listLinks(trx, card.id)).find(({ repository }) => repository.id === repositoryId);
  if (!link) throw notFound(`Card ${card.number} is not linked to a repository with this id.`);
  if (await findOpenMove(trx, card.id)) {
    throw busy(`Card ${card.number} is being moved. Change its repositories after that.`, 2);
  }
  await removeLinks(trx, card.id, [repositoryId]);
  const of = { cardId: card.id, actor: { userId, login: null } };
  await recordEvents(trx, [unlinked(of, repositoryId, link.branchName)]);
  await disarmCard(trx, card.id, REPOSITORIES_CHANGED, userId);
  if (current.blocked) await schedule(trx, JOBS.recheckBlocked, { cardId: card.id });
  return write.respond(null, 204);
}

const unlinked = (
  of: Pick<NewEvent, "cardId" | "actor">,
  repositoryId: string,
  branchName: string | null,
): NewEvent => ({ ...of, kind: "repository_unlinked", repositoryId, data: { repositoryId, branchName } });

/** Removes these links, except those with merged work. The caller has locked them. */
export async function unlinkUnmerged(
  trx: Trx,
  userId: string,
  links: readonly {
    readonly cardId: string;
    readonly repositoryId: string;
    readonly branchName: string | null;
    readonly hasMerged: boolean;
  }[],
): Promise<void> {
  for (const { cardId, repositoryId, branchName, hasMerged } of links) {
    if (hasMerged) continue;
    await removeLinks(trx, cardId, [repositoryId]);
    const of = { cardId, actor: { userId, login: null } };
    await recordEvents(trx, [unlinked(of, repositoryId, branchName)]);
    await disarmCard(trx, cardId, REPOSITORIES_CHANGED, userId);
    await recheckRefusedAndArmedMoves(trx, cardId);
  }
}

/** Removes duplicates. Throws `invalid` for repositories that the project does not have. */
export async function requireProjectRepositories(
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
