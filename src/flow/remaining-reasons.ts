import { finalOf, type Decision } from "./decide.ts";
import type { BranchFacts, MergeState } from "./facts.ts";
import { currentPullRequest } from "./move.ts";
import { isConnectionRefusal, type Blocked, type BlockedReason, type RefusalReason } from "./refusal.ts";

/** The state of a blocked card when it is checked again. */
export interface RecheckedCard {
  /** About entering the same stage now. */
  readonly decision: Decision;
  /** The branch's head in the repository that refused; undefined when it cannot be read. */
  readonly headSha: string | null | undefined;
  /** What GitHub shows of the repositories that can be read, by full name. */
  readonly shown: ReadonlyMap<string, BranchFacts>;
  /** The flow's merge method now. */
  readonly mergeMethod: string;
  /** The App has more permissions than at the time of the refusal. */
  readonly hasNewPermissions: boolean;
}

/** A decision shows whether these still apply. */
const DECIDED: ReadonlySet<RefusalReason> = new Set([
  "conflicts",
  "checks_failing",
  "checks_pending",
  "nothing_to_merge",
  "branch_missing",
  "pull_request_closed",
]);
/** A decision shows these as doubts. */
const DOUBTED: ReadonlySet<RefusalReason> = new Set(["review_required", "changes_requested"]);

/**
 * The reasons that still block a card. The first are those that only a write reveals, such as
 * `protected`. They stay until the branch has a new head, the permission or merge method changes,
 * the pull request is queued again, nothing is left to do, or what GitHub shows of their cause changes.
 */
export function remainingReasons(blocked: Blocked, rechecked: RecheckedCard): BlockedReason[] {
  const decision = finalOf(rechecked.decision);
  if (decision.isUndecided) return blocked.reasons.filter((each) => !isPermittedNow(each, rechecked));
  const revealed = blocked.reasons.filter(
    (each) => isOnlyRevealedByWrite(each) && stillApplies(each, blocked, rechecked),
  );
  const refused = decision.state === "refuse" ? decision.reasons : [];
  const doubts = decision.doubts.filter(
    (doubt) =>
      !refused.includes(doubt) &&
      blocked.reasons.some(
        ({ reason, repository }) => DOUBTED.has(reason) && repository === doubt.repository,
      ),
  );
  const decided = [...refused, ...doubts.map((each) => withForgesMessage(each, blocked))];
  const isDecided = ({ reason, repository }: BlockedReason): boolean =>
    decided.some((each) => each.reason === reason && each.repository === repository);
  return [...revealed.filter((each) => !isDecided(each)), ...decided];
}

/** A doubt as the earlier reason, which has GitHub's own message, if the card was refused for it. */
const withForgesMessage = (each: BlockedReason, { reasons }: Blocked): BlockedReason =>
  (DOUBTED.has(each.reason) &&
    reasons.find(({ reason, repository }) => reason === each.reason && repository === each.repository)) ||
  each;

/** Whether two lists name the same causes, whatever their messages. */
export const areSameReasons = (some: readonly BlockedReason[], others: readonly BlockedReason[]): boolean =>
  some.map(identityOf).join("\n") === others.map(identityOf).join("\n");

/** The details that say what has to be done. */
const NAMED = ["branch", "rule", "ownApprovals", "lastPusher", "cause"] as const;

const identityOf = ({ reason, repository, details }: BlockedReason): string =>
  JSON.stringify([reason, repository, ...NAMED.map((name) => details[name] ?? null)]);

const isOnlyRevealedByWrite = (each: BlockedReason): boolean =>
  "taken" in each.details ||
  "mergeMethod" in each.details ||
  isStatedByForge(each) ||
  !(DECIDED.has(each.reason) || DOUBTED.has(each.reason) || isConnectionRefusal(each));

/**
 * Whether GitHub has refused the merge with it. What Trunkline finds itself names the failing and
 * pending checks, the unresolved conversations or the required reviews.
 */
const isStatedByForge = ({ reason, details }: BlockedReason): boolean =>
  (isAboutChecks(reason) && !("failing" in details)) ||
  (reason === "review_required" &&
    "rule" in details &&
    !("unresolved" in details || "requiredReviews" in details));

const isAboutChecks = (reason: RefusalReason): boolean =>
  reason === "checks_failing" || reason === "checks_pending";

/** Whether GitHub shows that the cause of such a refusal is gone. */
function isClearedOnForge(
  { reason, repository, details }: BlockedReason,
  shown: RecheckedCard["shown"],
): boolean {
  const facts = shown.get(repository);
  const pull = facts && currentPullRequest(facts);
  if (pull?.state !== "open") return false;
  if (details["rule"] === "conversations") return pull.unresolvedThreads === 0;
  if (reason === "review_required") return pull.reviewDecision === "approved";
  const named = [details["checks"]].flat().filter((name) => typeof name === "string");
  const isKnown = named.length > 0 && named.every((name) => facts?.requiredChecks?.includes(name));
  if (isKnown) return !named.some((name) => pull.unmetChecks?.includes(name));
  return pull.mergeState !== undefined && MERGEABLE.has(pull.mergeState);
}

/** GitHub's summaries of a pull request that its rules allow to merge. */
const MERGEABLE: ReadonlySet<MergeState> = new Set(["clean", "has_hooks", "unstable"]);

function stillApplies(each: BlockedReason, blocked: Blocked, rechecked: RecheckedCard): boolean {
  if (isPermittedNow(each, rechecked)) return false;
  if (each.reason === "queue_rejected" && isQueued(rechecked.shown.get(each.repository))) return false;
  if (isStatedByForge(each) && isClearedOnForge(each, rechecked.shown)) return false;
  const method = each.details["mergeMethod"];
  if (method !== undefined && method !== rechecked.mergeMethod) return false;
  const isOfHead = each.repository === blocked.repository && rechecked.headSha !== undefined;
  if (isOfHead && rechecked.headSha !== blocked.headSha) return false;
  // An abandoned move blocks the card until a push or another move. Other reasons end when a person
  // has done on GitHub what was refused.
  return "attempts" in each.details || finalOf(rechecked.decision).unfinishedIn.includes(each.repository);
}

const isQueued = (facts: BranchFacts | undefined): boolean =>
  facts?.pullRequests.some(({ isInMergeQueue }) => isInMergeQueue) ?? false;

const isPermittedNow = (each: BlockedReason, { hasNewPermissions }: RecheckedCard): boolean =>
  hasNewPermissions && each.reason === "not_permitted" && !isConnectionRefusal(each);
