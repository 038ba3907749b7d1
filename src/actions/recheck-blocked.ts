import type { Blocked, BlockedReason } from "../flow/blocked.ts";
import { isAboutConnection } from "../flow/connection.ts";
import { stageOf } from "../flow/flow.ts";
import { mayBeBlocked, setBlocked } from "../store/blocked-cards.ts";
import { findCardById, lockCard } from "../store/cards.ts";
import type { Db } from "../store/connect.ts";
import { addJob } from "../store/jobs.ts";
import { findOpenOperation } from "../store/operations.ts";
import { findProject } from "../store/projects.ts";
import type { Deps } from "./deps.ts";
import { lookUntilDecided } from "./look-at-card.ts";
import { nameConflicts } from "./name-conflicts.ts";

export const RECHECK_BLOCKED = "recheck-blocked";

/** How long to wait for a move under way, in milliseconds. */
const PAUSE_MS = 500;

/** Asks for a blocked card to be looked at again, soon. */
export const recheckSoon = (db: Db, cardId: string, delayMs = 200): Promise<void> =>
  addJob(db, RECHECK_BLOCKED, { cardId }, { key: `${RECHECK_BLOCKED}:${cardId}`, delayMs });

/**
 * Asks for it after news of the card, where something stands in its way, or may at the end of the move under way: that may have looked before
 * the news.
 */
export async function recheckIfBlocked(db: Db, cardId: string): Promise<void> {
  if (await mayBeBlocked(db, cardId)) await recheckSoon(db, cardId);
}

/** What a look can judge. The forge's other refusals hold until the head has changed or the card is moved again. */
const SEEN: ReadonlySet<string> = new Set([
  "conflicts",
  "checks_failing",
  "checks_pending",
  "nothing_to_merge",
  "branch_missing",
  "pull_request_closed",
]);
/** What a look shows as a doubt. */
const DOUBTED: ReadonlySet<string> = new Set(["review_required", "changes_requested"]);

/** Clears what stood in a card's way once the forge shows that its cause is gone, and says so where it is another one now. */
export async function recheckBlocked(deps: Deps, cardId: string): Promise<void> {
  const moving = await findOpenOperation(deps.db, cardId);
  if (moving?.state === "running" && moving.isHeld) return recheckSoon(deps.db, cardId, PAUSE_MS);
  const card = await findCardById(deps.db, cardId);
  const project = card?.blocked && (await findProject(deps.db, card.workspaceId, card.projectId));
  if (!card?.blocked || !project) return;
  const { blocked } = card;
  const stage = stageOf(project.flow, blocked.statusId);
  // Nothing stands in the way of a stage that is not there any more.
  if (!stage) return changeBlocked(deps, cardId, blocked, null);
  const look = await lookUntilDecided(deps, { card, project, stage });
  const { plan, repositories } = look;
  if (plan.isUndecided) return;
  const [first] = plan.reasons;
  if (first) {
    const isTheSame = SEEN.has(blocked.reason) && reasonsIn(plan.reasons) === reasonsIn(blocked.reasons);
    if (isTheSame) return;
    const reasons = await nameConflicts(deps, look, plan.reasons);
    return changeBlocked(deps, cardId, blocked, told(blocked, first, reasons));
  }
  const facts = repositories.find(({ fullName }) => fullName === blocked.repository)?.facts;
  const headSha = facts && !("reason" in facts) ? facts.headSha : null;
  const causeIsGone =
    SEEN.has(blocked.reason) ||
    blocked.reasons.some(isAboutConnection) ||
    (DOUBTED.has(blocked.reason) && plan.doubts.length === 0) ||
    headSha !== blocked.headSha;
  if (causeIsGone) await changeBlocked(deps, cardId, blocked, null);
}

const told = (
  blocked: Blocked,
  { reason, message, repository }: BlockedReason,
  reasons: readonly BlockedReason[],
): Blocked => ({ ...blocked, reason, message, repository, reasons });

const reasonsIn = (reasons: readonly BlockedReason[]): string =>
  reasons.map(({ reason, repository }) => `${reason} ${repository}`).join("\n");

async function changeBlocked(deps: Deps, cardId: string, from: Blocked, to: Blocked | null): Promise<void> {
  await deps.db.transaction(async (trx) => {
    const current = await lockCard(trx, cardId);
    // Refused again meanwhile: that refusal is newer than what was looked at.
    if (current?.blocked?.at === from.at) await setBlocked(trx, cardId, to);
  });
}
