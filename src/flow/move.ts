import { type BlockedReason, type Refusal, blockedReason, isRefusal } from "./refusal.ts";
import { branchNameFor } from "./names.ts";
import type { BranchFacts, HeadFacts, PullRequestFacts } from "./facts.ts";
import { ruleRequires, type Flow, type Rule, type Stage } from "./flow.ts";
import {
  branchMissing,
  conflicting,
  noBranch,
  noCommits,
  noOwnCommits,
  targetMissing,
  headMoved,
  pullRequestClosed,
  type CardBranch,
} from "./branch-refusals.ts";
import type { Role } from "./roles.ts";
import { startingChecks, verifyMerge, type StartingChecks } from "./verification.ts";

/** One write in one repository. */
export type MoveStep =
  | (CardBranch & { readonly action: "create_branch"; readonly fromSha: string })
  /** Recreates a branch that GitHub deleted after merging it into another target. */
  | (CardBranch & { readonly action: "restore_branch"; readonly fromSha: string })
  | (CardBranch & { readonly action: "open_pull_request"; readonly isDraft: boolean })
  | (CardBranch & OfPullRequest & { readonly action: "mark_ready" })
  | (CardBranch & OfPullRequest & { readonly action: "merge"; readonly bypassed?: readonly string[] });

export interface OfPullRequest {
  readonly prNumber: number;
  readonly nodeId: string;
  readonly headSha: string;
}

export interface RepositoryState {
  readonly repositoryId: string;
  readonly fullName: string;
  /** The card's branch; null before it is created. */
  readonly branchName: string | null;
  /** A refusal when the repository cannot be read. */
  readonly facts: BranchFacts | Refusal;
  /** `facts` lack a pull request that a webhook has reported. */
  readonly isForgeLagging?: boolean;
  /** Absent if it was not read. */
  readonly head?: HeadFacts | undefined;
  /**
   * The facts compared with the target that branches start from, if the stage merges into another one.
   * `facts.aheadBy` also counts commits of that target which the stage's target lacks.
   */
  readonly start?: Pick<RepositoryState, "facts" | "isForgeLagging">;
}

/** The heads that a caller requires of a card's branches, by repository id. */
export type HeadShas = Readonly<Record<string, string>>;

export interface MoveQuestion {
  readonly flow: Flow;
  readonly stage: Stage;
  readonly card: { readonly number: number; readonly title: string };
  readonly repositories: readonly RepositoryState[];
  readonly headShas?: HeadShas | null;
}

export interface MovePlan {
  /** Merges come last. */
  readonly steps: readonly MoveStep[];
  /** If there is any, no step runs. */
  readonly reasons: readonly BlockedReason[];
  /** What GitHub will probably refuse. GitHub decides. */
  readonly doubts: readonly BlockedReason[];
  /** Those of `reasons` that end without an event. */
  readonly starting: readonly StartingReason[];
  /** The drafts that have to be marked ready, also if there are reasons. */
  readonly markReady: readonly MoveStep[];
  /** About the merges. */
  readonly warnings: readonly MergeWarning[];
  /** GitHub still computes whether a pull request can be merged. */
  readonly isUndecided: boolean;
  /** The target has all commits of an open pull request: GitHub may soon report it as merged. */
  readonly mayBeMerged: boolean;
  /** GitHub does not return a pull request yet that a webhook has reported. */
  readonly isForgeLagging: boolean;
  /** What follows these steps can only be planned after they have run. */
  readonly needsReplan: boolean;
  /** For a merge stage: the card's work that its target contains already. */
  readonly mergedWork: readonly MergedWork[];
}

/** A reason to wait until checks had time to start. */
export interface StartingReason {
  readonly reason: BlockedReason;
  /** From now, in milliseconds. */
  readonly leftMs: number;
}

/** What is not known about a merge. */
export interface MergeWarning {
  readonly repository: string;
  readonly message: string;
}

/** A card's work in one repository that is in a merge stage's target. */
export interface MergedWork {
  readonly fullName: string;
  readonly targetBranch: string;
  /** Null when it was merged through another branch. */
  readonly prNumber: number | null;
}

interface RepositoryPlan extends Partial<
  Omit<MovePlan, "reasons" | "doubts" | "starting" | "warnings" | "mergedWork">
> {
  readonly steps: readonly MoveStep[];
  readonly reasons?: readonly Refusal[];
  readonly doubts?: readonly Refusal[];
  /** Not among `reasons`. */
  readonly starting?: StartingChecks | null;
  readonly warnings?: readonly string[];
  readonly mergedWork?: MergedWork;
}

/** The steps that a card needs in each repository to enter a stage, or why it may not enter. */
export function planMove(question: MoveQuestion): MovePlan {
  const plans = question.repositories.map((repository) => ({
    repository,
    plan: planRepository(question, repository),
  }));
  const steps = plans.flatMap(({ plan }) => plan.steps);
  const starting = plans.flatMap(({ repository: { fullName }, plan }) =>
    plan.starting
      ? [{ reason: blockedReason(fullName, plan.starting.refusal), leftMs: plan.starting.leftMs }]
      : [],
  );
  const blocked = (kind: "reasons" | "doubts"): BlockedReason[] =>
    plans.flatMap(({ repository, plan }) =>
      (plan[kind] ?? []).map((refusal) => blockedReason(repository.fullName, refusal)),
    );
  return {
    steps: [
      ...steps.filter((step) => step.action !== "merge"),
      ...steps.filter((step) => step.action === "merge"),
    ],
    reasons: [...blocked("reasons"), ...starting.map(({ reason }) => reason)],
    doubts: blocked("doubts"),
    starting,
    markReady: plans.flatMap(({ plan }) => plan.markReady ?? []),
    warnings: plans.flatMap(({ repository: { fullName }, plan }) =>
      (plan.warnings ?? []).map((message) => ({ repository: fullName, message })),
    ),
    isUndecided: plans.some(({ plan }) => plan.isUndecided ?? false),
    mayBeMerged: plans.some(({ plan }) => plan.mayBeMerged ?? false),
    isForgeLagging: plans.some(({ plan }) => plan.isForgeLagging ?? false),
    needsReplan: plans.some(({ plan }) => plan.needsReplan ?? false),
    mergedWork: plans.flatMap(({ plan }) => plan.mergedWork ?? []),
  };
}

/** Whether a move has to inspect the card's branches. */
export const needsGit = (fromStageId: string, stage: Stage, repositoryCount: number): boolean =>
  fromStageId !== stage.id &&
  (ruleRequires(stage.rule, "branch") || stage.gates?.secondPerson === true) &&
  repositoryCount > 0;

/** The lowest role that may move a card into a stage: at least member, since a move writes. */
export const roleToEnter = ({ minRole }: Stage): Role => (minRole === "viewer" ? "member" : minRole);

const NOTHING: RepositoryPlan = { steps: [] };

const planMergedWork = (
  rule: Rule,
  { fullName, targetBranch }: CardBranch,
  prNumber: number | null,
): RepositoryPlan =>
  rule.type === "merge" ? { steps: [], mergedWork: { fullName, targetBranch, prNumber } } : NOTHING;

const refused = (...reasons: readonly Refusal[]): RepositoryPlan => ({ steps: [], reasons });

function planRepository(question: MoveQuestion, repository: RepositoryState): RepositoryPlan {
  const { rule } = question.stage;
  const { facts } = repository;
  if (!ruleRequires(rule, "branch")) return NOTHING;
  if (isRefusal(facts)) return refused(facts);
  const { name: targetBranch, sha } = facts.target;
  if (sha === null) return refused(targetMissing(repository.fullName, facts));
  const required = question.headShas?.[repository.repositoryId];
  const head = headOf(facts);
  if (required !== undefined && head !== required)
    return refused(headMoved(repository.branchName, required, head));
  if (repository.branchName === null) return planFirstBranch(question, repository, targetBranch, sha);
  const where: CardBranch = {
    repositoryId: repository.repositoryId,
    fullName: repository.fullName,
    branchName: repository.branchName,
    targetBranch,
  };
  const pull = currentPullRequest(facts);
  // Also when the branch was deleted after the merge.
  if (pull?.state === "merged") return planMergedWork(rule, where, pull.number);
  if (facts.headSha === null) return planLostBranch(where, facts);
  if (rule.type === "branch") return NOTHING;
  if (repository.isForgeLagging) return { steps: [], isForgeLagging: true };
  if (pull?.state === "closed") return refused(pullRequestClosed(pull.number));
  if (!pull && rule.type === "merge" && isMergedElsewhere(facts)) return planMergedWork(rule, where, null);
  if (!pull) return planFirstPullRequest(question, where, facts, hasNoOwnCommits(repository));
  if (rule.type === "draft_pull_request") return NOTHING;
  if (rule.type === "pull_request") return { steps: readySteps(where, pull) };
  return planMerge(question, where, repository, facts, pull);
}

/**
 * The pull request for the branch's present commits: an open one into the target, else the newest
 * one into it, unless the branch has unmerged commits that were pushed after its merge.
 */
export function currentPullRequest(facts: BranchFacts): PullRequestFacts | undefined {
  const intoTarget = facts.pullRequests.filter((pull) => pull.targetBranch === facts.target.name);
  const open = intoTarget.find((pull) => pull.state === "open");
  if (open) return open;
  const newest = intoTarget[0];
  // GitHub closed it when the branch was reset to its target, and does not reopen it.
  if (newest?.isEmptied && newest.state === "closed") return undefined;
  if (newest?.state === "merged" && facts.headSha !== null && newest.headSha !== facts.headSha) {
    return facts.aheadBy === 0 ? newest : undefined;
  }
  return newest;
}

/** The head of the branch, or its last one if GitHub deleted it after a merge. */
export const headOf = (facts: BranchFacts): string | null =>
  facts.headSha ?? currentPullRequest(facts)?.headSha ?? newestMerged(facts)?.headSha ?? null;

const newestMerged = ({ pullRequests }: BranchFacts): PullRequestFacts | undefined =>
  pullRequests.find(({ state }) => state === "merged");

/** Whether the target contains the branch's commits because another branch brought them there. */
const isMergedElsewhere = (facts: BranchFacts): boolean =>
  facts.aheadBy === 0 && newestMerged(facts) !== undefined;

/** GitHub may delete a merged branch; a branch deleted for another reason is not recreated. */
function planLostBranch(where: CardBranch, facts: BranchFacts): RepositoryPlan {
  const merged = newestMerged(facts);
  if (!merged) return refused(branchMissing(where));
  return {
    steps: [{ ...where, action: "restore_branch", fromSha: merged.headSha }],
    needsReplan: true,
  };
}

function planFirstBranch(
  { flow, stage, card }: MoveQuestion,
  { repositoryId, fullName }: RepositoryState,
  targetBranch: string,
  fromSha: string,
): RepositoryPlan {
  // The expected name. If it is taken, the step that creates the branch chooses the next one.
  const branchName = branchNameFor(flow.branchPattern, card.number, card.title);
  if (ruleRequires(stage.rule, "pull_request")) {
    const creates = flow.stages.find(
      ({ rule }) => ruleRequires(rule, "branch") && !ruleRequires(rule, "pull_request"),
    );
    return refused(noBranch(fullName, branchName, creates?.name ?? null));
  }
  const where: CardBranch = { repositoryId, fullName, branchName, targetBranch };
  return { steps: [{ ...where, action: "create_branch", fromSha }] };
}

function planFirstPullRequest(
  { stage }: MoveQuestion,
  where: CardBranch,
  facts: BranchFacts,
  isWithoutOwnCommits: boolean,
): RepositoryPlan {
  if (facts.aheadBy === 0 || isWithoutOwnCommits) {
    // GitHub opens no pull request without commits. A draft is opened after the first push.
    if (stage.rule.type === "draft_pull_request") return NOTHING;
    return refused(facts.aheadBy === 0 ? noCommits(where) : noOwnCommits(where));
  }
  return {
    steps: [{ ...where, action: "open_pull_request", isDraft: stage.rule.type === "draft_pull_request" }],
    needsReplan: stage.rule.type === "merge",
  };
}

/**
 * Whether all commits of a branch that never had a pull request are on the target that it started from.
 */
const hasNoOwnCommits = ({ facts, start }: RepositoryState): boolean =>
  start !== undefined &&
  !isRefusal(facts) &&
  facts.pullRequests.length === 0 &&
  !isRefusal(start.facts) &&
  start.facts.aheadBy === 0;

const ofPullRequest = ({ number, nodeId, headSha }: PullRequestFacts): OfPullRequest => ({
  prNumber: number,
  nodeId,
  headSha,
});

const readySteps = (where: CardBranch, pull: PullRequestFacts): MoveStep[] =>
  pull.isDraft ? [{ ...where, ...ofPullRequest(pull), action: "mark_ready" }] : [];

function planMerge(
  { flow, headShas }: MoveQuestion,
  where: CardBranch,
  { head }: RepositoryState,
  facts: BranchFacts,
  pull: PullRequestFacts,
): RepositoryPlan {
  const headSha = headShas?.[where.repositoryId] ?? pull.headSha;
  const merge = { ...where, ...ofPullRequest(pull), headSha, action: "merge" } as const;
  // The queue runs the checks again and decides; the step only follows it.
  if (pull.isInMergeQueue) return { steps: [merge] };
  const mergeFacts = { flow, where, facts, pull, head };
  const verified = verifyMerge(mergeFacts);
  const mayBeMerged = facts.aheadBy === 0;
  const reasons: readonly Refusal[] = [
    ...(mayBeMerged ? [noCommits(where)] : []),
    ...(pull.mergeable === "conflicting" ? [conflicting(where, pull)] : []),
    ...verified.reasons,
  ];
  const { doubts, warnings, bypassed } = verified;
  const starting = startingChecks(mergeFacts, { isArmed: false });
  const markReady = readySteps(where, pull);
  const plan = { doubts, warnings, markReady, isUndecided: pull.mergeable === "unknown" };
  if (reasons.length > 0 || starting) return { ...plan, steps: [], reasons, starting, mayBeMerged };
  // Marking it ready may start checks, and required ones may only run then.
  if (pull.isDraft) return { ...plan, steps: markReady, needsReplan: true };
  return { ...plan, steps: [bypassed.length > 0 ? { ...merge, bypassed } : merge] };
}
