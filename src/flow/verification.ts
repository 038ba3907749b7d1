/**
 * What a merge has to prove besides what GitHub's merge call checks: the required checks and reviews
 * of its target, whether or not the App may bypass them, and that checks had time to start.
 */
import type { CardBranch } from "./branch-refusals.ts";
import { checkBlockers, reviewBlockers } from "./branch-refusals.ts";
import type { AccountFacts, BranchFacts, HeadFacts, MergeRules, PullRequestFacts } from "./facts.ts";
import type { Flow } from "./flow.ts";
import { isRefusal, type Refusal } from "./refusal.ts";

/** A pull request that a move would merge, and everything that decides whether it may. */
export interface MergeFacts {
  readonly flow: Flow;
  readonly where: CardBranch;
  readonly facts: BranchFacts;
  readonly pull: PullRequestFacts;
  /** Absent if it was not read. */
  readonly head: HeadFacts | undefined;
}

export interface Verified {
  readonly reasons: readonly Refusal[];
  /** What GitHub will probably refuse. GitHub decides. */
  readonly doubts: readonly Refusal[];
  /** The names of the unmet rules that the App bypasses, as the flow allows. */
  readonly bypassed: readonly string[];
  /** About rules that may be bypassed and that Trunkline cannot evaluate. */
  readonly warnings: readonly string[];
}

/** Judges the checks, reviews and rules of a pull request that is to be merged. */
export function verifyMerge(merge: MergeFacts): Verified {
  const { flow, where, facts, pull } = merge;
  const checks = flow.checks === "required" ? checkBlockers(where, pull) : [];
  const { rules } = facts;
  if (!rules || isRefusal(rules))
    return {
      reasons: rules ? [...checks, rules] : checks,
      doubts: reviewBlockers(pull),
      bypassed: [],
      warnings: [],
    };
  const alreadyListed = checks.flatMap(({ details }) => [details?.["failing"], details?.["pending"]].flat());
  const unmetBy = (each: MergeRules): Refusal[] => unmetRules(merge, each, alreadyListed);
  // If no rule requires reviews, a requested change only makes GitHub's refusal likely.
  const isReviewed = rules.requiredApprovals > 0 || rules.requiresCodeOwnerReview;
  const doubts = isReviewed ? [] : reviewBlockers(pull);
  if (!flow.verification.bypassRules) {
    const reasons = [...checks, ...unmetBy(rules)];
    return { reasons, doubts, bypassed: [], warnings: warningsAbout(where, rules) };
  }
  // GitHub knows nothing of independence, so it cannot decide about that.
  const ofGitHub = withoutIndependence(merge);
  const bySource = rules.sources.map((source) => ({
    source,
    unmet: unmetRules(ofGitHub, source, alreadyListed),
  }));
  const enforced = bySource.filter(({ source }) => source.canBypass !== true);
  const bypassed = bySource.filter(({ source, unmet }) => source.canBypass === true && unmet.length > 0);
  const review = unmetReview(ofGitHub, rules) === null ? unmetReview(merge, rules) : null;
  return {
    reasons: review === null ? checks : [...checks, review],
    doubts: [...doubts, ...distinct(enforced.flatMap(({ unmet }) => unmet))],
    bypassed: bypassed.map(({ source }) => source.name),
    warnings: [],
  };
}

const withoutIndependence = (merge: MergeFacts): MergeFacts => ({
  ...merge,
  flow: { ...merge.flow, verification: { ...merge.flow.verification, independentApproval: false } },
});

const distinct = (refusals: readonly Refusal[]): Refusal[] => [
  ...new Map(refusals.map((each) => [JSON.stringify(each), each])).values(),
];

/** `alreadyListed` are the checks that another reason of the refusal names. */
function unmetRules(merge: MergeFacts, rules: MergeRules, alreadyListed: readonly unknown[]): Refusal[] {
  const review = unmetReview(merge, rules);
  const threads = unresolvedThreads(merge, rules);
  return [
    ...unmetChecks(merge, rules, alreadyListed),
    ...(review === null ? [] : [review]),
    ...(threads === null ? [] : [threads]),
  ];
}

/** The required checks of a draft may start when it is marked ready: it is decided again then. */
function unmetChecks(
  { flow, pull }: MergeFacts,
  rules: MergeRules,
  alreadyListed: readonly unknown[],
): Refusal[] {
  if (pull.isDraft) return [];
  const unmet = (pull.unmetChecks ?? []).filter(
    (name) => rules.requiredChecks.includes(name) && !alreadyListed.includes(name),
  );
  // A flow that requires checks is refused with the hidden ones already.
  if (unmet.length > 0 && pull.checks.hidden && flow.checks === "ignored") return [pull.checks.hidden];
  const failing = unmet.filter((name) => pull.checks.failing.includes(name));
  const pending = unmet.filter((name) => !failing.includes(name));
  const refusals: Refusal[] = [];
  if (failing.length > 0)
    refusals.push({
      reason: "checks_failing",
      message: notPassed(failing),
      details: { failing, pending: [] },
    });
  if (pending.length > 0)
    refusals.push({
      reason: "checks_pending",
      message: notPassed(pending),
      details: { failing: [], pending },
    });
  return refusals;
}

const notPassed = (names: readonly string[]): string =>
  `Required checks have not passed: ${names.join(", ")}.`;

function unmetReview(merge: MergeFacts, rules: MergeRules): Refusal | null {
  const { pull, head, flow } = merge;
  const { requiredApprovals: required } = rules;
  if (required === 0 && !rules.requiresCodeOwnerReview) return null;
  if (pull.reviewDecision === "changes_requested") return reviewBlockers(pull)[0] ?? null;
  const isIndependent = flow.verification.independentApproval;
  if (pull.reviews === undefined)
    return pull.reviewDecision === "approved" && !isIndependent ? null : reviewRequired(merge, required, {});
  const approvers = pull.reviews.flatMap(({ state, author }) =>
    state === "approved" && author && author.forgeId !== pull.author?.forgeId ? [author] : [],
  );
  const own = isIndependent ? approvers.filter((each) => workedOn(merge, each)) : [];
  const counted = approvers.filter((each) => !own.includes(each));
  const lastPusher = head?.lastPusher ?? null;
  const lacksOther =
    lastPusher !== null &&
    approvers.length >= Math.max(required, 1) &&
    approvers.every(({ forgeId }) => forgeId === lastPusher.forgeId) &&
    (rules.requiresLastPushApproval || pull.reviewDecision === "review_required");
  const isMissing =
    counted.length < required ||
    // A code owner may have to approve although no number is required.
    (own.length > 0 && counted.length === 0) ||
    pull.reviewDecision === "review_required" ||
    lacksOther;
  if (isMissing) return reviewRequired(merge, required, { own, lastPusher: lacksOther ? lastPusher : null });
  return isIndependent ? unknownWork(merge) : null;
}

const workedOn = ({ facts, head }: MergeFacts, { forgeId }: AccountFacts): boolean =>
  (head?.pushers ?? []).some((pusher) => pusher.forgeId === forgeId) ||
  (facts.commits ?? []).some(({ authorIds }) => authorIds.includes(forgeId));

/** The refusal if it is not known who worked on the head. */
function unknownWork({ where: { branchName }, facts, head }: MergeFacts): Refusal | null {
  if (head && head.lastPusher === null) {
    const message = `GitHub has not reported who pushed ${facts.headSha} to ${branchName}, so no approval counts as independent. Move the card again in a minute. If the push is older than the card's branch, push once more, or turn independentApproval off in the flow.`;
    return { reason: "review_required", message, details: { cause: "pusher_unknown" } };
  }
  if (facts.commits !== null) return null;
  const message = `Trunkline could not read all authors of the commits of ${branchName}, so no approval counts as independent: it reads at most 100 commits with 20 authors each. Split the work, or turn independentApproval off in the flow.`;
  return { reason: "review_required", message, details: { cause: "too_many_commits" } };
}

interface Missing {
  readonly own?: readonly AccountFacts[];
  readonly lastPusher?: AccountFacts | null;
}

function reviewRequired(
  { pull }: MergeFacts,
  required: number,
  { own = [], lastPusher = null }: Missing,
): Refusal {
  const logins = own.map(({ login }) => login);
  const sentences = [
    lastPusher
      ? `Pull request #${pull.number} needs an approval by somebody other than ${lastPusher.login}, who pushed last.`
      : required > 1
        ? `Pull request #${pull.number} needs ${required} approving reviews. Ask for them.`
        : `Pull request #${pull.number} needs an approving review. Ask for one.`,
    logins.length > 0 && `Not counted, because they pushed or wrote commits of it: ${logins.join(", ")}.`,
  ];
  return {
    reason: "review_required",
    message: sentences.filter(Boolean).join(" "),
    details: {
      ...(required > 0 && { requiredReviews: required }),
      ...(logins.length > 0 && { ownApprovals: logins }),
      ...(lastPusher && { rule: "last_push_approval", lastPusher: lastPusher.login }),
    },
  };
}

/** If GitHub lists only a part of them, it decides, unless the App may bypass the rule. */
function unresolvedThreads({ pull, facts }: MergeFacts, rules: MergeRules): Refusal | null {
  if (!rules.requiresResolvedThreads || pull.unresolvedThreads === undefined) return null;
  if (pull.unresolvedThreads === 0) return null;
  const sources = facts.rules && !isRefusal(facts.rules) ? facts.rules.sources : [];
  const isEnforced = sources.every((each) => !each.requiresResolvedThreads || each.canBypass === false);
  if (pull.unresolvedThreads === null && isEnforced) return null;
  const unresolved = pull.unresolvedThreads;
  if (unresolved === null) {
    const message = `GitHub lists only the first 100 conversations of pull request #${pull.number}, so Trunkline cannot see whether all are resolved, and the App may be able to bypass the rule. Remove the App from the bypass list, or set bypassRules in the flow.`;
    return {
      reason: "review_required",
      message,
      details: { rule: "conversations", unresolved, cause: "too_many_conversations" },
    };
  }
  return {
    reason: "review_required",
    message: `Conversations on pull request #${pull.number} are not resolved. Resolve them.`,
    details: { rule: "conversations", unresolved },
  };
}

function warningsAbout(
  { targetBranch }: CardBranch,
  rules: Exclude<BranchFacts["rules"], Refusal | undefined>,
): string[] {
  return rules.sources
    .filter(({ unevaluated, canBypass }) => unevaluated.length > 0 && canBypass !== false)
    .map(
      ({ name, unevaluated }) =>
        `Trunkline cannot evaluate rules of the ruleset ${name} of ${targetBranch} (${unevaluated.join(", ")}), and the App may be able to bypass them. Remove the App from the ruleset's bypass list.`,
    );
}

/**
 * GitHub's refusal of a merge with what Trunkline knows about its cause: which method failed, and who
 * pushed last.
 */
export function explainRefusal(
  refusal: Refusal,
  { mergeMethod }: Flow,
  {
    facts,
    branchName,
    head,
  }: {
    readonly facts: BranchFacts | Refusal;
    readonly branchName: string | null;
    readonly head?: HeadFacts | undefined;
  },
): Refusal {
  const { details = {} } = refusal;
  if (details["rule"] === "last_push_approval" && head?.lastPusher)
    return { ...refusal, details: { ...details, lastPusher: head.lastPusher.login } };
  const pull = isRefusal(facts)
    ? undefined
    : facts.pullRequests.find(
        ({ state, targetBranch }) => state === "open" && targetBranch === facts.target.name,
      );
  const onlyRebaseFails =
    refusal.reason === "conflicts" && mergeMethod === "rebase" && pull?.mergeable === "mergeable";
  if (!onlyRebaseFails || isRefusal(facts)) return refusal;
  const { name } = facts.target;
  return {
    ...refusal,
    message: `${refusal.message} The commits of ${branchName} cannot be rebased onto ${name} one by one. Rebase it, for example with git rebase ${name}, and push, or use another merge method.`,
    details: { ...details, mergeMethod },
  };
}

/** Checks that may still start, and how long that may take from now, in milliseconds. */
export interface StartingChecks {
  readonly refusal: Refusal;
  readonly leftMs: number;
}

const NONE_REPORTED = { failing: [], pending: [] } as const;

/**
 * Null once checks had their time to start. A head that was just pushed has no checks yet, and the jobs
 * of a draft may have been skipped only because it was one. `isArmed`: nobody watches the move, so it
 * also waits if nothing shows that there are checks at all, and the target requires none.
 */
export function startingChecks(
  { flow, where, facts, pull, head }: MergeFacts,
  { isArmed }: { readonly isArmed: boolean },
): StartingChecks | null {
  if (pull.isDraft || head === undefined) return null;
  const { checksStartSeconds } = flow.verification;
  const leftOf = (ageMs: number): number => checksStartSeconds * 1_000 - ageMs;
  const { branchName, targetBranch } = where;
  const { state, hasSkipped = false, hidden } = pull.checks;
  const afterPush = leftOf(head.ageMs ?? 0);
  const afterReady = head.readyAgeMs === null ? 0 : leftOf(head.readyAgeMs);
  const hadChecks = head.hadChecks || facts.isLandedWithChecks === true || hasSkipped;
  const isChecked = flow.checks === "required" && hadChecks && !hidden;
  const afterBoth = Math.max(afterPush, afterReady);
  if (isChecked && state === null && afterBoth > 0) {
    const message = `No checks have started on ${branchName}, although earlier commits had some. Wait for them, or move the card with whenReady.`;
    return { leftMs: afterBoth, refusal: { reason: "checks_pending", message, details: NONE_REPORTED } };
  }
  if (isChecked && hasSkipped && afterReady > 0) {
    const message = `Checks on ${branchName} were skipped, perhaps because pull request #${pull.number} was a draft. Wait until others have started, or move the card with whenReady.`;
    return { leftMs: afterReady, refusal: { reason: "checks_pending", message, details: NONE_REPORTED } };
  }
  if (!isArmed || (facts.requiredChecks ?? []).length > 0 || afterPush <= 0) return null;
  const message = `${targetBranch} requires no checks. The move waits until ${checksStartSeconds} s after the push, because checks that are not required may still start.`;
  return { leftMs: afterPush, refusal: { reason: "checks_pending", message } };
}
