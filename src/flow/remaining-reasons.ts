import { finalOf, type Decision } from "./decide.ts";
import { isConnectionRefusal, type Blocked, type BlockedReason, type RefusalReason } from "./refusal.ts";

/** The state of a blocked card when it is checked again. */
export interface RecheckedCard {
  /** About entering the same stage now. */
  readonly decision: Decision;
  /** The branch's head in the repository that refused; undefined when it cannot be read. */
  readonly headSha: string | null | undefined;
  /** The full names of the repositories whose pull request is in GitHub's merge queue. */
  readonly queuedIn: readonly string[];
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
 * the pull request is queued again, or nothing is left to do.
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
  return [...revealed, ...[...refused, ...doubts].map((each) => withForgesMessage(each, blocked))];
}

/** A doubt as the earlier reason, which has GitHub's own message, if the card was refused for it. */
const withForgesMessage = (each: BlockedReason, { reasons }: Blocked): BlockedReason =>
  (DOUBTED.has(each.reason) &&
    reasons.find(({ reason, repository }) => reason === each.reason && repository === each.repository)) ||
  each;

/** Whether two lists name the same causes, whatever their messages. */
export const areSameReasons = (some: readonly BlockedReason[], others: readonly BlockedReason[]): boolean =>
  some.map(identityOf).join("\n") === others.map(identityOf).join("\n");

const identityOf = ({ reason, repository, details }: BlockedReason): string =>
  JSON.stringify([reason, repository, details["branch"] ?? null]);

const isOnlyRevealedByWrite = (each: BlockedReason): boolean =>
  "taken" in each.details ||
  !(DECIDED.has(each.reason) || DOUBTED.has(each.reason) || isConnectionRefusal(each));

function stillApplies(each: BlockedReason, blocked: Blocked, rechecked: RecheckedCard): boolean {
  if (isPermittedNow(each, rechecked)) return false;
  if (each.reason === "queue_rejected" && rechecked.queuedIn.includes(each.repository)) return false;
  const method = each.details["mergeMethod"];
  if (method !== undefined && method !== rechecked.mergeMethod) return false;
  const isOfHead = each.repository === blocked.repository && rechecked.headSha !== undefined;
  if (isOfHead && rechecked.headSha !== blocked.headSha) return false;
  // An abandoned move blocks the card until a push or another move. Other reasons end when a person
  // has done on GitHub what was refused.
  return "attempts" in each.details || finalOf(rechecked.decision).unfinishedIn.includes(each.repository);
}

const isPermittedNow = (each: BlockedReason, { hasNewPermissions }: RecheckedCard): boolean =>
  hasNewPermissions && each.reason === "not_permitted" && !isConnectionRefusal(each);
