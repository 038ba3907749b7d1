import { type BlockedReason, type Refusal, blockedReason } from "./refusal.ts";
import { branchNameFor } from "./names.ts";
import type { BranchFacts, PullRequestFacts } from "./facts.ts";
import { ruleAsks, type Flow, type Rule, type Stage } from "./flow.ts";
import {
  branchGone,
  checksInTheWay,
  conflicting,
  noCommits,
  noTarget,
  pullRequestClosed,
  reviewsInTheWay,
  type Where,
} from "./merge-blockers.ts";
import type { Role } from "./roles.ts";

/** One thing to do on the forge, in one repository. */
export type MoveStep =
  | (Where & { readonly action: "create_branch"; readonly fromSha: string })
  /** Makes the card's branch again, which the forge deleted when it had merged it elsewhere. */
  | (Where & { readonly action: "restore_branch"; readonly fromSha: string })
  | (Where & { readonly action: "open_pull_request"; readonly isDraft: boolean })
  | (Where & OfPullRequest & { readonly action: "mark_ready" })
  | (Where & OfPullRequest & { readonly action: "merge" });

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
  /** Whether a pull request was heard of that the forge, by these facts, does not show yet. */
  readonly isBehind?: boolean;
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
  /** Whether the forge does not show yet what was heard of: what is left to do can only be told once it does. */
  readonly isBehind: boolean;
  /** Whether something has to be made before what comes after it can be judged: plan again once it is. */
  readonly needsAnotherLook: boolean;
  /** Of a merge stage: what is in its target already. */
  readonly landed: readonly Landed[];
}

/** A card's work in one repository that is in a merge stage's target. */
export interface Landed {
  readonly fullName: string;
  readonly targetBranch: string;
  /** The pull request that brought it there; null where it came with another branch. */
  readonly prNumber: number | null;
}

interface RepositoryPlan {
  readonly steps: readonly MoveStep[];
  readonly reasons?: readonly Refusal[];
  readonly doubts?: readonly Refusal[];
  readonly isUndecided?: boolean;
  readonly isLanding?: boolean;
  readonly isBehind?: boolean;
  readonly needsAnotherLook?: boolean;
  readonly landed?: Landed;
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
    isBehind: plans.some(({ plan }) => plan.isBehind ?? false),
    needsAnotherLook: plans.some(({ plan }) => plan.needsAnotherLook ?? false),
    landed: plans.flatMap(({ plan }) => plan.landed ?? []),
  };
}

/** Whether a move needs Git: reordering within a stage, a stage that asks for no branch and a card without repositories do not. */
export const needsGit = (fromStageId: string, stage: Stage, repositoryCount: number): boolean =>
  fromStageId !== stage.id && ruleAsks(stage.rule, "branch") && repositoryCount > 0;

/** The lowest role that may move a card into a stage: the stage's `minRole`, but at least member. */
export const roleToEnter = ({ minRole }: Stage): Role => (minRole === "viewer" ? "member" : minRole);

const NOTHING: RepositoryPlan = { steps: [] };
const BEHIND: RepositoryPlan = { steps: [], isBehind: true };

/** Nothing is left to do there; where the stage merges, because that is done. */
const landedBy = (rule: Rule, { fullName, targetBranch }: Where, prNumber: number | null): RepositoryPlan =>
  rule.type === "merge" ? { steps: [], landed: { fullName, targetBranch, prNumber } } : NOTHING;

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
  if (pull?.state === "merged") return landedBy(rule, where, pull.number);
  if (facts.headSha === null) return planLostBranch(where, facts);
  if (rule.type === "branch") return NOTHING;
  if (repository.isBehind) return BEHIND;
  if (pull?.state === "closed") return refused(pullRequestClosed(pull.number));
  if (!pull && rule.type === "merge" && hasLandedOtherwise(facts)) return landedBy(rule, where, null);
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
