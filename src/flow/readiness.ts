/**
 * Decides whether an armed move may run. The rules are stricter than for other moves, because
 * nobody watches an armed move.
 */
import type { BranchFacts, PullRequestFacts } from "./facts.ts";
import { isGateReason } from "./gates.ts";
import type { Flow, Stage } from "./flow.ts";
import {
  currentPullRequest,
  headOf,
  type HeadShas,
  type RepositoryState,
  type StartingReason,
} from "./move.ts";
import { blockedReason, isRefusal, type BlockedReason, type Refusal, type RefusalReason } from "./refusal.ts";
import { startingChecks } from "./verification.ts";

/** What a move is armed with in one repository. */
export interface ArmedWork {
  readonly sha: string;
  readonly targetBranch: string;
  /** Null if the pull request has to be opened first. */
  readonly prNumber: number | null;
}

/** What an armed move does if a check fails: `wait` for its repetition, or end. */
export const ON_FAILING_CHECKS = ["disarm", "wait"] as const;
export type OnFailingChecks = (typeof ON_FAILING_CHECKS)[number];

/** By repository id. */
export type WorkByRepository = Readonly<Record<string, ArmedWork>>;

/** Why a move no longer waits, besides a refusal. */
export const DISARM_CAUSES = [
  "expired",
  "cancelled",
  "replaced",
  "moved",
  "card_deleted",
  "repositories_changed",
  "flow_changed",
  "pull_request_changed",
] as const;
export type DisarmReason = (typeof DISARM_CAUSES)[number] | RefusalReason;

export interface Disarming {
  readonly reason: DisarmReason;
  readonly message: string;
}

interface ReadinessQuestion {
  readonly flow: Flow;
  readonly stage: Stage;
  /** Why the card may not enter the stage now. */
  readonly reasons: readonly BlockedReason[];
  /** What GitHub will probably refuse. */
  readonly doubts: readonly BlockedReason[];
  /** Those of `reasons` that end without an event. */
  readonly starting: readonly StartingReason[];
  readonly repositories: readonly RepositoryState[];
  /** Null while the move is being armed. */
  readonly armedWith: WorkByRepository | null;
  readonly onFailingChecks: OnFailingChecks;
}

export type Readiness =
  | { readonly state: "ready" }
  | {
      readonly state: "waiting";
      readonly waitingFor: readonly BlockedReason[];
      /** When this may end without an event, in milliseconds from now; null if it does not. */
      readonly endsInMs: number | null;
    }
  | { readonly state: "refused"; readonly reasons: readonly BlockedReason[] }
  /** Something other than the heads differs from when the move was armed. */
  | { readonly state: "changed"; readonly disarming: Disarming };

/** Refusals that may clear without a new commit. Failing checks may be run again. */
const MAY_CLEAR: ReadonlySet<RefusalReason> = new Set(["checks_pending", "review_required"]);

/** Whether an inspected card may enter a stage now, has to wait, or cannot enter with these commits. */
export function judgeReadiness(question: ReadinessQuestion): Readiness {
  const { reasons, doubts, repositories, armedWith } = question;
  const disarming = armedWith && changeOf(armedWith, repositories);
  if (disarming) return { state: "changed", disarming };
  const known = [...reasons, ...doubts];
  const isFull = ({ reason }: BlockedReason): boolean => armedWith !== null && reason === "wip_limit";
  const mayClear = ({ reason, details }: BlockedReason): boolean =>
    (MAY_CLEAR.has(reason) && details["cause"] !== "too_many_commits") ||
    (reason === "checks_failing" && question.onFailingChecks === "wait");
  const final = known.filter((each) => !mayClear(each) && !isFull(each));
  if (final.length > 0) return { state: "refused", reasons: final };
  const maybeStarting = repositories.flatMap((repository) => mayStillStart(question, repository));
  const waitingFor = [
    ...known.filter((each) => !isGateReason(each)),
    ...maybeStarting.map(({ reason }) => reason),
  ];
  // A full stage keeps the move waiting only if nothing else does.
  if (waitingFor.length === 0) waitingFor.push(...known);
  if (waitingFor.length === 0) return { state: "ready" };
  const endsInMs = endOf([...question.starting, ...maybeStarting], waitingFor);
  return { state: "waiting", waitingFor, endsInMs };
}

/** When all of these reasons have ended without an event, in milliseconds from now; null if one does not. */
export function endOf(starting: readonly StartingReason[], reasons: readonly BlockedReason[]): number | null {
  const left = reasons.map((each) => starting.find(({ reason }) => reason === each)?.leftMs ?? null);
  return left.length === 0 || left.includes(null) ? null : Math.max(...left.map(Number));
}

/** What the move of an inspected card is armed with. */
export const workByRepository = (repositories: readonly RepositoryState[]): WorkByRepository =>
  Object.fromEntries(
    repositories.flatMap(({ repositoryId, facts }) => {
      const sha = isRefusal(facts) ? null : headOf(facts);
      if (isRefusal(facts) || sha === null) return [];
      const pull = currentPullRequest(facts);
      const { name: targetBranch } = facts.target;
      return [[repositoryId, { sha, targetBranch, prNumber: pull?.number ?? null }]];
    }),
  );

/** The heads that a move has to find and merge. */
export const headsOf = (work: WorkByRepository): HeadShas =>
  Object.fromEntries(Object.entries(work).map(([repositoryId, { sha }]) => [repositoryId, sha]));

export const hasSameHeads = (one: WorkByRepository, other: WorkByRepository): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([repositoryId, { sha }]) => other[repositoryId]?.sha === sha);

export const REPOSITORIES_CHANGED: Disarming = {
  reason: "repositories_changed",
  message: "The card has other repositories than when the move was armed. Arm it again.",
};

function changeOf(armedWith: WorkByRepository, repositories: readonly RepositoryState[]): Disarming | null {
  const isKnown = ({ repositoryId }: RepositoryState): boolean => armedWith[repositoryId] !== undefined;
  if (repositories.length !== Object.keys(armedWith).length || !repositories.every(isKnown))
    return REPOSITORIES_CHANGED;
  for (const { repositoryId, facts, fullName } of repositories) {
    const work = armedWith[repositoryId];
    if (!work || isRefusal(facts)) continue;
    const { name } = facts.target;
    if (name !== work.targetBranch) {
      const message = `The card would be merged into ${name} of ${fullName} now, not into ${work.targetBranch}. Arm the move again.`;
      return { reason: "flow_changed", message };
    }
    const change = pullRequestChange(work, currentPullRequest(facts));
    if (change) return { reason: "pull_request_changed", message: `${change} Arm the move again.` };
  }
  return null;
}

function pullRequestChange(
  { prNumber, targetBranch }: ArmedWork,
  pull: PullRequestFacts | undefined,
): string | null {
  if (prNumber === null) return null;
  if (pull?.number !== prNumber)
    return `Pull request #${prNumber} does not merge into ${targetBranch} any more.`;
  if (pull.state === "open" && pull.isDraft) return `Pull request #${prNumber} was converted to a draft.`;
  return null;
}

/** The open pull request that a merge stage would merge, unless GitHub's merge queue decides. */
function pullToMerge(
  { stage }: ReadinessQuestion,
  facts: BranchFacts | Refusal,
): { readonly facts: BranchFacts; readonly pull: PullRequestFacts } | null {
  if (stage.rule.type !== "merge" || isRefusal(facts)) return null;
  const pull = currentPullRequest(facts);
  return pull?.state === "open" && !pull.isInMergeQueue ? { facts, pull } : null;
}

/** The reason to wait if checks may still start, unless the move is refused for that anyway. */
function mayStillStart(
  question: ReadinessQuestion,
  { repositoryId, fullName, branchName, facts, head }: RepositoryState,
): StartingReason[] {
  const found = pullToMerge(question, facts);
  if (!found || branchName === null) return [];
  if (question.starting.some(({ reason }) => reason.repository === fullName)) return [];
  const where = { repositoryId, fullName, branchName, targetBranch: found.facts.target.name };
  const starting = startingChecks({ flow: question.flow, where, ...found, head }, { isArmed: true });
  return starting ? [{ reason: blockedReason(fullName, starting.refusal), leftMs: starting.leftMs }] : [];
}
