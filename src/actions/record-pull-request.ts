import type { PullRequestEvent } from "../forge/events.ts";
import { clearMergedBackmerge } from "../store/backmerges.ts";
import { findCardById } from "../store/cards.ts";
import { forgetInboxItems } from "../store/inbox/stored-items.ts";
import { findIntent, type FoundIntent, type IntentKind } from "../store/intents.ts";
import { findBranchOwner, findPullRequestOwner, savePullRequest } from "../store/links.ts";
import type { Repository } from "../store/repositories.ts";
import { findOpenOperation } from "../store/operations.ts";
import { recordEvents, type EventKind } from "../store/timeline.ts";
import { branchKey } from "./branch-items.ts";
import { bringBackSoon } from "./bring-back-hotfix.ts";
import type { Deps } from "./deps.ts";
import { forgeActor } from "./forge-actor.ts";
import { knownRepository } from "./known-repository.ts";
import { recheckSoon } from "./recheck-blocked.ts";
import { deedKey } from "./record-deeds.ts";
import { isGivenUp, recordClosedByAgent } from "./record-give-up.ts";
import { recordProposal } from "./record-proposal.ts";
import { resumeQueuedSoon } from "./resume-move.ts";

/** The actions that are told on the timeline. */
const KIND: Partial<Record<PullRequestEvent["action"], EventKind>> = {
  opened: "pull_request_opened",
  ready: "pull_request_ready",
  merged: "pull_request_merged",
  closed: "pull_request_closed",
  reopened: "pull_request_reopened",
};

/**
 * Records what happened to a card's pull request. What we did ourselves is recorded by whoever did it, too, under the same natural key:
 * it is told once, and not lost when that process died.
 */
export async function recordPullRequest(deps: Deps, event: PullRequestEvent): Promise<void> {
  const repository = await knownRepository(deps, event);
  if (repository && event.action === "merged") {
    const { number: prNumber, targetBranch } = event;
    await clearMergedBackmerge(deps.db, { repositoryId: repository.id, targetBranch, prNumber });
  }
  const cardId = repository && (await ownerOf(deps, repository, event));
  const card = cardId && (await findCardById(deps.db, cardId));
  if (!repository) return;
  if (!card) return recordProposal(deps, repository, event);
  const kind = KIND[event.action];
  const isClosedByAgent = await isGivenUp(deps.db, card.workspaceId, event);
  const intent = await ourIntent(deps, repository, event);
  await deps.db.transaction(async (trx) => {
    await savePullRequest(trx, {
      repositoryId: repository.id,
      number: event.number,
      cardId: card.id,
      nodeId: event.nodeId,
      targetBranch: event.targetBranch,
      state: stateOf(event),
      headSha: event.headSha,
      mergeSha: event.mergeSha,
      heardAt: event.at,
    });
    if (kind) {
      await recordEvents(trx, [
        {
          cardId: card.id,
          kind,
          actor: intent
            ? { userId: intent.actorId, login: null }
            : await forgeActor(deps, trx, event.action === "merged" ? event.mergedBy : event.sender),
          repositoryId: repository.id,
          data: { prNumber: event.number, targetBranch: event.targetBranch },
          at: event.at,
          naturalKey: naturalKeyOf(kind, repository, event, intent),
        },
      ]);
    }
    if (isClosedByAgent) {
      const where = { cardId: card.id, workspaceId: card.workspaceId, repositoryId: repository.id };
      await recordClosedByAgent(trx, where, event, await forgeActor(deps, trx, event.sender));
    }
    if (event.action === "merged" && card.hotfix) await bringBackSoon(trx, card.id);
    if (event.action === "merged") {
      // Had the forge still called it open when the branch went, that was told as its loss.
      await forgetInboxItems(trx, "branch_deleted", branchKey(repository.id, event.headBranch));
    }
    if (event.action === "merged" || event.action === "dequeued") {
      const thrownOut = event.action === "dequeued" ? (event.reason ?? "unknown") : null;
      await resumeQueuedSoon(trx, card.id, thrownOut);
    }
    if (card.blocked) await recheckSoon(trx, card.id);
  });
}

/** A pull request is a card's when it was recorded as such, or comes from the card's branch in the very same repository. */
async function ownerOf(deps: Deps, repository: Repository, event: PullRequestEvent): Promise<string | null> {
  const owner = await findPullRequestOwner(deps.db, repository.id, event.number);
  if (owner) return owner;
  if (event.headRepositoryId !== event.repository.forgeId) return null;
  return findBranchOwner(deps.db, repository.id, event.headBranch);
}

const stateOf = (event: PullRequestEvent): "draft" | "open" | "merged" | "closed" => {
  if (event.action === "merged" || event.action === "closed") return event.action;
  return event.isDraft ? "draft" : "open";
};

/** Opening and merging happen once to a pull request; it may be closed, reopened and made ready again and again. */
function naturalKeyOf(
  kind: EventKind,
  repository: Repository,
  event: PullRequestEvent,
  intent: FoundIntent | null,
): string {
  const once = deedKey(kind, repository.id, event.number);
  if (kind === "pull_request_opened" || kind === "pull_request_merged") return once;
  return intent ? deedKey(kind, repository.id, event.number, intent.round) : `${once}:${event.at ?? ""}`;
}

/**
 * Our intent for what happened, or null where somebody else did it. The actor lies, since the forge reports queue merges and indirect merges
 * under other names; only what anybody could do at any time must also carry our own name.
 */
async function ourIntent(
  deps: Deps,
  repository: Repository,
  event: PullRequestEvent,
): Promise<FoundIntent | null> {
  const intended = (kind: IntentKind, subject: string): Promise<FoundIntent | null> =>
    findIntent(deps.db, { repositoryId: repository.id, kind, subject });
  switch (event.action) {
    case "opened":
      return (await isByOurBot(deps, event))
        ? intended("open_pull_request", `${event.headBranch}:${event.targetBranch}`)
        : null;
    case "ready":
      return (await isByOurBot(deps, event)) ? intended("mark_ready", String(event.number)) : null;
    case "merged":
      return ourMerge(deps, event, await intended("merge", String(event.number)));
    default:
      return null;
  }
}

/**
 * Our intent for a merge, unless the move it was meant for was given up before the forge had said what came of it: then the merge is ours
 * only where the forge says that we did it.
 */
async function ourMerge(
  deps: Deps,
  event: PullRequestEvent,
  intent: FoundIntent | null,
): Promise<FoundIntent | null> {
  if (!intent || intent.done || (await findOpenOperation(deps.db, intent.cardId))) return intent;
  return event.mergedBy?.forgeId === (await deps.forge.identity()).botId ? intent : null;
}

const isByOurBot = async (deps: Deps, event: PullRequestEvent): Promise<boolean> =>
  event.sender?.forgeId === (await deps.forge.identity()).botId;
