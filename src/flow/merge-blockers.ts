/** What a look at the forge shows to stand in the way of a move, each thing in words for people. */
import type { BranchFacts, PullRequestFacts } from "./facts.ts";
import type { Refusal } from "./refusal.ts";

/** A card's branch in one of its repositories, and the branch it is to be merged into. */
export interface Where {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly branchName: string;
  readonly targetBranch: string;
}

export const noTarget = (facts: BranchFacts): Refusal => ({
  reason: "branch_missing",
  message: `There is no branch ${facts.target.name} to start from or to merge into. Create it, or change the flow's target.`,
  details: { branch: facts.target.name },
});

export const branchGone = (where: Where): Refusal => ({
  reason: "branch_missing",
  message: `The card's branch ${where.branchName} is gone. Push it again, and move the card again.`,
  details: { branch: where.branchName },
});

export const noCommits = (where: Where): Refusal => ({
  reason: "nothing_to_merge",
  message: `No commits between ${where.targetBranch} and ${where.branchName}`,
});

/** Says that somebody has closed the card's pull request. */
export const pullRequestClosed = (prNumber: number): Refusal => ({
  reason: "pull_request_closed",
  message: `Pull request #${prNumber} was closed without merging. Reopen it, and move the card again.`,
  details: { prNumber },
});

export const conflicting = (where: Where, pull: PullRequestFacts): Refusal => ({
  reason: "conflicts",
  message: `Merge conflict: ${where.branchName} cannot be merged into ${where.targetBranch}. Merge ${where.targetBranch} into it, resolve the conflicts and push.`,
  details: { prNumber: pull.number },
});

export function checksInTheWay(where: Where, pull: PullRequestFacts): Refusal[] {
  const { state, failing, pending } = pull.checks;
  if (state === "failing") {
    return [
      {
        reason: "checks_failing",
        message: `Checks are failing on ${where.branchName}: ${failing.join(", ")}.`,
        details: { failing, pending },
      },
    ];
  }
  if (state === "pending") {
    return [
      {
        reason: "checks_pending",
        message: `Checks have not finished on ${where.branchName}: ${pending.join(", ")}.`,
        details: { failing, pending },
      },
    ];
  }
  return [];
}

export function reviewsInTheWay(pull: PullRequestFacts): Refusal[] {
  if (pull.reviewDecision === "changes_requested") {
    return [
      {
        reason: "changes_requested",
        message: `Changes have been requested on pull request #${pull.number}.`,
      },
    ];
  }
  if (pull.reviewDecision === "review_required") {
    return [
      { reason: "review_required", message: `Pull request #${pull.number} needs an approving review.` },
    ];
  }
  return [];
}
