import { type Blocked, type BlockedReason, type RefusalReason, isConnectionRefusal } from "./refusal.ts";
import type { MovePlan } from "./move.ts";

/** The state of a blocked card when it is checked again. */
export interface RecheckedCard {
  /** The plan for entering the same stage now. */
  readonly plan: MovePlan;
  /** The branch's head in the repository that refused; undefined when it cannot be read. */
  readonly headSha: string | null | undefined;
  /** The full names of the repositories whose pull request is in GitHub's merge queue. */
  readonly queuedIn: readonly string[];
  /** The flow's merge method now. */
  readonly mergeMethod: string;
  /** The App has more permissions than at the time of the refusal. */
  readonly hasNewPermissions: boolean;
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
const LIKELY: ReadonlySet<RefusalReason> = new Set(["review_required", "changes_requested"]);

/**
 * The reasons that still block a card. The first are those that only a write reveals, such as
 * `protected`. They stay until the branch has a new head, the permission or merge method changes,
 * the pull request is queued again, or nothing is left to do.
 */
export function remainingReasons(blocked: Blocked, inspection: RecheckedCard): BlockedReason[] {
  const { plan } = inspection;
  if (plan.isUndecided) return blocked.reasons.filter((each) => !isPermittedNow(each, inspection));
  const revealed = blocked.reasons.filter(
    (each) => isOnlyRevealedByWrite(each) && stillApplies(each, blocked, inspection),
  );
  const likely = plan.likelyRefusals.flatMap((refusal) => {
    const earlier = blocked.reasons.filter(
      ({ reason, repository }) => LIKELY.has(reason) && repository === refusal.repository,
    );
    // The earlier reason has GitHub's own message.
    return earlier.length === 0 ? [] : [earlier.find(({ reason }) => reason === refusal.reason) ?? refusal];
  });
  return [...revealed, ...plan.reasons, ...likely];
}

/** Whether two lists name the same causes, whatever their messages. */
export const areSameReasons = (some: readonly BlockedReason[], others: readonly BlockedReason[]): boolean =>
  some.map(identityOf).join("\n") === others.map(identityOf).join("\n");

const identityOf = ({ reason, repository, details }: BlockedReason): string =>
  JSON.stringify([reason, repository, details["branch"] ?? null]);

const isOnlyRevealedByWrite = (each: BlockedReason): boolean =>
  "taken" in each.details ||
  !(PLANNED.has(each.reason) || LIKELY.has(each.reason) || isConnectionRefusal(each));

function stillApplies(each: BlockedReason, blocked: Blocked, inspection: RecheckedCard): boolean {
  if (isPermittedNow(each, inspection)) return false;
  if (each.reason === "queue_rejected" && inspection.queuedIn.includes(each.repository)) return false;
  const method = each.details["mergeMethod"];
  if (method !== undefined && method !== inspection.mergeMethod) return false;
  const isOfHead = each.repository === blocked.repository && inspection.headSha !== undefined;
  if (isOfHead && inspection.headSha !== blocked.headSha) return false;
  // An abandoned move blocks the card until a push or another move.
  return "attempts" in each.details || isAnythingLeft(each, inspection);
}

const isPermittedNow = (each: BlockedReason, { hasNewPermissions }: RecheckedCard): boolean =>
  hasNewPermissions && each.reason === "not_permitted" && !isConnectionRefusal(each);

/**
 * Whether the repository still needs a step. False after a person has done on GitHub what was
 * refused. A plan with reasons has no steps, so its reasons count as well.
 */
const isAnythingLeft = ({ repository }: BlockedReason, { plan }: RecheckedCard): boolean =>
  plan.steps.some(({ fullName }) => fullName === repository) ||
  plan.reasons.some((reason) => reason.repository === repository);
