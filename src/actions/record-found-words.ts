import type { Commented, ReviewSubmitted } from "../forge/events.ts";
import type { ForgeRepository, InspectedWords } from "../forge/forge.ts";
import { listUnheard, type KnownBranch } from "../store/ops/reconciling.ts";
import { tellableBody } from "./comment-mark.ts";
import type { Deps } from "./deps.ts";
import { recordEvent } from "./record-event.ts";

/** Records the comments and reviews that nobody told of, as if somebody had. */
export async function recordFoundWords(
  deps: Deps,
  known: KnownBranch,
  repository: ForgeRepository,
  said: InspectedWords,
): Promise<void> {
  const { cardId, repositoryId } = known;
  const unheard = await listUnheard(deps.db, cardId, repositoryId, {
    comments: said.comments.map(({ commentId, body }) => ({ commentId, body: tellableBody(body) })),
    reviews: said.reviews,
  });
  const { installationId } = known.ref;
  const around = { installationId, repository, number: said.number, isFound: true } as const;
  for (const comment of said.comments.filter(({ commentId }) => unheard.comments.has(commentId))) {
    const { author, changedAt: at, ...rest } = comment;
    // Of one that is known already only what it says now is news.
    const action = unheard.comments.get(comment.commentId) === "changed" ? "edited" : "created";
    const event: Commented = { type: "commented", ...around, ...rest, action, author, sender: author, at };
    await recordEvent(deps, event);
  }
  for (const review of said.reviews.filter(({ reviewId }) => unheard.reviews.has(reviewId))) {
    const { author, state } = review;
    const event: ReviewSubmitted = {
      type: "review_submitted",
      ...around,
      ...review,
      // Who dismissed it the forge does not tell here.
      sender: state === "dismissed" ? null : author,
      headBranch: known.branchName,
      headRepositoryId: repository.forgeId,
    };
    await recordEvent(deps, event);
  }
}
