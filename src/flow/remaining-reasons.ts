import { type Blocked, type BlockedReason, type RefusalReason, isConnectionRefusal } from "./refusal.ts";
import type { MovePlan } from "./move.ts";

/** The state of a blocked card when it is checked again. */
export interface LaterInspection {
  /** The plan for entering the same stage now. */
  readonly plan: MovePlan;
  /** The branch's head in the repository that refused; undefined when it cannot be read. */
  readonly headSha: string | null | undefined;
  /** The full names of the repositories whose pull request is in GitHub's merge queue. */
  readonly queuedIn: readonly string[];
  /** The flow's merge method now. */
  readonly mergeMethod: string;
  /** The App has more permissions than at the time of the refusal. */
  readonly isPermitted: boolean;
}

/** A plan shows whether these still apply. */
const PLANNED: ReadonlySet<RefusalReason> = new Set([
  "conflicts",
  "checks_failing",
  "checks_pending",
  "nothing_to_merge",
  "branch_missing",
  "pull_request_closed",
]);
/** A plan shows these as likelyRefusals. */
const DOUBTED: ReadonlySet<RefusalReason> = new Set(["review_required", "changes_requested"]);

/**
 * The reasons that still block a card. First come those that only a write reveals, such as
 * `protected`: a plan cannot show them, so they stay until the write succeeds or is not needed.
 */
export function remainingReasons(blocked: Blocked, inspection: LaterInspection): BlockedReason[] {
  const { plan } = inspection;
  if (plan.isUndecided) return blocked.reasons.filter((each) => !isPermittedNow(each, inspection));
  const answered = blocked.reasons.filter(
    (each) => isOnlyAnswered(each) && stillApplies(each, blocked, inspection),
  );
  const doubted = plan.likelyRefusals.flatMap((doubt) => {
    const earlier = blocked.reasons.filter(
      ({ reason, repository }) => DOUBTED.has(reason) && repository === doubt.repository,
    );
    // The earlier reason has GitHub's own message.
    return earlier.length === 0 ? [] : [earlier.find(({ reason }) => reason === doubt.reason) ?? doubt];
  });
  return [...answered, ...plan.reasons, ...doubted];
}

/** Whether two lists name the same causes, whatever their messages. */
export const areSameReasons = (some: readonly BlockedReason[], others: readonly BlockedReason[]): boolean =>
  some.map(identityOf).join("\n") === others.map(identityOf).join("\n");

const identityOf = ({ reason, repository, details }: BlockedReason): string =>
  JSON.stringify([reason, repository, details["branch"] ?? null]);

const isOnlyAnswered = (each: BlockedReason): boolean =>
  "taken" in each.details ||
  !(PLANNED.has(each.reason) || DOUBTED.has(each.reason) || isConnectionRefusal(each));

function stillApplies(each: BlockedReason, blocked: Blocked, inspection: LaterInspection): boolean {
  if (isPermittedNow(each, inspection)) return false;
  if (each.reason === "queue_rejected" && inspection.queuedIn.includes(each.repository)) return false;
  const method = each.details["mergeMethod"];
  if (method !== undefined && method !== inspection.mergeMethod) return false;
  const isOfHead = each.repository === blocked.repository && inspection.headSha !== undefined;
  if (isOfHead && inspection.headSha !== blocked.headSha) return false;
  // An abandoned move blocks the card until somebody moves it.
  return "attempts" in each.details || isAnythingLeft(each, inspection);
}

const isPermittedNow = (each: BlockedReason, { isPermitted }: LaterInspection): boolean =>
  isPermitted && each.reason === "not_permitted" && !isConnectionRefusal(each);

/** False when a person has done what was refused. A plan with other reasons cannot show that. */
const isAnythingLeft = ({ repository }: BlockedReason, { plan }: LaterInspection): boolean =>
  plan.steps.some(({ fullName }) => fullName === repository) ||
  plan.reasons.some((reason) => reason.repository === repository);
