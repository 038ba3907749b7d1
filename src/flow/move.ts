import { blockedReason, type BlockedReason } from "./blocked.ts";
import { branchNameFor } from "./branch-name.ts";
import type { BranchFacts, PullRequestFacts } from "./facts.ts";
import { ruleAsks, type Flow, type Stage } from "./flow.ts";
import type { Refusal } from "./refusal.ts";

/** One thing to do on the forge, in one repository. */
export type MoveStep =
  | (Where & { readonly action: "create_branch"; readonly fromSha: string })
  /** Makes the card's branch again, which the forge deleted when it had merged it elsewhere. */
  | (Where & { readonly action: "restore_branch"; readonly fromSha: string })
  | (Where & { readonly action: "open_pull_request"; readonly isDraft: boolean })
  | (Where & OfPullRequest & { readonly action: "mark_ready" })
  | (Where & OfPullRequest & { readonly action: "merge" });

interface Where {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly branchName: string;
  readonly targetBranch: string;
}

interface OfPullRequest {
  readonly prNumber: number;
  readonly nodeId: string;
  readonly headSha: string;
}

export interface RepositoryState {
  readonly repositoryId: string;
  readonly fullName: string;
  /** The branch the card owns there, null before it was cut. */
  readonly branchName: string | null;
  /** What the forge says, or why it cannot be asked. */
  readonly facts: BranchFacts | Refusal;
  /** Whether the branch has nothing but what it was cut from, which may still be more than another target has. */
  readonly isBare?: boolean;
}

export interface MoveQuestion {
  readonly flow: Flow;
  readonly stage: Stage;
  readonly card: { readonly number: number; readonly title: string };
  readonly repositories: readonly RepositoryState[];
}

export interface MovePlan {
  /** Branches, pull requests and ready marks first, then merges; empty where nothing is to be done. */
  readonly steps: readonly MoveStep[];
  /** Why the move cannot be: with any of these nothing is done. */
  readonly reasons: readonly BlockedReason[];
  /** What the forge will probably refuse; it has the last word. */
  readonly doubts: readonly BlockedReason[];
  /** Whether the forge is still working out what decides, so that asking again soon is worth it. */
  readonly isUndecided: boolean;
  /** Whether a pull request shown as open has all its commits in its target: the forge may be about to show it as merged. */
  readonly isLanding: boolean;
  /** Whether something has to be made before what comes after it can be judged: plan again once it is. */
  readonly needsAnotherLook: boolean;
}

interface RepositoryPlan {
  readonly steps: readonly MoveStep[];
  readonly reasons?: readonly Refusal[];
  readonly doubts?: readonly Refusal[];
  readonly isUndecided?: boolean;
  readonly isLanding?: boolean;
  readonly needsAnotherLook?: boolean;
}

/** Decides what a card's entering a stage does in each of its repositories, or why it may not. Pure. */
export function planMove(question: MoveQuestion): MovePlan {
  const plans = question.repositories.map((repository) => ({
    repository,
    plan: planRepository(question, repository),
  }));
  const steps = plans.flatMap(({ plan }) => plan.steps);
  return {
    steps: [
      ...steps.filter((step) => step.action !== "merge"),
      ...steps.filter((step) => step.action === "merge"),
    ],
    reasons: plans.flatMap(({ repository, plan }) =>
      (plan.reasons ?? []).map((reason) => blockedReason(repository.fullName, reason)),
    ),
    doubts: plans.flatMap(({ repository, plan }) =>
      (plan.doubts ?? []).map((doubt) => blockedReason(repository.fullName, doubt)),
    ),
    isUndecided: plans.some(({ plan }) => plan.isUndecided ?? false),
    isLanding: plans.some(({ plan }) => plan.isLanding ?? false),
    needsAnotherLook: plans.some(({ plan }) => plan.needsAnotherLook ?? false),
  };
}

const NOTHING: RepositoryPlan = { steps: [] };

const refused = (...reasons: readonly Refusal[]): RepositoryPlan => ({ steps: [], reasons });

function planRepository(question: MoveQuestion, repository: RepositoryState): RepositoryPlan {
  const { rule } = question.stage;
  const { facts } = repository;
  if (!ruleAsks(rule, "branch")) return NOTHING;
  if ("reason" in facts) return refused(facts);
  if (facts.target.sha === null) return refused(noTarget(facts));
  if (repository.branchName === null) return planFirstBranch(question, repository, facts);
  const where: Where = {
    repositoryId: repository.repositoryId,
    fullName: repository.fullName,
    branchName: repository.branchName,
    targetBranch: facts.target.name,
  };
  const pull = pullRequestThatCounts(facts);
  // What has landed has landed, whatever became of the branch since.
  if (pull?.state === "merged") return NOTHING;
  if (facts.headSha === null) return planLostBranch(where, facts);
  if (rule.type === "branch") return NOTHING;
  if (pull?.state === "closed") return refused(pullRequestClosed(pull));
  if (!pull && rule.type === "merge" && hasLandedOtherwise(facts)) return NOTHING;
  if (!pull) return planFirstPullRequest(question, where, facts, repository.isBare ?? false);
  if (rule.type === "draft_pull_request") return NOTHING;
  if (rule.type === "pull_request") return { steps: readySteps(where, pull) };
  return planMerge(question, where, facts, pull);
}

/**
 * The pull request that stands for the branch's present work: an open one into the target, else the newest into it unless the
 * branch has gone on since that one ended.
 */
function pullRequestThatCounts(facts: BranchFacts): PullRequestFacts | undefined {
  const intoTarget = facts.pullRequests.filter((pull) => pull.targetBranch === facts.target.name);
  const open = intoTarget.find((pull) => pull.state === "open");
  if (open) return open;
  const newest = intoTarget[0];
  if (newest?.state === "merged" && facts.headSha !== null && newest.headSha !== facts.headSha) {
    return facts.aheadBy === 0 ? newest : undefined;
  }
  return newest;
}

const newestMerged = ({ pullRequests }: BranchFacts): PullRequestFacts | undefined =>
  pullRequests.find(({ state }) => state === "merged");

/** Whether the target has the branch's work already, brought there with another branch that it was merged into. */
const hasLandedOtherwise = (facts: BranchFacts): boolean =>
  facts.aheadBy === 0 && newestMerged(facts) !== undefined;

/** The forge may delete a branch once it is merged somewhere; for any other reason it is a person's to bring it back. */
function planLostBranch(where: Where, facts: BranchFacts): RepositoryPlan {
  const merged = newestMerged(facts);
  if (!merged) return refused(branchGone(where));
  return {
    steps: [{ ...where, action: "restore_branch", fromSha: merged.headSha }],
    needsAnotherLook: true,
  };
}

function planFirstBranch(
  { flow, stage, card }: MoveQuestion,
  repository: RepositoryState,
  facts: BranchFacts,
): RepositoryPlan {
  const branchName = branchNameFor(flow.branchPattern, card.number, card.title);
  if (facts.target.sha === null) return refused(noTarget(facts));
  if (ruleAsks(stage.rule, "pull_request")) {
    return refused({
      reason: "nothing_to_merge",
      message: `The card has no commits in ${repository.fullName} yet, so there is nothing to put before anybody. Push to its branch there, and move the card again.`,
    });
  }
  return {
    steps: [
      {
        action: "create_branch",
        repositoryId: repository.repositoryId,
        fullName: repository.fullName,
        branchName,
        targetBranch: facts.target.name,
        fromSha: facts.target.sha,
      },
    ],
  };
}

function planFirstPullRequest(
  { stage }: MoveQuestion,
  where: Where,
  facts: BranchFacts,
  isBare: boolean,
): RepositoryPlan {
  if (facts.aheadBy === 0 || isBare) {
    // A draft opens at the first push; anything more needs something to show now.
    return stage.rule.type === "draft_pull_request" ? NOTHING : refused(noCommits(where));
  }
  return {
    steps: [{ ...where, action: "open_pull_request", isDraft: stage.rule.type === "draft_pull_request" }],
    needsAnotherLook: stage.rule.type === "merge",
  };
}

const ofPullRequest = ({ number, nodeId, headSha }: PullRequestFacts): OfPullRequest => ({
  prNumber: number,
  nodeId,
  headSha,
});

const readySteps = (where: Where, pull: PullRequestFacts): MoveStep[] =>
  pull.isDraft ? [{ ...where, ...ofPullRequest(pull), action: "mark_ready" }] : [];

function planMerge(
  { flow }: MoveQuestion,
  where: Where,
  facts: BranchFacts,
  pull: PullRequestFacts,
): RepositoryPlan {
  // The forge has it in hand, and judges by itself what it merges: checks are run again there.
  if (pull.isInMergeQueue) return { steps: [{ ...where, ...ofPullRequest(pull), action: "merge" }] };
  const reasons: Refusal[] = [];
  const isLanding = facts.aheadBy === 0;
  if (isLanding) reasons.push(noCommits(where));
  if (pull.mergeable === "conflicting") reasons.push(conflicting(where, pull));
  if (flow.checks === "required") reasons.push(...checksInTheWay(where, pull));
  const doubts = reviewsInTheWay(pull);
  const isUndecided = pull.mergeable === "unknown";
  if (reasons.length > 0) return { steps: [], reasons, doubts, isUndecided, isLanding };
  return {
    steps: [...readySteps(where, pull), { ...where, ...ofPullRequest(pull), action: "merge" }],
    doubts,
    isUndecided,
  };
}

const noTarget = (facts: BranchFacts): Refusal => ({
  reason: "branch_missing",
  message: `There is no branch ${facts.target.name} to start from. Create it, or change the flow's target.`,
});

const branchGone = (where: Where): Refusal => ({
  reason: "branch_missing",
  message: `The card's branch ${where.branchName} is gone. Push it again, and move the card again.`,
});

const noCommits = (where: Where): Refusal => ({
  reason: "nothing_to_merge",
  message: `No commits between ${where.targetBranch} and ${where.branchName}`,
});

const pullRequestClosed = (pull: PullRequestFacts): Refusal => ({
  reason: "pull_request_closed",
  message: `Pull request #${pull.number} was closed without merging. Reopen it, and move the card again.`,
  details: { prNumber: pull.number },
});

const conflicting = (where: Where, pull: PullRequestFacts): Refusal => ({
  reason: "conflicts",
  message: `Merge conflict: ${where.branchName} cannot be merged into ${where.targetBranch}. Merge ${where.targetBranch} into it, resolve the conflicts and push.`,
  details: { prNumber: pull.number },
});

function checksInTheWay(where: Where, pull: PullRequestFacts): Refusal[] {
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

function reviewsInTheWay(pull: PullRequestFacts): Refusal[] {
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
