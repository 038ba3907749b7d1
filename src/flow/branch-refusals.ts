/** The refusals that Trunkline derives from the state of a card's branch and pull request. */
import type { BranchFacts, PullRequestFacts } from "./facts.ts";
import type { Refusal } from "./refusal.ts";

/** A card's branch in one of its repositories, and the branch that it is merged into. */
export interface CardBranch {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly branchName: string;
  readonly targetBranch: string;
}

export const targetMissing = (fullName: string, facts: BranchFacts): Refusal => ({
  reason: "branch_missing",
  message: `The target branch ${facts.target.name} does not exist in ${fullName}. Create it, or change the flow's target, then move the card again.`,
  details: { branch: facts.target.name },
});

export const branchMissing = (branch: CardBranch): Refusal => ({
  reason: "branch_missing",
  message: `The card's branch ${branch.branchName} does not exist. Push it again, then move the card again.`,
  details: { branch: branch.branchName },
});

/**
 * The card has no branch, and the stage requires commits. `creator` is the stage that creates the
 * branch; null if none does.
 */
export const noBranch = (fullName: string, branchName: string, creator: string | null): Refusal => {
  const toDo =
    creator === null
      ? `Push ${branchName} and link it to the card in the inbox`
      : `Move it to ${creator}, which creates ${branchName}, and push to that branch`;
  const message = `The card has no commits in ${fullName} yet. ${toDo}, then move the card again.`;
  return { reason: "nothing_to_merge", message };
};

/** The refused move has created the card's branch, so the branch has no commits yet. */
export const nothingPushedYet = (fullName: string, branchName: string): Refusal => ({
  reason: "nothing_to_merge",
  message: `The card has no commits in ${fullName} yet. Push to its new branch ${branchName}, then move the card again.`,
});

/** No name is left for the card's branch. */
export const branchNamesTaken = (names: readonly string[]): Refusal => ({
  reason: "branch_missing",
  message: `Every name for the card's branch is taken, from ${names[0]} to ${names.at(-1)}. Delete or rename one of these branches, then move the card again.`,
  details: { taken: [...names] },
});

/** Has the same text as GitHub's own refusal. */
export const noCommits = (branch: CardBranch): Refusal => ({
  reason: "nothing_to_merge",
  message: `No commits between ${branch.targetBranch} and ${branch.branchName}`,
});

/**
 * The card's branch has commits that the target lacks, but all of them come from the branch that it
 * was created from: the card added none.
 */
export const noOwnCommits = (branch: CardBranch): Refusal => ({
  reason: "nothing_to_merge",
  message: `${branch.branchName} adds no commits to the branch that it started from. Push commits to it, then move the card again.`,
});

/** The branch's head is not the commit that the caller requires. */
export const headMoved = (
  branchName: string | null,
  requiredSha: string,
  headSha: string | null,
): Refusal => ({
  reason: "head_moved",
  message:
    headSha === null
      ? `The card has no branch with the commit ${requiredSha}. Read the card, then move it again.`
      : `The card's branch ${branchName} is at ${headSha}, not at ${requiredSha}. Review its commits, then move the card again.`,
  details: { requiredSha, headSha },
});

export const pullRequestClosed = (prNumber: number): Refusal => ({
  reason: "pull_request_closed",
  message: `Pull request #${prNumber} was closed without merging. Reopen it, then move the card again.`,
  details: { prNumber },
});

export const conflicting = (branch: CardBranch, pull: PullRequestFacts): Refusal => ({
  reason: "conflicts",
  message: `Merge conflict: ${branch.branchName} cannot be merged into ${branch.targetBranch}. Merge ${branch.targetBranch} into it, resolve the conflicts and push.`,
  details: { prNumber: pull.number },
});

export function checkBlockers({ branchName }: CardBranch, { checks }: PullRequestFacts): Refusal[] {
  const { state, failing, pending, unstarted = [], hidden } = checks;
  const details = { failing, pending };
  const ran = (names: readonly string[]): string =>
    names.filter((name) => !unstarted.includes(name)).join(", ");
  const without = (names: readonly string[]): string =>
    names.filter((name) => unstarted.includes(name)).join(", ");
  if (hidden) return [hidden];
  if (state === "failing") {
    const sentences = [
      ran(failing) &&
        `Checks are failing on ${branchName}: ${ran(failing)}. Fix them, then move the card again.`,
      without(failing) &&
        `A workflow could not start on ${branchName}: ${without(failing)}. Correct its file, then move the card again.`,
    ];
    return [{ reason: "checks_failing", message: sentences.filter(Boolean).join(" "), details }];
  }
  if (state === "pending") {
    const sentences = [
      ran(pending) &&
        `Checks have not finished on ${branchName}: ${ran(pending)}. Wait for them, then move the card again.`,
      without(pending) &&
        `A workflow waits for a person's approval on ${branchName}: ${without(pending)}. Approve it on GitHub, then move the card again.`,
    ];
    return [{ reason: "checks_pending", message: sentences.filter(Boolean).join(" "), details }];
  }
  return [];
}

export function reviewBlockers({ number, reviewDecision }: PullRequestFacts): Refusal[] {
  if (reviewDecision === "changes_requested") {
    const message = `Changes are requested on pull request #${number}. Make them, then ask for another review.`;
    return [{ reason: "changes_requested", message }];
  }
  if (reviewDecision === "review_required") {
    const message = `Pull request #${number} needs an approving review. Ask for one.`;
    return [{ reason: "review_required", message }];
  }
  return [];
}
