import { checksState } from "../../flow/checks.ts";
import type { ForgeEvent, PullRequestEvent, Pushed } from "../../forge/events.ts";
import type { BranchAnswer, InspectedPullRequest, InspectedWords } from "../../forge/pull-requests.ts";
import type { ForgeAccount } from "../../forge/values.ts";
import { listOutcomes } from "../../store/forge/branches.ts";
import { listUnrecorded, listUnshown, type KnownBranch } from "../../store/ops/reconciling.ts";
import { tellableBody } from "../comments/comment-mark.ts";
import type { Deps } from "../deps.ts";

/** What the forge shows of a branch. */
export type Shown = Exclude<BranchAnswer, { readonly refusal: object }>;

/**
 * ISO 8601, by the database's clock. What changed here after `quietSince` may be newer than the
 * answer.
 */
export interface WhenAsked {
  readonly askedAt: string;
  readonly quietSince: string;
}

type Around = Pick<Pushed, "installationId" | "repository" | "isFound">;

/**
 * The events that must have happened for a branch to look as the forge shows it, and that no
 * webhook reported. Their `at` is the forge's own time where it gives one. Each is compared with
 * what the events before it have left, so handle an event before you ask for the next.
 */
export async function* foundEvents(
  deps: Deps,
  known: KnownBranch,
  shown: Shown,
  when: WhenAsked,
): AsyncGenerator<ForgeEvent> {
  const { ref } = known;
  const around: Around = {
    installationId: ref.installationId,
    repository: shown.repository,
    isFound: true,
  };
  const pulls = shown.pullRequests.toReversed().flatMap((pull) => eventsOf(known, pull, around));
  yield* pulls.filter(isOpening);
  yield* pushOf(known, shown, around, when.askedAt);
  yield* pulls.filter((event) => !isOpening(event));
  yield* checksOf(deps, known, shown, around, when.askedAt);
  if (!shown.said) return;
  yield* conversationOf(deps, known, shown.said, around);
  yield* deletionsOf(deps, known, shown.said, around, when);
}

const isOpening = ({ action }: PullRequestEvent): boolean => action === "opened";

function pushOf({ branchName, headSha }: KnownBranch, shown: Shown, around: Around, at: string): Pushed[] {
  if (shown.headSha === headSha) return [];
  const push = { before: headSha, after: shown.headSha, forced: false, commits: [], newest: shown.newest };
  return [{ type: "pushed", ...around, sender: null, at, branchName, ...push }];
}

function eventsOf(known: KnownBranch, pull: InspectedPullRequest, around: Around): PullRequestEvent[] {
  const before = known.pullRequests.find(({ number }) => number === pull.number);
  const event = (
    action: PullRequestEvent["action"],
    at: string | null,
    sender: PullRequestEvent["sender"] = null,
  ): PullRequestEvent => ({
    type: "pull_request",
    ...around,
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
    headRepositoryId: around.repository.forgeId,
    targetBranch: pull.targetBranch,
    mergeSha: pull.mergeSha,
    mergedBy: pull.mergedBy,
    isDoubtful: false,
    reason: null,
  });
  const opened = before ? [] : [event("opened", pull.openedAt, pull.author)];
  const was = before?.state ?? (pull.isDraft ? "draft" : "open");
  // A merge is final, whatever the forge says later.
  if (was === "merged") return opened;
  if (pull.state === "merged") return [...opened, event("merged", pull.mergedAt, pull.mergedBy)];
  if (pull.state === "closed") return was === "closed" ? opened : [...opened, event("closed", pull.closedAt)];
  if (was === "closed") return [...opened, event("reopened", pull.updatedAt)];
  if (was === "draft" && !pull.isDraft) return [...opened, event("ready", pull.updatedAt)];
  if (was === "open" && pull.isDraft) return [...opened, event("converted_to_draft", pull.updatedAt)];
  const isElsewhere =
    before && (before.headSha !== pull.headSha || before.targetBranch !== pull.targetBranch);
  return isElsewhere ? [event("synchronized", pull.updatedAt)] : opened;
}

/** Nothing where the stored reports come to the same state. */
async function* checksOf(
  { db }: Deps,
  { repositoryId }: KnownBranch,
  { headSha, pullRequests }: Shown,
  around: Around,
  askedAt: string,
): AsyncGenerator<ForgeEvent> {
  const open = pullRequests.find((pull) => pull.state === "open" && pull.headSha === headSha);
  if (!open) return;
  const { headSha: sha, reports, checks } = open;
  if (checksState(await listOutcomes(db, repositoryId, sha)) === checks.state) return;
  yield { type: "checks_found", ...around, sender: null, at: null, sha, reports, askedAt };
}

/** Comments and reviews that are not stored, or not with these words. */
async function* conversationOf(
  { db }: Deps,
  { cardId, repositoryId, branchName }: KnownBranch,
  said: InspectedWords,
  around: Around,
): AsyncGenerator<ForgeEvent> {
  const { number } = said;
  const unrecorded = await listUnrecorded(db, cardId, repositoryId, {
    comments: said.comments.map(({ commentId, body }) => ({ commentId, body: tellableBody(body) })),
    reviews: said.reviews,
  });
  for (const { changedAt: at, ...comment } of said.comments) {
    const difference = unrecorded.comments.get(comment.commentId);
    if (difference === undefined) continue;
    const action = difference === "changed" ? "edited" : "created";
    yield { type: "commented", ...around, number, ...comment, action, sender: comment.author, at };
  }
  for (const { author, ...review } of said.reviews) {
    if (!unrecorded.reviews.has(review.reviewId)) continue;
    // The forge does not say here who dismissed a review.
    const sender = review.state === "dismissed" ? null : author;
    const head = { headBranch: branchName, headRepositoryId: around.repository.forgeId };
    yield { type: "review_submitted", ...around, number, ...review, ...head, sender };
  }
}

/**
 * Stored comments that the forge would have shown if they still existed: none of those written
 * before the ones it showed. A deletion is final, so the forge is asked once more for each.
 */
async function* deletionsOf(
  deps: Deps,
  { cardId, repositoryId, ref }: KnownBranch,
  { number, comments, isAllComments }: InspectedWords,
  around: Around,
  { askedAt: at, quietSince }: WhenAsked,
): AsyncGenerator<ForgeEvent> {
  const shown = comments.map(({ commentId }) => commentId);
  const from = isAllComments ? 0 : Math.min(...shown);
  const unshown = await listUnshown(deps.db, cardId, repositoryId, { number, shown, from, quietSince });
  for (const { commentId, isMirror } of unshown) {
    if (await deps.forge.hasComment(ref, commentId)) continue;
    const author = isMirror ? await ourBot(deps) : null;
    const gone = { action: "deleted", author, sender: null, body: "", writtenAt: null, at } as const;
    yield { type: "commented", ...around, number, commentId, ...gone };
  }
}

async function ourBot({ forge }: Deps): Promise<ForgeAccount> {
  const { botId: forgeId, botLogin: login } = await forge.identity();
  return { forgeId, login, avatarUrl: null, isBot: true };
}
