import { type Blocked, type BlockedReason, type RefusalReason, isAboutConnection } from "./refusal.ts";
import type { MovePlan } from "./move.ts";

/** What a later look at a refused card shows. */
export interface LaterLook {
  /** What entering the same stage would take now. */
  readonly plan: MovePlan;
  /** The branch's tip in the repository that refused; undefined where it cannot be asked. */
  readonly headSha: string | null | undefined;
  /** Whether the branch's pull request there waits in the forge's merge queue. */
  readonly isQueued: boolean;
  /** How the flow merges now. */
  readonly mergeMethod: string;
  /** Whether more is permitted since the refusal than was then. */
  readonly isPermitted: boolean;
}

/** What a look can judge: it stands while a look shows it. */
const SEEN: ReadonlySet<RefusalReason> = new Set([
  "conflicts",
  "checks_failing",
  "checks_pending",
  "nothing_to_merge",
  "branch_missing",
  "pull_request_closed",
]);
/** What a look shows as a doubt. */
const DOUBTED: ReadonlySet<RefusalReason> = new Set(["review_required", "changes_requested"]);

/**
 * What still stands in the way of a card that was refused; empty where nothing is known to. What only the forge's answer to an order told comes
 * first: no look shows it, so it stands until what was ordered is done, or is not what would be ordered now.
 */
export function stillInTheWay(blocked: Blocked, look: LaterLook): BlockedReason[] {
  const { plan } = look;
  if (plan.isUndecided) return blocked.reasons.filter((each) => !isForgiven(each, look));
  const told = blocked.reasons.filter((each) => isOnlyTold(each) && stillHolds(each, blocked, look));
  const doubted = plan.doubts.flatMap((doubt) => {
    const earlier = blocked.reasons.filter(
      ({ reason, repository }) => DOUBTED.has(reason) && repository === doubt.repository,
    );
    // The forge's own words, where it gave them.
    return earlier.length === 0 ? [] : [earlier.find(({ reason }) => reason === doubt.reason) ?? doubt];
  });
  return [...told, ...plan.reasons, ...doubted];
}

/** Whether two lists of reasons are of the same things, whatever the words. */
export const areSame = (some: readonly BlockedReason[], others: readonly BlockedReason[]): boolean =>
  some.map(whatIs).join("\n") === others.map(whatIs).join("\n");

const whatIs = ({ reason, repository, details }: BlockedReason): string =>
  JSON.stringify([reason, repository, details["branch"] ?? null]);

const isOnlyTold = (each: BlockedReason): boolean =>
  "taken" in each.details || !(SEEN.has(each.reason) || DOUBTED.has(each.reason) || isAboutConnection(each));

function stillHolds(each: BlockedReason, blocked: Blocked, look: LaterLook): boolean {
  if (isForgiven(each, look)) return false;
  if (each.reason === "queue_rejected" && look.isQueued) return false;
  const method = each.details["mergeMethod"];
  if (method !== undefined && method !== look.mergeMethod) return false;
  const isOfHead = each.repository === blocked.repository && look.headSha !== undefined;
  if (isOfHead && look.headSha !== blocked.headSha) return false;
  // A move that was given up is told until somebody moves the card, whatever there is left to do.
  return "attempts" in each.details || isAnythingLeft(each, look);
}

const isForgiven = (each: BlockedReason, { isPermitted }: LaterLook): boolean =>
  isPermitted && each.reason === "not_permitted" && !isAboutConnection(each);

/** Somebody may have done there what was refused us, or what was to be done may not be judged for another reason. */
const isAnythingLeft = ({ repository }: BlockedReason, { plan }: LaterLook): boolean =>
  plan.steps.some(({ fullName }) => fullName === repository) ||
  plan.reasons.some((reason) => reason.repository === repository);
