import { isQuestion } from "../../flow/comment-text.ts";
import type { Commented, PullRequestEvent, ReviewEdited, ReviewSubmitted } from "../../forge/events.ts";
import type { ForgeAccount } from "../../forge/values.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import {
  adoptMirror,
  markMirrorDeleted,
  findMirroredComment,
  readSecret,
} from "../../store/events/comment-mirrors.ts";
import { removeForgeComment, saveForgeComment } from "../../store/events/comments.ts";
import type { Trx } from "../../store/db/connect.ts";
import {
  deleteAwaitedReactions,
  findConversation,
  isProposal,
  recordAwaitedReaction,
  recordConversationActivity,
  type AwaitedReaction,
  type Conversation,
} from "../../store/events/conversations.ts";
import { recordPullChanged } from "../../store/forge/branch-snapshots.ts";
import { recordEvents, type Actor } from "../../store/events/timeline.ts";
import { markedComment, storedBody } from "../comments/comment-mark.ts";
import type { Deps } from "../deps.ts";
import { isAgentOn, isOurBot } from "../members/forge-accounts.ts";
import { recheckRefusedAndArmedMoves } from "../../store/cards/schedule-rechecks.ts";
import { recordGiveUp } from "../cards/give-up.ts";
import type { EventContext } from "./event-context.ts";
import { transaction } from "../../store/db/transaction.ts";

interface CommentContext {
  readonly conversation: Conversation;
  readonly actor: Actor;
}

/** Records a comment. The card's timeline shows one on a proposal only if it gives up. */
export async function handleComment(
  deps: Deps,
  event: Commented,
  { conversation, actor }: CommentContext,
): Promise<void> {
  const { commentId, author, writtenAt } = event;
  const isOnCard = !isProposal(conversation);
  const isMirror = isOnCard && (await isOurBot(deps, author));
  const isDeleted = event.action === "deleted";
  const isAsked = !isDeleted && (await isQuestionOf(deps, conversation, author, event.body));
  await transaction(deps.db, async (trx) => {
    if (!isDeleted && isByAuthor(event))
      await recordConversationActivity(trx, conversation, {
        userId: actor.userId,
        isPushOrOpening: false,
        at: event.at,
      });
    const question = { kind: "question", subject: String(commentId) } as const;
    const awaited = { ...question, askedBy: actor.userId, at: writtenAt };
    await setAwaitedReaction(trx, conversation, awaited, isAsked);
    if (isMirror) await recordMirror(trx, event, conversation);
    else {
      if (isOnCard) await recordComment(deps, trx, event, { conversation, actor });
      await recordGiveUp(trx, conversation, event, actor);
    }
  });
}

async function recordComment(
  deps: Deps,
  trx: Trx,
  event: Commented,
  { conversation, actor }: CommentContext,
): Promise<void> {
  const comment = {
    id: deps.newId(),
    cardId: conversation.cardId,
    repositoryId: conversation.repositoryId,
    forgeCommentId: event.commentId,
    prNumber: event.number,
    author: actor,
    body: storedBody(event.body),
    writtenAt: event.writtenAt,
    eventAt: event.at,
  };
  if (event.action === "deleted") await removeForgeComment(trx, comment);
  else await saveForgeComment(trx, comment, event.action === "edited");
}

/**
 * Our bot writes only mirrors on a card's pull request. The event may arrive before the response to
 * the call that wrote the mirror, or after the process that made the call has died.
 */
async function recordMirror(trx: Trx, event: Commented, { repositoryId }: Conversation): Promise<void> {
  const place = { repositoryForgeId: event.repository.forgeId, prNumber: event.number };
  const commentId =
    (await findMirroredComment(trx, repositoryId, event.commentId)) ??
    markedComment(await readSecret(trx, "comment_marks"), event.body, place);
  if (commentId === null) return;
  const mirror = { commentId, repositoryId, prNumber: event.number };
  if (event.action === "deleted") await markMirrorDeleted(trx, mirror);
  else await adoptMirror(trx, mirror, event.commentId);
}

export async function handleReview(
  deps: Deps,
  event: ReviewSubmitted,
  context: Omit<EventContext, "card"> & {
    readonly card: CardHead | null;
    readonly conversation: Conversation | null;
  },
): Promise<void> {
  const { repository, card, conversation, actor } = context;
  const { state, at } = event;
  const isAsked =
    conversation !== null &&
    state !== "dismissed" &&
    (await isQuestionOf(deps, conversation, event.sender, event.body));
  await transaction(deps.db, async (trx) => {
    if (conversation) await recordReview(trx, event, { conversation, actor }, isAsked);
    if (!card) return;
    await recordPullChanged(trx, card.id, repository.id);
    await recordEvents(trx, [
      {
        cardId: card.id,
        kind: "review_submitted",
        actor,
        repositoryId: repository.id,
        data: { prNumber: event.number, state },
        at,
        naturalKey: `review:${repository.id}:${event.reviewId}:${state}`,
      },
    ]);
    await recheckRefusedAndArmedMoves(trx, card.id);
  });
}

/** The conversation may have been the last that blocks a merge. */
export const handleChangedThread = (
  deps: Deps,
  { id: repositoryId }: EventContext["repository"],
  { id: cardId }: CardHead,
): Promise<void> =>
  transaction(deps.db, async (trx) => {
    await recordPullChanged(trx, cardId, repositoryId);
    await recheckRefusedAndArmedMoves(trx, cardId);
  });

/** An edit may add or remove a question. The verdict and the timeline stay the same. */
export async function handleEditedReview(
  deps: Deps,
  event: ReviewEdited,
  { conversation, actor: { userId } }: CommentContext,
): Promise<void> {
  const { reviewId, author, body, at } = event;
  const isAsked = await isQuestionOf(deps, conversation, author, body);
  await transaction(deps.db, async (trx) => {
    if (isByAuthor(event))
      await recordConversationActivity(trx, conversation, { userId, isPushOrOpening: false, at });
    await setAwaitedReaction(trx, conversation, reviewQuestion(reviewId, userId, at), isAsked);
  });
}

/** Maintainers may edit the texts of others. */
const isByAuthor = ({ sender, author }: Commented | ReviewEdited): boolean =>
  sender !== null && sender.forgeId === author?.forgeId;

const reviewQuestion = (reviewId: number, askedBy: string | null, at: string | null): AwaitedReaction => ({
  kind: "question",
  subject: `review:${reviewId}`,
  askedBy,
  at,
});

async function recordReview(
  trx: Trx,
  { state, reviewId, at }: ReviewSubmitted,
  { conversation, actor: { userId: askedBy } }: CommentContext,
  isAsked: boolean,
): Promise<void> {
  const subject = String(reviewId);
  const kind = "changes_requested";
  await recordConversationActivity(trx, conversation, { userId: askedBy, isPushOrOpening: false, at });
  if (state === "changes_requested")
    await recordAwaitedReaction(trx, conversation, { kind, subject, askedBy, at });
  if (state === "approved") await deleteAwaitedReactions(trx, conversation, { kind, askedBy });
  if (state === "dismissed") await deleteAwaitedReactions(trx, conversation, { kind, subject });
  await setAwaitedReaction(trx, conversation, reviewQuestion(reviewId, askedBy, at), isAsked);
}

async function setAwaitedReaction(
  trx: Trx,
  conversation: Conversation,
  ask: AwaitedReaction,
  isAsked: boolean,
): Promise<void> {
  const { kind, subject } = ask;
  if (isAsked) await recordAwaitedReaction(trx, conversation, ask);
  else await deleteAwaitedReactions(trx, conversation, { kind, subject });
}

/** Whether a text is a person's question. Our bot writes for people. */
async function isQuestionOf(
  deps: Deps,
  { workspaceId }: Conversation,
  author: ForgeAccount | null,
  body: string,
): Promise<boolean> {
  if (author === null || !isQuestion(body) || (await isAgentOn(deps.db, workspaceId, author))) return false;
  return !author.isBot || isOurBot(deps, author);
}

/** The actions that count as work, besides pushes to a card's branch. */
const WORK: ReadonlySet<PullRequestEvent["action"]> = new Set(["opened", "synchronized"]);

/** Records who acted on a pull request last. A merged or closed one waits for nobody. */
export async function recordPullRequestActivity(
  trx: Trx,
  repositoryId: string,
  { number, action, at }: PullRequestEvent,
  { userId }: Actor,
): Promise<void> {
  const conversation = await findConversation(trx, repositoryId, number);
  if (!conversation) return;
  await recordConversationActivity(trx, conversation, { userId, isPushOrOpening: WORK.has(action), at });
  if (action === "merged" || action === "closed") await deleteAwaitedReactions(trx, conversation);
}
