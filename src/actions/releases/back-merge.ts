import { MAX_BRANCH_NAMES, slugOf } from "../../flow/names.ts";
import { earlierTargetsOf, targetOf, type Flow } from "../../flow/flow.ts";
import { isRefusal, type Refusal } from "../../flow/refusal.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import { findCardById, type CardHead } from "../../store/cards/cards.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import { transaction } from "../../store/db/transaction.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { LinkedPullRequest } from "../../store/forge/pull-requests.ts";
import {
  findIntent,
  completeIntent,
  recordIntent,
  withdrawIntent,
  type Intent,
} from "../../store/ops/intents.ts";
import { findLastMover } from "../../store/cards/moves.ts";
import {
  completeBackMerge,
  listCardsWithUncheckedBackMerge,
  listOpenBackMerges,
  recordBackMerge,
  saveBackMergeCheck,
  saveBackMergeOpened,
  type BackMerge,
} from "../../store/releases/release-cards.ts";
import type { Deps } from "../deps.ts";
import { depsGuardedByLink } from "../deps-guarded-by-link.ts";

const BATCH = 50;

/** Checks open back-merges that were not checked for an hour, in case their webhook was lost. */
export async function sweepBackMerges(deps: Deps): Promise<void> {
  for (const cardId of await listCardsWithUncheckedBackMerge(deps.db, BATCH))
    await schedule(deps.db, JOBS.backMerge, { cardId });
}

/**
 * Opens a pull request into every earlier target of the flow that lacks the commits of a merged
 * hotfix, and clears the back-merges that are done. Each run inspects GitHub first, so it continues
 * a killed one. For a picked card it opens nothing: how its commits get to the trunk is a person's
 * decision.
 */
export async function backMergeCard(deps: Deps, cardId: string): Promise<void> {
  const card = await findCardById(deps.db, cardId);
  const project = card && (await findProject(deps.db, card.workspaceId, card.projectId));
  if (!card || !project) return;
  const links = await listLinks(deps.db, cardId);
  const actorId = (await findLastMover(deps.db, cardId)) ?? card.createdBy;
  if (card.hotfix) for (const link of links) await planBackMerges(deps, card, project.flow, link, actorId);
  for (const backMerge of await listOpenBackMerges(deps.db, cardId)) {
    const link = links.find(({ repository }) => repository.id === backMerge.repositoryId);
    if (!link?.repository.forgeRef) continue;
    await runBackMerge(
      depsGuardedByLink(deps, cardId, backMerge.repositoryId),
      card,
      link,
      link.repository.forgeRef,
      backMerge,
    );
  }
}

async function planBackMerges(
  deps: Deps,
  card: CardHead,
  flow: Flow,
  { repository, pullRequests }: Link,
  actorId: string,
): Promise<void> {
  const lastTarget = targetOf(flow, true) ?? repository.defaultBranch;
  const merged = pullRequests.find((pull) => pull.state === "merged" && pull.targetBranch === lastTarget);
  if (!merged) return;
  for (const target of earlierTargetsOf(flow)) {
    const targetBranch = target ?? repository.defaultBranch;
    if (targetBranch === lastTarget) continue;
    const backMerge = { repositoryId: repository.id, targetBranch, sha: merged.headSha, actorId };
    await recordBackMerge(deps.db, { cardId: card.id, ...backMerge });
  }
}

async function runBackMerge(
  deps: Deps,
  card: CardHead,
  { pullRequests }: Link,
  repository: RepositoryRef,
  backMerge: BackMerge,
): Promise<void> {
  const key = { ...backMerge, cardId: card.id };
  const isMerged = ({ state, targetBranch }: LinkedPullRequest): boolean =>
    state === "merged" && targetBranch === backMerge.targetBranch;
  if (!card.hotfix && pullRequests.some(isMerged)) return completeBackMerge(deps.db, key);
  const contained = await deps.forge.contains(repository, backMerge.targetBranch, backMerge.sha);
  // A branch that does not exist needs no back-merge.
  const isDone = contained ?? (await deps.forge.branchHead(repository, backMerge.targetBranch)) === null;
  if (isDone) return completeBackMerge(deps.db, key);
  if (backMerge.prNumber !== null || !card.hotfix) return saveBackMergeCheck(deps.db, key, null);
  const branch = await createBranch(deps, card, repository, backMerge);
  const refusal = isRefusal(branch)
    ? branch
    : await openPullRequest(deps, card, repository, backMerge, branch.name);
  if (!refusal) return;
  deps.log.warn({ cardId: card.id, reason: refusal.reason }, "a hotfix could not be back-merged");
  await saveBackMergeCheck(deps.db, key, refusal.message);
}

/** Creates a separate branch at the merged commit: conflicts must not change the card's branch. */
async function createBranch(
  deps: Deps,
  card: CardHead,
  repository: RepositoryRef,
  { repositoryId, targetBranch, sha, actorId }: BackMerge,
): Promise<{ readonly name: string } | Refusal> {
  const plain = `backmerge/${card.number}-${slugOf(targetBranch) || "target"}`;
  for (let attempt = 1; attempt <= MAX_BRANCH_NAMES; attempt++) {
    const name = attempt === 1 ? plain : `${plain}-${attempt}`;
    const intent: Intent = { repositoryId, kind: "create_branch", subject: name, cardId: card.id, actorId };
    const earlier = await findIntent(deps.db, intent);
    await recordIntent(deps.db, intent);
    const created = await deps.forge.createBranch(repository, name, sha);
    // A branch at another commit is ours if we have recorded its creation and it contains the
    // merged commit.
    const isOurs =
      created.ok &&
      (!("taken" in created.value) ||
        (earlier?.done === true && (await deps.forge.contains(repository, name, sha)) === true));
    if (isOurs) {
      await completeIntent(deps.db, intent);
      return { name };
    }
    await withdrawIntent(deps.db, intent);
    if (!created.ok) return created.refusal;
  }
  return { reason: "unknown", message: `Every name from ${plain} to ${plain}-${MAX_BRANCH_NAMES} is taken.` };
}

async function openPullRequest(
  deps: Deps,
  card: CardHead,
  repository: RepositoryRef,
  backMerge: BackMerge,
  branchName: string,
): Promise<Refusal | null> {
  const { repositoryId, targetBranch, actorId } = backMerge;
  const subject = `${branchName}:${targetBranch}`;
  const intent: Intent = { repositoryId, kind: "open_pull_request", subject, cardId: card.id, actorId };
  const recorded = await recordIntent(deps.db, intent);
  const opened = await deps.forge.openPullRequest(repository, {
    isRetry: recorded?.isRetry ?? false,
    highestKnownNumber: recorded?.highestKnownNumber ?? null,
    // Webhooks about it are not stored, because it belongs to no card.
    isReported: () => Promise.resolve(false),
    title: `Bring hotfix ${card.number} to ${targetBranch}: ${card.title}`,
    body: `The hotfix of card ${card.number} has landed and is missing from \`${targetBranch}\`.`,
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
    await completeIntent(trx, intent);
    await saveBackMergeOpened(trx, { ...backMerge, cardId: card.id }, { branchName, prNumber });
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
