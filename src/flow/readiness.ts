/**
 * Decides whether an armed move may run. The rules are stricter than for other moves, because
 * nobody watches an armed move.
 */
import type { BranchFacts, PullRequestFacts } from "./facts.ts";
import { isGateReason } from "./gates.ts";
import type { Stage } from "./flow.ts";
import { currentPullRequest, headOf, type HeadShas, type RepositoryState } from "./move.ts";
import { blockedReason, isRefusal, type BlockedReason, type Refusal, type RefusalReason } from "./refusal.ts";

/** What a move is armed with in one repository. */
export interface ArmedWork {
  readonly sha: string;
  readonly targetBranch: string;
  /** Null if the pull request has to be opened first. */
  readonly prNumber: number | null;
  readonly isDraft: boolean;
}

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

/**
 * If a target requires no checks, optional checks are expected to start within this time after a
 * push.
 */
export const CHECKS_START_MS = 60_000;

interface ReadinessQuestion {
  readonly stage: Stage;
  /** Why the card may not enter the stage now. */
  readonly reasons: readonly BlockedReason[];
  /** What GitHub will probably refuse. */
  readonly doubts: readonly BlockedReason[];
  readonly repositories: readonly RepositoryState[];
  /** Null while the move is being armed. */
  readonly armedWith: WorkByRepository | null;
  /** How long ago each head was pushed, or the move was armed, in milliseconds by repository id. */
  readonly headAges: ReadonlyMap<string, number>;
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

/** Refusals that may clear without a new commit. */
const MAY_CLEAR: ReadonlySet<RefusalReason> = new Set([
  "checks_failing",
  "checks_pending",
  "review_required",
]);

/** Whether an inspected card may enter a stage now, has to wait, or cannot enter with these commits. */
export function judgeReadiness(question: ReadinessQuestion): Readiness {
  const { reasons, doubts, repositories, armedWith } = question;
  const disarming = armedWith && changeOf(armedWith, repositories);
  if (disarming) return { state: "changed", disarming };
  const known = [...reasons, ...doubts];
  const isFull = ({ reason }: BlockedReason): boolean => armedWith !== null && reason === "wip_limit";
  const final = known.filter((each) => !MAY_CLEAR.has(each.reason) && !isFull(each));
  if (final.length > 0) return { state: "refused", reasons: final };
  const startingChecks = repositories.flatMap((repository) => mayStillStart(question, repository));
  const waitingFor = [
    ...known.filter((each) => !isGateReason(each)),
    ...repositories.flatMap((repository) => unmetOf(question, repository)),
    ...startingChecks.map(({ reason }) => reason),
  ];
  // A full stage keeps the move waiting only if nothing else does.
  if (waitingFor.length === 0) waitingFor.push(...known);
  if (waitingFor.length === 0) return { state: "ready" };
  const onlyWaitsForStart = waitingFor.length === startingChecks.length;
  const endsInMs = onlyWaitsForStart ? Math.max(...startingChecks.map(({ leftMs }) => leftMs)) : null;
  return { state: "waiting", waitingFor, endsInMs };
}

/** What the move of an inspected card is armed with. */
export const workByRepository = (repositories: readonly RepositoryState[]): WorkByRepository =>
  Object.fromEntries(
    repositories.flatMap(({ repositoryId, facts }) => {
      const sha = isRefusal(facts) ? null : headOf(facts);
      if (isRefusal(facts) || sha === null) return [];
      const pull = currentPullRequest(facts);
      const { name: targetBranch } = facts.target;
      const work = { sha, targetBranch, prNumber: pull?.number ?? null, isDraft: pull?.isDraft ?? false };
      return [[repositoryId, work]];
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
  { prNumber, isDraft, targetBranch }: ArmedWork,
  pull: PullRequestFacts | undefined,
): string | null {
  if (prNumber === null) return null;
  if (pull?.number !== prNumber)
    return `Pull request #${prNumber} does not merge into ${targetBranch} any more.`;
  if (pull.state === "open" && pull.isDraft && !isDraft)
    return `Pull request #${prNumber} was converted to a draft.`;
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

/**
 * The reason for required checks that have not passed and that `reasons` do not name: they
 * have not reported yet, or the flow ignores checks.
 */
function unmetOf(question: ReadinessQuestion, { fullName, facts }: RepositoryState): BlockedReason[] {
  const unmet = pullToMerge(question, facts)?.pull.unmetChecks ?? [];
  const named = question.reasons
    .filter(({ repository }) => repository === fullName)
    .flatMap(({ details }) => [details["failing"], details["pending"]].flat());
  const others = unmet.filter((name) => !named.includes(name));
  if (others.length === 0) return [];
  const message = `Required checks have not passed: ${others.join(", ")}.`;
  return [blockedReason(fullName, { reason: "checks_pending", message, details: { pending: others } })];
}

/** The reason to wait if the target requires no checks but optional ones may still start. */
function mayStillStart(
  question: ReadinessQuestion,
  { repositoryId, fullName, facts }: RepositoryState,
): { readonly reason: BlockedReason; readonly leftMs: number }[] {
  const found = pullToMerge(question, facts);
  if (!found || (found.facts.requiredChecks ?? []).length > 0) return [];
  const leftMs = CHECKS_START_MS - (question.headAges.get(repositoryId) ?? 0);
  if (leftMs <= 0) return [];
  const message = `${found.facts.target.name} requires no checks. The move waits until ${CHECKS_START_MS / 1_000} s after the push, because checks that are not required may still start.`;
  return [{ reason: blockedReason(fullName, { reason: "checks_pending", message }), leftMs }];
}
