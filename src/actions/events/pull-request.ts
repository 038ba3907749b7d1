import type { PullRequestEvent } from "../../forge/events.ts";
import type { InspectedPullRequest } from "../../forge/pull-requests.ts";
import { clearMergedBackmerge } from "../../store/releases/release-cards.ts";
import { branchKey, forgetInboxItems } from "../../store/inbox/stored-items.ts";
import {
  findIntent,
  findLatestMerge,
  noteQueueWord,
  type FoundIntent,
  type IntentKind,
} from "../../store/ops/intents.ts";
import type { Trx } from "../../store/db/connect.ts";
import {
  findPullRequest,
  holdPullRequest,
  savePullRequest,
  type PullRequestRow,
} from "../../store/forge/pull-requests.ts";
import { noteLacking, type Repository } from "../../store/forge/repositories.ts";
import { findOpenOperation } from "../../store/ops/operations.ts";
import { replayDeferredSoon } from "../../store/forge/lanes.ts";
import { recordEvents, wasFoundSince, type EventKind } from "../../store/events/timeline.ts";
import { bringBackSoon } from "../releases/bring-back-hotfix.ts";
import type { Deps } from "../deps.ts";
import { forgeActor, isOurBot } from "../installations/forge-accounts.ts";
import { recheckIfBlocked } from "../reconcile/recheck-blocked.ts";
import { deedKey } from "../moves/record-deeds.ts";
import { intentKey } from "../moves/transition.ts";
import { resumeQueuedSoon } from "../moves/resume-move.ts";
import { notePullRequestTurn } from "./conversation.ts";
import { isGivenUp, recordClosedByAgent } from "./give-up.ts";
import type { EventContext } from "./event-context.ts";
import { transaction } from "../../store/db/transaction.ts";

/** The actions that the timeline shows. */
const KIND: Partial<Record<PullRequestEvent["action"], EventKind>> = {
  opened: "pull_request_opened",
  ready: "pull_request_ready",
  merged: "pull_request_merged",
  closed: "pull_request_closed",
  reopened: "pull_request_reopened",
};

/** Notes what a pull request's event says of its repository, whether or not it concerns a card. */
export async function notePullRequest(
  { db }: Deps,
  { action, number, targetBranch, isDraft, repository: { forgeId } }: PullRequestEvent,
  { id: repositoryId, ref }: Repository,
): Promise<void> {
  if (action === "merged") await clearMergedBackmerge(db, { repositoryId, targetBranch, prNumber: number });
  if (action === "opened" && isDraft && ref?.lacks?.includes("drafts"))
    await noteLacking(db, forgeId, "drafts", false);
}

/**
 * Records what happened to a card's pull request. What we did ourselves is recorded by whoever did
 * it, too, under the same natural key: it is recorded once, and not lost when that process died.
 */
export async function handlePullRequest(
  deps: Deps,
  delivered: PullRequestEvent,
  context: EventContext,
): Promise<void> {
  const { repository, card, actor } = context;
  const shown = await askAgain(deps, repository, delivered);
  const isCorrected = delivered.isDoubtful && shown !== null;
  const event = isCorrected ? correctedBy(shown, delivered) : delivered;
  if (isCorrected) await notePullRequest(deps, event, repository);
  const isClosedByAgent = await isGivenUp(deps.db, card.workspaceId, event);
  const intent = await ourIntent(deps, repository, event);
  await transaction(deps.db, async (trx) => {
    const held = await holdPullRequest(trx, repository.id, event.number);
    const isNews = !event.isFound || isStillNews(event, held?.state ?? null);
    if (isNews) await savePullRequestOf(trx, event, context, isCorrected ? null : shown);
    await notePullRequestTurn(trx, repository.id, delivered, actor);
    // Last: a timeline item takes its place when it is inserted, and is read once it is committed.
    if (isNews) {
      await recordOnTimeline(deps, trx, event, context, intent);
      const work = { cardId: card.id, repositoryId: repository.id };
      if (isClosedByAgent) await recordClosedByAgent(trx, work, event, actor);
      await requestFollowUps(trx, event, context);
    }
  });
}

async function savePullRequestOf(
  trx: Trx,
  event: PullRequestEvent,
  { repository, card }: EventContext,
  shown: InspectedPullRequest | null,
): Promise<void> {
  const isNew = await savePullRequest(trx, {
    repositoryId: repository.id,
    number: event.number,
    cardId: card.id,
    nodeId: event.nodeId,
    targetBranch: event.targetBranch,
    state: stateOf(event),
    headSha: event.headSha,
    headBranch: event.headBranch,
    mergeSha: event.mergeSha,
    heardAt: event.at,
    heardAction: event.action,
    ...(shown && { ...rowOf(shown), heardAt: shown.updatedAt }),
  });
  if (isNew) await replayDeferredSoon(trx, repository.id, event.number);
}

async function recordOnTimeline(
  deps: Deps,
  trx: Trx,
  event: PullRequestEvent,
  { repository, card, actor }: EventContext,
  intent: FoundIntent | null,
): Promise<void> {
  const kind = KIND[event.action];
  if (!kind || (await isFoundAlready(trx, card.id, kind, repository, event))) return;
  const theirs = event.action === "merged" ? await forgeActor(deps, trx, event.mergedBy) : actor;
  await recordEvents(trx, [
    {
      cardId: card.id,
      kind,
      actor: intent ? { userId: intent.actorId, login: null } : theirs,
      repositoryId: repository.id,
      data: { prNumber: event.number, targetBranch: event.targetBranch },
      at: event.at,
      naturalKey: naturalKeyOf(kind, repository, event, intent),
    },
  ]);
}

/**
 * Requests what the new state of a pull request makes possible: a hotfix brought back, a queued
 * move resumed, a blocked card rechecked.
 */
async function requestFollowUps(
  trx: Trx,
  event: PullRequestEvent,
  { repository, card }: EventContext,
): Promise<void> {
  const { action, number: prNumber, headBranch, reason, at } = event;
  const pull = { cardId: card.id, repositoryId: repository.id, prNumber };
  if (action === "merged") {
    if (card.hotfix) await bringBackSoon(trx, card.id);
    // Had the forge still called it open when the branch was deleted, the inbox calls the branch
    // lost.
    await forgetInboxItems(trx, "branch_deleted", branchKey(repository.id, headBranch));
  }
  if (action === "enqueued" || action === "dequeued") {
    const thrownOut = action === "dequeued" ? (reason ?? "unknown") : null;
    await noteQueueWord(trx, intentKey(pull, "merge"), { thrownOut, at });
  }
  if (action === "merged" || action === "dequeued") await resumeQueuedSoon(trx, pull);
  await recheckIfBlocked(trx, card.id);
}

export const stateOf = (event: PullRequestEvent): "draft" | "open" | "merged" | "closed" => {
  if (event.action === "merged" || event.action === "closed") return event.action;
  return event.isDraft ? "draft" : "open";
};

/**
 * Opening and merging happen once to a pull request; it may be closed, reopened and made ready
 * again and again.
 */
function naturalKeyOf(
  kind: EventKind,
  repository: Repository,
  event: PullRequestEvent,
  intent: FoundIntent | null,
): string {
  const once = deedKey(kind, repository.id, event.number);
  if (kind === "pull_request_opened" || kind === "pull_request_merged") return once;
  if (event.isFound && MAY_REPEAT.has(kind)) return `${once}:found:${event.at ?? ""}`;
  return intent ? deedKey(kind, repository.id, event.number, intent.round) : `${once}:${event.at ?? ""}`;
}

/** What may happen again, at a time that only a webhook tells exactly. */
const MAY_REPEAT: ReadonlySet<EventKind> = new Set(["pull_request_ready", "pull_request_reopened"]);

/**
 * Whether what was found by comparing still differs from what is known: somebody may have told of
 * it meanwhile.
 */
function isStillNews({ action }: PullRequestEvent, state: PullRequestRow["state"] | null): boolean {
  if (state === "merged") return false;
  if (action === "ready") return state === "draft";
  return action === "reopened" ? state === "closed" : true;
}

/** What was found is not told again when word of it comes late. */
async function isFoundAlready(
  trx: Trx,
  cardId: string,
  kind: EventKind,
  repository: Repository,
  event: PullRequestEvent,
): Promise<boolean> {
  if (event.isFound || !MAY_REPEAT.has(kind) || event.at === null) return false;
  return wasFoundSince(trx, cardId, `${deedKey(kind, repository.id, event.number)}:found:`, event.at);
}

/**
 * What the forge shows, where an event cannot be trusted to be the latest word: GitHub's times are
 * whole seconds, and several things happen to a pull request within one. Null where it can, and
 * where the forge does not show the pull request.
 */
async function askAgain(
  deps: Deps,
  repository: Repository,
  event: PullRequestEvent,
): Promise<InspectedPullRequest | null> {
  if (event.isFound || event.action === "merged" || !repository.ref) return null;
  const known = await findPullRequest(deps.db, repository.id, event.number);
  const isAsOld = known !== null && event.at !== null && known.heardAt === event.at;
  // Whatever else happened in that second, this was first, or it is what is known.
  const isInOrder = event.action === "opened" || known?.heardAction === "opened";
  const isAsKnown =
    known?.state === stateOf(event) &&
    known.headSha === event.headSha &&
    known.targetBranch === event.targetBranch;
  if (!event.isDoubtful && (!isAsOld || isAsKnown || isInOrder)) return null;
  const question = { repository: repository.ref, branchName: event.headBranch, targetBranch: null };
  const [answer] = await deps.forge.inspect([question]);
  if (!answer || answer.refusal) return null;
  return answer.pullRequests.find(({ number }) => number === event.number) ?? null;
}

/** An event that contradicts itself, with the state that the forge shows. */
function correctedBy(shown: InspectedPullRequest, event: PullRequestEvent): PullRequestEvent {
  const { state, isDraft, headSha, targetBranch, mergeSha, mergedBy } = shown;
  const action = state === "open" ? "synchronized" : state;
  const times = { merged: shown.mergedAt, closed: shown.closedAt, open: shown.updatedAt };
  const now = { isDraft, headSha, targetBranch, mergeSha, mergedBy };
  return { ...event, ...now, action, at: times[state], isDoubtful: false };
}

const rowOf = (
  now: InspectedPullRequest,
): Pick<PullRequestRow, "state" | "targetBranch" | "headSha" | "mergeSha"> => ({
  state: now.state === "open" && now.isDraft ? "draft" : now.state,
  targetBranch: now.targetBranch,
  headSha: now.headSha,
  mergeSha: now.mergeSha,
});

/**
 * Our intent for what happened, or null where somebody else did it. The actor lies, since the forge
 * reports queue merges and indirect merges under other names; only what anybody could do at any
 * time must also carry our own name.
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
      return (await isOurBot(deps, event.sender))
        ? intended("open_pull_request", `${event.headBranch}:${event.targetBranch}`)
        : null;
    case "ready":
      return (await isOurBot(deps, event.sender)) ? intended("mark_ready", String(event.number)) : null;
    case "merged":
      return ourMerge(deps, repository, event, await intended("merge", String(event.number)));
    default:
      return null;
  }
}

/**
 * Our intent for a merge, unless a person did it before we got to it, or the move it was meant for
 * was given up before the forge had said what came of it: then the merge is ours only where the
 * forge says that we did it. A pull request that we have not merged, and that the forge says we
 * have, came along with another card's: it is the merge of whoever moved that.
 */
async function ourMerge(
  deps: Deps,
  repository: Repository,
  { mergedBy, targetBranch }: PullRequestEvent,
  intent: FoundIntent | null,
): Promise<FoundIntent | null> {
  if (intent?.done || intent?.accepted) return intent;
  if (mergedBy?.isBot === false) return null;
  if (intent && (await findOpenOperation(deps.db, intent.cardId))) return intent;
  if (!(await isOurBot(deps, mergedBy))) return null;
  return intent ?? findLatestMerge(deps.db, repository.id, targetBranch);
}
