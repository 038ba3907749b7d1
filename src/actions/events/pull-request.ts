import type { PullRequestEvent } from "../../forge/events.ts";
import type { InspectedPullRequest } from "../../forge/pull-requests.ts";
import { completeMergedBackMerge } from "../../store/releases/release-cards.ts";
import { branchKey, deleteInboxItems } from "../../store/inbox/stored-items.ts";
import {
  findIntent,
  findLatestMergeIntent,
  recordQueueEvent,
  type FoundIntent,
  type IntentKind,
} from "../../store/ops/intents.ts";
import type { Trx } from "../../store/db/connect.ts";
import {
  findPullRequest,
  lockPullRequest,
  savePullRequest,
  type PullRequestRow,
} from "../../store/forge/pull-requests.ts";
import { recordPullChanged } from "../../store/forge/branch-snapshots.ts";
import { recordMissingFeature, type Repository } from "../../store/forge/repositories.ts";
import { findOpenMove } from "../../store/cards/moves.ts";
import { type EventKind } from "../../store/events/event-kinds.ts";
import { recordEvents, hasEventSince } from "../../store/events/timeline.ts";
import type { Deps } from "../deps.ts";
import { forgeActor, isOurBot } from "../members/forge-accounts.ts";
import { recheckRefusedAndArmedMoves } from "../../store/cards/schedule-rechecks.ts";
import { effectKey, intentKey, isMergeOfPerson, recordBypass } from "../moves/record-effects.ts";
import { recordPullRequestActivity } from "./conversation.ts";
import { closesOwnPullRequest, recordClosedByAgent } from "../cards/give-up.ts";
import type { EventContext } from "./event-context.ts";
import { forAttempt, transaction } from "../../store/db/transaction.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/** The actions that the timeline shows. */
const KIND: Partial<Record<PullRequestEvent["action"], EventKind>> = {
  opened: "pull_request_opened",
  ready: "pull_request_ready",
  merged: "pull_request_merged",
  closed: "pull_request_closed",
  reopened: "pull_request_reopened",
};

/** Handles the part of an event that applies whether or not the pull request belongs to a card. */
export async function handleAnyPullRequest(
  { db }: Deps,
  { action, number, targetBranch, isDraft, repository: { forgeId } }: PullRequestEvent,
  { id: repositoryId, forgeRef }: Repository,
): Promise<void> {
  if (action === "merged")
    await completeMergedBackMerge(db, { repositoryId, targetBranch, prNumber: number });
  if (action === "opened" && isDraft && forgeRef?.lacks?.includes("drafts"))
    await recordMissingFeature(db, forgeId, "drafts", false);
}

/**
 * Records an event of a card's pull request. Effects of our own calls are recorded with the same
 * natural key by the process that made the call, unless it died before that.
 */
export async function handlePullRequest(
  deps: Deps,
  delivered: PullRequestEvent,
  context: EventContext,
): Promise<void> {
  const { repository, card, actor } = context;
  const shown = await inspectIfUncertain(deps, repository, delivered);
  const isCorrected = delivered.isContradictory && shown !== null;
  const event = isCorrected ? correctedBy(shown, delivered) : delivered;
  if (isCorrected) await handleAnyPullRequest(deps, event, repository);
  const isClosedByAgent = await closesOwnPullRequest(deps.db, card.workspaceId, event);
  const intent = await ourIntent(deps, repository, event);
  await transaction(forAttempt(deps.db, intent?.attemptId ?? null), async (trx) => {
    const locked = await lockPullRequest(trx, repository.id, event.number);
    const isNew = !event.isFromComparison || isStillNew(event, locked?.state ?? null);
    if (isNew) await savePullRequestOf(trx, event, context, isCorrected ? null : shown);
    await recordPullRequestActivity(trx, repository.id, delivered, actor);
    // Last, to keep the time between inserting a timeline item and committing it short.
    if (isNew) {
      await recordOnTimeline(deps, trx, event, context, intent);
      const work = { cardId: card.id, repositoryId: repository.id };
      if (isClosedByAgent) await recordClosedByAgent(trx, work, event, actor);
      await scheduleFollowUps(trx, event, context);
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
    eventAt: event.at,
    eventAction: event.action,
    ...(shown && { ...rowOf(shown), eventAt: shown.updatedAt }),
  });
  await recordPullChanged(trx, card.id, repository.id);
  if (isNew) await schedule(trx, JOBS.replayDeferred, { repositoryId: repository.id, number: event.number });
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
  if (event.action === "merged" && intent) {
    const pull = { repositoryId: repository.id, prNumber: event.number, targetBranch: event.targetBranch };
    await recordBypass(trx, card.id, pull);
  }
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

async function scheduleFollowUps(
  trx: Trx,
  event: PullRequestEvent,
  { repository, card }: EventContext,
): Promise<void> {
  const { action, number: prNumber, headBranch, reason, at } = event;
  const pull = { cardId: card.id, repositoryId: repository.id, prNumber };
  if (action === "merged") {
    if (card.hotfix) await schedule(trx, JOBS.backMerge, { cardId: card.id });
    // The branch may have been deleted while GitHub still showed the pull request as open.
    await deleteInboxItems(trx, "branch_deleted", branchKey(repository.id, headBranch));
  }
  if (action === "enqueued" || action === "dequeued") {
    const queueRemovalReason = action === "dequeued" ? (reason ?? "unknown") : null;
    await recordQueueEvent(trx, intentKey(pull, "merge"), { queueRemovalReason, at });
  }
  if (action === "merged" || action === "dequeued") await schedule(trx, JOBS.resumeQueuedMove, pull);
  await recheckRefusedAndArmedMoves(trx, card.id);
}

export const stateOf = (event: PullRequestEvent): "draft" | "open" | "merged" | "closed" => {
  if (event.action === "merged" || event.action === "closed") return event.action;
  return event.isDraft ? "draft" : "open";
};

/** Opening and merging happen once; a pull request can be closed and reopened several times. */
function naturalKeyOf(
  kind: EventKind,
  repository: Repository,
  event: PullRequestEvent,
  intent: FoundIntent | null,
): string {
  const once = effectKey(kind, repository.id, event.number);
  if (kind === "pull_request_opened" || kind === "pull_request_merged") return once;
  if (event.isFromComparison && MAY_REPEAT.has(kind)) return `${once}:found:${event.at ?? ""}`;
  return intent ? effectKey(kind, repository.id, event.number, intent.round) : `${once}:${event.at ?? ""}`;
}

/** Events that can happen again, and whose exact time only a webhook reports. */
const MAY_REPEAT: ReadonlySet<EventKind> = new Set(["pull_request_ready", "pull_request_reopened"]);

/** Whether an event found by a comparison still differs from the stored state. */
function isStillNew({ action }: PullRequestEvent, state: PullRequestRow["state"] | null): boolean {
  if (state === "merged") return false;
  if (action === "ready") return state === "draft";
  return action === "reopened" ? state === "closed" : true;
}

/** Whether a late webhook reports an event that a comparison has found. */
async function isFoundAlready(
  trx: Trx,
  cardId: string,
  kind: EventKind,
  repository: Repository,
  event: PullRequestEvent,
): Promise<boolean> {
  if (event.isFromComparison || !MAY_REPEAT.has(kind) || event.at === null) return false;
  return hasEventSince(trx, cardId, `${effectKey(kind, repository.id, event.number)}:found:`, event.at);
}

/**
 * What GitHub shows, if an event may not be the latest: GitHub's times are whole seconds, and a
 * pull request can change several times in one. Null if the event is certain, or GitHub does not
 * show the pull request.
 */
async function inspectIfUncertain(
  deps: Deps,
  repository: Repository,
  event: PullRequestEvent,
): Promise<InspectedPullRequest | null> {
  if (event.isFromComparison || event.action === "merged" || !repository.forgeRef) return null;
  const known = await findPullRequest(deps.db, repository.id, event.number);
  const isAsOld = known !== null && event.at !== null && known.eventAt === event.at;
  // Opening comes before everything else in the same second.
  const isInOrder = event.action === "opened" || known?.eventAction === "opened";
  const isAsKnown =
    known?.state === stateOf(event) &&
    known.headSha === event.headSha &&
    known.targetBranch === event.targetBranch;
  if (!event.isContradictory && (!isAsOld || isAsKnown || isInOrder)) return null;
  const question = { repository: repository.forgeRef, branchName: event.headBranch, targetBranch: null };
  const [inspection] = await deps.forge.inspect([question]);
  if (!inspection || inspection.refusal) return null;
  return inspection.pullRequests.find(({ number }) => number === event.number) ?? null;
}

/** An event that contradicts itself, corrected with the state that GitHub shows. */
function correctedBy(shown: InspectedPullRequest, event: PullRequestEvent): PullRequestEvent {
  const { state, isDraft, headSha, targetBranch, mergeSha, mergedBy } = shown;
  const action = state === "open" ? "synchronized" : state;
  const times = { merged: shown.mergedAt, closed: shown.closedAt, open: shown.updatedAt };
  const now = { isDraft, headSha, targetBranch, mergeSha, mergedBy };
  return { ...event, ...now, action, at: times[state], isContradictory: false };
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
 * Our intent for an event, or null if somebody else caused it. Opening and marking ready must also
 * carry our bot's name, because anybody can do them at any time. Merges need not (see `ourMerge`).
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
 * Our intent for a merge. Null if the merge belongs to a person, or if the move has ended without a
 * result and GitHub does not name our bot. If GitHub names our bot for a pull request without an
 * intent, the merge of another card into the same branch included it.
 */
async function ourMerge(
  deps: Deps,
  repository: Repository,
  { mergedBy, targetBranch }: PullRequestEvent,
  intent: FoundIntent | null,
): Promise<FoundIntent | null> {
  if (isMergeOfPerson(intent, mergedBy?.isBot === false)) return null;
  if (intent?.done || intent?.wasQueued || intent?.accepted) return intent;
  if (intent && (await findOpenMove(deps.db, intent.cardId))) return intent;
  if (!(await isOurBot(deps, mergedBy))) return null;
  return intent ?? findLatestMergeIntent(deps.db, repository.id, targetBranch);
}
