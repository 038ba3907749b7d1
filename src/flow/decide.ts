/**
 * The one decision about a move. The move, its preview, the armed move and the recheck of a blocked
 * card read the facts and act on it. Only the gates of a blocked card are checked apart from it
 * (`gateStillRefuses`).
 */
import type { CardBranch } from "./branch-refusals.ts";
import {
  planMove,
  type MergedWork,
  type MergeWarning,
  type MovePlan,
  type MoveQuestion,
  type MoveStep,
  type RepositoryState,
} from "./move.ts";
import {
  endOf,
  judgeReadiness,
  type Disarming,
  type OnFailingChecks,
  type WorkByRepository,
} from "./readiness.ts";
import { isRefusal, type BlockedReason } from "./refusal.ts";

export interface DecisionQuestion extends MoveQuestion {
  /** What the gates of the stage refuse. */
  readonly gateReasons: readonly BlockedReason[];
  /** Set for a move that may wait until it is ready. */
  readonly waiting: WaitingFacts | null;
}

export interface WaitingFacts {
  /** Null while the move is being armed. */
  readonly armedWith: WorkByRepository | null;
  readonly onFailingChecks: OnFailingChecks;
}

/** What GitHub does not show yet. */
export type MissingFact =
  /** Whether a pull request can be merged. */
  | "mergeability"
  /** Whether a pull request is merged: its target has all its commits. */
  | "merge"
  /** A pull request that a webhook has reported. */
  | "pull_request";

/** A step that follows after the next decision, as far as it is known. */
export type FollowingStep = CardBranch & { readonly action: MoveStep["action"] };

interface Decided {
  /** What GitHub will probably refuse. GitHub decides. */
  readonly doubts: readonly BlockedReason[];
  /** For a merge stage: the card's work that its target contains already. */
  readonly mergedWork: readonly MergedWork[];
  /** What is not known about the merges. */
  readonly warnings: readonly MergeWarning[];
  /** The full names of the repositories that need a step or refuse one. */
  readonly unfinishedIn: readonly string[];
  /** GitHub still computes whether a pull request can be merged. */
  readonly isUndecided: boolean;
}

export interface Run extends Decided {
  readonly state: "run";
  /** Merges come last. */
  readonly steps: readonly MoveStep[];
  /** What the next decision adds after these steps have run. No merge runs before it. */
  readonly following: readonly FollowingStep[];
  readonly isDecidedAgain: boolean;
}

export interface Refuse extends Decided {
  readonly state: "refuse";
  readonly reasons: readonly BlockedReason[];
  /** Run before the card is refused. Never a merge. */
  readonly steps: readonly MoveStep[];
  /** When this may end without an event, in milliseconds from now; null if it does not. */
  readonly endsInMs: number | null;
}

export interface Wait extends Decided {
  readonly state: "wait";
  readonly waitingFor: readonly BlockedReason[];
  /** Run before the move waits; it is decided again then. */
  readonly steps: readonly MoveStep[];
  /** When this may end without an event, in milliseconds from now; null if it does not. */
  readonly endsInMs: number | null;
}

/** Something other than the heads differs from when the move was armed. */
export interface Disarm extends Decided {
  readonly state: "disarm";
  readonly disarming: Disarming;
}

export type FinalDecision = Run | Refuse | Wait | Disarm;

/**
 * The facts have to be read again. `otherwise` is the decision without what is missing. Without a
 * pull request, nothing may be run or disarmed.
 */
export interface ReadAgain {
  readonly state: "read_again";
  /** At least one. */
  readonly missing: readonly MissingFact[];
  readonly otherwise: FinalDecision;
}

export type Decision = FinalDecision | ReadAgain;

/** What a card's move into a stage does with the facts that were read. */
export function decide(question: DecisionQuestion): Decision {
  const plan = planMove(question);
  const reasons = [...question.gateReasons, ...plan.reasons];
  const otherwise = decideFinally(question, plan, reasons);
  const missing = missingIn(plan, reasons);
  return missing.length > 0 ? { state: "read_again", missing, otherwise } : otherwise;
}

/** The decision if the facts are not read again. */
export const finalOf = (decision: Decision): FinalDecision =>
  decision.state === "read_again" ? decision.otherwise : decision;

/** Whether GitHub does not show a pull request yet that a webhook has reported. */
export const lacksPullRequest = (decision: Decision): boolean =>
  decision.state === "read_again" && decision.missing.includes("pull_request");

function missingIn(
  { isForgeLagging, mayBeMerged, isUndecided }: MovePlan,
  reasons: readonly BlockedReason[],
): MissingFact[] {
  return [
    ...(isForgeLagging ? (["pull_request"] as const) : []),
    ...(mayBeMerged ? (["merge"] as const) : []),
    ...(isUndecided && reasons.length === 0 ? (["mergeability"] as const) : []),
  ];
}

function decideFinally(
  question: DecisionQuestion,
  plan: MovePlan,
  reasons: readonly BlockedReason[],
): FinalDecision {
  const { steps, doubts, mergedWork, isUndecided, starting, warnings } = plan;
  const unfinishedIn = [
    ...steps.map(({ fullName }) => fullName),
    ...reasons.map(({ repository }) => repository),
  ];
  const decided: Decided = { doubts, mergedWork, isUndecided, unfinishedIn, warnings };
  const refuse = (why: readonly BlockedReason[], before: readonly MoveStep[]): Refuse => ({
    ...decided,
    state: "refuse",
    reasons: why,
    steps: before,
    endsInMs: endOf(starting, why),
  });
  let why = reasons;
  if (question.waiting) {
    const { flow, stage, repositories, waiting } = question;
    const readiness = judgeReadiness({ ...waiting, flow, stage, repositories, reasons, doubts, starting });
    switch (readiness.state) {
      case "waiting":
        return { ...decided, ...readiness, state: "wait", steps: plan.markReady };
      case "changed":
        return { ...decided, ...readiness, state: "disarm" };
      case "refused":
        // A move that may wait does not try what GitHub will probably refuse.
        if (readiness.reasons.some((each) => doubts.includes(each))) return refuse(readiness.reasons, []);
        // Those that it might have waited for come last.
        why = [...readiness.reasons, ...reasons.filter((each) => !readiness.reasons.includes(each))];
        break;
      case "ready":
    }
  }
  if (question.gateReasons.length > 0) return refuse(why, []);
  if (why.length > 0) return refuse(why, stepsOfEarlierStages(question));
  // A doubt does not stop a single merge, because GitHub may accept it. It stops several merges,
  // because the first ones could not be undone.
  if (doubts.length > 0 && steps.filter(isMerge).length > 1)
    return refuse(
      doubts,
      steps.filter((step) => !isMerge(step)),
    );
  const following = stepsThatFollow(question, plan);
  return { ...decided, state: "run", steps, following, isDecidedAgain: plan.needsReplan };
}

const isMerge = ({ action }: Pick<MoveStep, "action">): boolean => action === "merge";

/** What the planner adds once a branch is restored or a pull request is open. */
function stepsThatFollow({ stage }: MoveQuestion, { steps }: MovePlan): FollowingStep[] {
  if (stage.rule.type !== "merge") return [];
  const following = (action: MoveStep["action"], next: MoveStep["action"]): FollowingStep[] =>
    steps
      .filter((step) => step.action === action)
      .map(({ repositoryId, fullName, branchName, targetBranch }) => ({
        repositoryId,
        fullName,
        branchName,
        targetBranch,
        action: next,
      }));
  return [
    ...following("mark_ready", "merge"),
    ...following("restore_branch", "open_pull_request"),
    ...following("restore_branch", "merge"),
    ...following("open_pull_request", "merge"),
  ];
}

/**
 * The steps of the stages before one that refuses a card: they create the branch, or open a draft
 * pull request for a branch with commits that never had one. None if those stages would refuse the
 * card too.
 */
function stepsOfEarlierStages(question: MoveQuestion): readonly MoveStep[] {
  const lacking = new Set(
    question.repositories.filter(lacksBranchOrDraft).map(({ repositoryId }) => repositoryId),
  );
  if (lacking.size === 0) return [];
  const rule = { type: "draft_pull_request", into: null } as const;
  const plan = planMove({
    ...question,
    stage: { ...question.stage, rule },
    repositories: question.repositories.map((state) => ({ ...state, ...state.start })),
  });
  return plan.reasons.length > 0 ? [] : plan.steps.filter(({ repositoryId }) => lacking.has(repositoryId));
}

const lacksBranchOrDraft = ({ branchName, facts }: RepositoryState): boolean =>
  !isRefusal(facts) && (branchName === null || (facts.pullRequests.length === 0 && (facts.aheadBy ?? 0) > 0));
