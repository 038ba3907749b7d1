import { checksState } from "../../flow/checks.ts";
import type { ForgeEvent, PullRequestEvent, Pushed } from "../../forge/events.ts";
import type {
  BranchInspection,
  InspectedPullRequest,
  InspectedConversation,
} from "../../forge/pull-requests.ts";
import type { ForgeAccount } from "../../forge/values.ts";
import { listCheckOutcomes } from "../../store/forge/branches.ts";
import { listUnrecorded, listCommentsNotShown, type KnownBranch } from "../../store/ops/reconciling.ts";
import { storedBody } from "../comments/comment-mark.ts";
import type { Deps } from "../deps.ts";

/** A branch as GitHub shows it. */
export type ShownBranch = Exclude<BranchInspection, { readonly refusal: object }>;

/**
 * ISO 8601, by the database's clock. What was stored after `changedBefore` is too recent to compare:
 * GitHub's response may be older.
 */
export interface InspectionTime {
  readonly askedAt: string;
  readonly changedBefore: string;
}

type Origin = Pick<Pushed, "installationId" | "repository" | "isFromComparison">;

/**
 * The events that no webhook has reported and that explain what GitHub shows. `at` is GitHub's time
 * if it gives one. Each event is compared with the stored state, so handle it before the next one.
 */
export async function* foundEvents(
  deps: Deps,
  known: KnownBranch,
  shown: ShownBranch,
  when: InspectionTime,
): AsyncGenerator<ForgeEvent> {
  const { forgeRef } = known;
  const { installationId } = forgeRef;
  const origin: Origin = { installationId, repository: shown.repository, isFromComparison: true };
  const pulls = shown.pullRequests.toReversed().flatMap((pull) => eventsOf(known, pull, origin));
  yield* pulls.filter(isOpening);
  yield* pushOf(known, shown, origin, when.askedAt);
  yield* pulls.filter((event) => !isOpening(event));
  yield* checksOf(deps, known, shown, origin, when.askedAt);
  if (!shown.conversation) return;
  yield* conversationOf(deps, known, shown.conversation, origin);
  yield* deletionsOf(deps, known, shown.conversation, origin, when);
}

const isOpening = ({ action }: PullRequestEvent): boolean => action === "opened";

function pushOf(
  { branchName, headSha }: KnownBranch,
  shown: ShownBranch,
  origin: Origin,
  at: string,
): Pushed[] {
  if (shown.headSha === headSha) return [];
  const push = { before: headSha, after: shown.headSha, forced: false, commits: [], newest: shown.newest };
  return [{ type: "pushed", ...origin, sender: null, at, branchName, ...push }];
}

function eventsOf(known: KnownBranch, pull: InspectedPullRequest, origin: Origin): PullRequestEvent[] {
  const before = known.pullRequests.find(({ number }) => number === pull.number);
  const event = (
    action: PullRequestEvent["action"],
    at: string | null,
    sender: PullRequestEvent["sender"] = null,
  ): PullRequestEvent => ({
    type: "pull_request",
    ...origin,
    action,
    at: at ?? pull.updatedAt,
    sender,
    number: pull.number,
    nodeId: pull.nodeId,
    title: pull.title,
    author: pull.author,
    isDraft: pull.isDraft,
    headBranch: known.branchName,
    headSha: pull.headSha,
    headRepositoryId: origin.repository.forgeId,
    targetBranch: pull.targetBranch,
    mergeSha: pull.mergeSha,
    mergedBy: pull.mergedBy,
    isEmptied: pull.isEmptied ?? false,
    isContradictory: false,
    reason: null,
  });
  const opened = before ? [] : [event("opened", pull.openedAt, pull.author)];
  // A merge is final.
  if (before?.state === "merged") return [];
  if (pull.state === "merged") return [...opened, event("merged", pull.mergedAt, pull.mergedBy)];
  if (pull.state === "closed")
    return before?.state === "closed" ? [] : [...opened, event("closed", pull.closedAt)];
  if (!before) return opened;
  if (before.state === "closed") return [event("reopened", pull.updatedAt)];
  if (before.state === "draft" && !pull.isDraft) return [event("ready", pull.updatedAt)];
  if (before.state === "open" && pull.isDraft) return [event("converted_to_draft", pull.updatedAt)];
  const isChanged = before.headSha !== pull.headSha || before.targetBranch !== pull.targetBranch;
  return isChanged ? [event("synchronized", pull.updatedAt)] : [];
}

/** Nothing if the stored reports result in the same state. */
async function* checksOf(
  { db }: Deps,
  { repositoryId }: KnownBranch,
  { headSha, pullRequests }: ShownBranch,
  origin: Origin,
  askedAt: string,
): AsyncGenerator<ForgeEvent> {
  const open = pullRequests.find((pull) => pull.state === "open" && pull.headSha === headSha);
  if (!open || open.checks.hidden) return;
  const { headSha: sha, reports, checks } = open;
  if (checksState(await listCheckOutcomes(db, repositoryId, sha)) === checks.state) return;
  yield { type: "checks_found", ...origin, sender: null, at: null, sha, reports, askedAt };
}

/** Comments and reviews that are not stored, or are stored with another text. */
async function* conversationOf(
  { db }: Deps,
  { cardId, repositoryId, branchName }: KnownBranch,
  conversation: InspectedConversation,
  origin: Origin,
): AsyncGenerator<ForgeEvent> {
  const { number } = conversation;
  const unrecorded = await listUnrecorded(db, cardId, repositoryId, {
    comments: conversation.comments.map(({ commentId, body }) => ({ commentId, body: storedBody(body) })),
    reviews: conversation.reviews,
  });
  for (const { changedAt: at, ...comment } of conversation.comments) {
    const difference = unrecorded.comments.get(comment.commentId);
    if (difference === undefined) continue;
    const action = difference === "changed" ? "edited" : "created";
    yield { type: "commented", ...origin, number, ...comment, action, sender: comment.author, at };
  }
  for (const { author, ...review } of conversation.reviews) {
    if (!unrecorded.reviews.has(review.reviewId)) continue;
    // GitHub does not show here who dismissed a review.
    const sender = review.state === "dismissed" ? null : author;
    const head = { headBranch: branchName, headRepositoryId: origin.repository.forgeId };
    yield { type: "review_submitted", ...origin, number, ...review, ...head, sender };
  }
}

/**
 * Stored comments that GitHub does not show, except those written before the ones it shows. A
 * deletion is final, so each comment is looked up first.
 */
async function* deletionsOf(
  deps: Deps,
  { cardId, repositoryId, forgeRef }: KnownBranch,
  { number, comments, isAllComments }: InspectedConversation,
  origin: Origin,
  { askedAt: at, changedBefore }: InspectionTime,
): AsyncGenerator<ForgeEvent> {
  const shown = comments.map(({ commentId }) => commentId);
  const from = isAllComments ? 0 : Math.min(...shown);
  const unshown = await listCommentsNotShown(deps.db, cardId, repositoryId, {
    number,
    shown,
    from,
    changedBefore,
  });
  for (const { commentId, isMirror } of unshown) {
    if (await deps.forge.hasComment(forgeRef, commentId)) continue;
    const author = isMirror ? await ourBot(deps) : null;
    const gone = { action: "deleted", author, sender: null, body: "", writtenAt: null, at } as const;
    yield { type: "commented", ...origin, number, commentId, ...gone };
  }
}

async function ourBot({ forge }: Deps): Promise<ForgeAccount> {
  const { botId: forgeId, botLogin: login } = await forge.identity();
  return { forgeId, login, avatarUrl: null, isBot: true };
}
