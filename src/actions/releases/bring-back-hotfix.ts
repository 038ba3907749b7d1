import { slugOf } from "../../flow/names.ts";
import { earlierTargetsOf, targetOf, type Flow } from "../../flow/flow.ts";
import type { Refusal } from "../../flow/refusal.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import { findCardById, type CardHead } from "../../store/cards/cards.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";
import { transaction } from "../../store/db/transaction.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { LinkedPullRequest } from "../../store/forge/pull-requests.ts";
import {
  findIntent,
  fulfilIntent,
  recordIntent,
  withdrawIntent,
  type Intent,
} from "../../store/ops/intents.ts";
import { lastMoverOf } from "../../store/ops/operations.ts";
import {
  clearBackmerge,
  listForgottenBackmerges,
  listOpenBackmerges,
  noteBackmerge,
  saveBackmergeLook,
  saveBackmergeOpened,
  type Backmerge,
} from "../../store/releases/release-cards.ts";
import type { Deps } from "../deps.ts";

export const BRING_BACK_HOTFIX = "bring-back-hotfix";
export const LOOK_AFTER_HOTFIXES = "look-after-hotfixes";

/** How many names are tried when others have them. */
const MAX_NAMES = 20;
/** How many cards one round of looking after takes. */
const BATCH = 50;

/** Asks for what a card still owes to other branches to be looked at, soon. */
export function bringBackSoon(db: Db, cardId: string): Promise<void> {
  const key = `${BRING_BACK_HOTFIX}:${cardId}`;
  return addJob(db, BRING_BACK_HOTFIX, { cardId }, { key, queue: key, delayMs: 200 });
}

/** Looks again at what no push has told of, in case its word was lost. */
export async function lookAfterHotfixes(deps: Deps): Promise<void> {
  for (const cardId of await listForgottenBackmerges(deps.db, BATCH)) await bringBackSoon(deps.db, cardId);
}

/**
 * Opens a pull request into every branch that comes before the far end of the flow and lacks what a hotfix has landed there, and forgets
 * those that have it by now. Every round begins with a look at the forge, so that a killed one is gone on with. Of a card that was picked
 * from elsewhere it only looks: how it gets to the trunk is a person's decision.
 */
export async function bringBackHotfix(deps: Deps, cardId: string): Promise<void> {
  const card = await findCardById(deps.db, cardId);
  const project = card && (await findProject(deps.db, card.workspaceId, card.projectId));
  if (!card || !project) return;
  const links = await listLinks(deps.db, cardId);
  const actorId = (await lastMoverOf(deps.db, cardId)) ?? card.createdBy;
  if (card.hotfix) for (const link of links) await noteWhatLanded(deps, card, project.flow, link, actorId);
  for (const backmerge of await listOpenBackmerges(deps.db, cardId)) {
    const link = links.find(({ repository }) => repository.id === backmerge.repositoryId);
    if (link?.repository.ref) await bringTo(deps, card, link, link.repository.ref, backmerge);
  }
}

async function noteWhatLanded(
  deps: Deps,
  card: CardHead,
  flow: Flow,
  { repository, pullRequests }: Link,
  actorId: string,
): Promise<void> {
  const named = (target: string | null): string => target ?? repository.defaultBranch;
  const farEnd = named(targetOf(flow, true));
  const landed = pullRequests.find(
    ({ state, targetBranch }) => state === "merged" && targetBranch === farEnd,
  );
  if (!landed) return;
  for (const target of earlierTargetsOf(flow).map(named)) {
    if (target === farEnd) continue;
    const backmerge = { repositoryId: repository.id, targetBranch: target, sha: landed.headSha, actorId };
    await noteBackmerge(deps.db, { cardId: card.id, ...backmerge });
  }
}

async function bringTo(
  deps: Deps,
  card: CardHead,
  { pullRequests }: Link,
  repository: RepositoryRef,
  backmerge: Backmerge,
): Promise<void> {
  const key = { ...backmerge, cardId: card.id };
  const isMerged = ({ state, targetBranch }: LinkedPullRequest): boolean =>
    state === "merged" && targetBranch === backmerge.targetBranch;
  if (!card.hotfix && pullRequests.some(isMerged)) return clearBackmerge(deps.db, key);
  const contained = await deps.forge.contains(repository, backmerge.targetBranch, backmerge.sha);
  const isThere = contained ?? (await deps.forge.branchHead(repository, backmerge.targetBranch)) === null;
  // A branch that does not exist lacks nothing.
  if (isThere) return clearBackmerge(deps.db, key);
  if (backmerge.prNumber !== null || !card.hotfix) return saveBackmergeLook(deps.db, key, null);
  const cut = await cutBranch(deps, card, repository, backmerge);
  const refusal = "reason" in cut ? cut : await openPullRequest(deps, card, repository, backmerge, cut.name);
  if (!refusal) return;
  deps.log.warn({ cardId: card.id, reason: refusal.reason }, "a hotfix could not be brought back");
  await saveBackmergeLook(deps.db, key, refusal.message);
}

/** A branch of its own at the commit that landed, so that conflicts are resolved beside the card's branch and not on it. */
async function cutBranch(
  deps: Deps,
  card: CardHead,
  repository: RepositoryRef,
  { repositoryId, targetBranch, sha, actorId }: Backmerge,
): Promise<{ readonly name: string } | Refusal> {
  const plain = `backmerge/${card.number}-${slugOf(targetBranch) || "target"}`;
  for (let attempt = 1; attempt <= MAX_NAMES; attempt++) {
    const name = attempt === 1 ? plain : `${plain}-${attempt}`;
    const intent: Intent = { repositoryId, kind: "create_branch", subject: name, cardId: card.id, actorId };
    const earlier = await findIntent(deps.db, intent);
    await recordIntent(deps.db, intent);
    const created = await deps.forge.createBranch(repository, name, sha);
    // Ours at another commit: somebody has pushed to it since. That we only meant to cut it proves nothing: it may have been theirs before.
    const isOurs =
      created.ok &&
      (!("taken" in created.value) ||
        (earlier?.done === true && (await deps.forge.contains(repository, name, sha)) === true));
    if (isOurs) {
      await fulfilIntent(deps.db, intent);
      return { name };
    }
    await withdrawIntent(deps.db, intent);
    if (!created.ok) return created.refusal;
  }
  return { reason: "unknown", message: `Every name from ${plain} to ${plain}-${MAX_NAMES} is taken.` };
}

async function openPullRequest(
  deps: Deps,
  card: CardHead,
  repository: RepositoryRef,
  backmerge: Backmerge,
  branchName: string,
): Promise<Refusal | null> {
  const { repositoryId, targetBranch, actorId } = backmerge;
  const subject = `${branchName}:${targetBranch}`;
  const intent: Intent = { repositoryId, kind: "open_pull_request", subject, cardId: card.id, actorId };
  const recorded = await recordIntent(deps.db, intent);
  const opened = await deps.forge.openPullRequest(repository, {
    isRepeated: recorded?.isRepeated ?? false,
    knownUpTo: recorded?.knownUpTo ?? null,
    // It is nobody's card's, so no word of it is kept.
    isHeardOf: () => Promise.resolve(false),
    title: `Bring hotfix #${card.number} to ${targetBranch}: ${card.title}`,
    body: `The hotfix of card #${card.number} has landed and is missing from \`${targetBranch}\`.`,
    headBranch: branchName,
    targetBranch,
    isDraft: false,
  });
  if (!opened.ok) {
    await withdrawIntent(deps.db, intent);
    return opened.refusal;
  }
  const { number: prNumber } = opened.value;
  await transaction(deps.db, async (trx) => {
    await fulfilIntent(trx, intent);
    await saveBackmergeOpened(trx, { ...backmerge, cardId: card.id }, { branchName, prNumber });
    await recordEvents(trx, [
      {
        cardId: card.id,
        kind: "backmerge_opened",
        actor: { userId: actorId, login: null },
        repositoryId,
        data: { prNumber, targetBranch, branchName },
        naturalKey: `backmerge_opened:${repositoryId}:${prNumber}`,
      },
    ]);
  });
  return null;
}
