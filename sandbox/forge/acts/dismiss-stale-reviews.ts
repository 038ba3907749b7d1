import type { ForgeContext } from "../context.ts";

import type { AccountRow, PullRequestRow, RepositoryRow } from "../rows.ts";

import { emitReview } from "./emit-events.ts";
import { protectionOf } from "./protection.ts";

/** New commits take approvals back where the base branch's protection says so. */
export async function dismissStaleReviews(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  by: AccountRow,
): Promise<void> {
  const protection = protectionOf(forge, repository, pull.baseRef);
  if (protection?.requiredReviews?.dismissStaleReviews !== true) return;
  for (const review of forge.state.reviews.in(pull.id)) {
    if (review.state !== "APPROVED") continue;
    const dismissed = forge.state.reviews.update(review.id, { state: "DISMISSED", updatedAt: forge.now() });
    await emitReview(forge, pull, dismissed, "dismissed", by);
  }
}
