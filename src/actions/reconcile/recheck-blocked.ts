import type { Blocked, BlockedReason } from "../../flow/refusal.ts";
import { stageOf } from "../../flow/flow.ts";
import { areSame, stillInTheWay, type LaterLook } from "../../flow/still-blocked.ts";
import {
  listCardsLacking,
  listForbiddenCards,
  mayBeBlocked,
  setBlocked,
} from "../../store/cards/blocked-cards.ts";
import { findCardById, lockCard } from "../../store/cards/cards.ts";
import { findProject, type Project } from "../../store/cards/projects.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";
import { transaction } from "../../store/db/transaction.ts";
import { findOpenOperation } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { lookUntilDecided, type Look } from "../moves/look-at-card.ts";

export const RECHECK_BLOCKED = "recheck-blocked";

/** How long to wait for a move under way, and for reads that lag behind what was heard, in milliseconds. */
const PAUSE_MS = 500;
const LAG_PAUSE_MS = 5_000;

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

/** Asks for it where branches are there that cards start from or merge into, and some of them were refused for want of one. */
export async function recheckLacking(
  db: Db,
  branches: readonly { readonly repositoryId: string; readonly branchName: string }[],
): Promise<void> {
  for (const cardId of await listCardsLacking(db, branches)) await recheckSoon(db, cardId);
}

/** Asks for it where an account permits more than it did, of cards that were refused for want of a permission. */
export async function recheckForbidden(trx: Trx, organizationId: string): Promise<void> {
  for (const { cardId, at } of await listForbiddenCards(trx, organizationId))
    await permit(trx, cardId, at, 0);
}

/** Adds the job under a separate key, because `recheckSoon` would replace it and lose `permittedAfter`. */
const permit = (db: Db, cardId: string, permittedAfter: string, delayMs: number): Promise<void> =>
  addJob(
    db,
    RECHECK_BLOCKED,
    { cardId, permittedAfter },
    { key: `${RECHECK_BLOCKED}:permitted:${cardId}`, delayMs },
  );

/**
 * Clears what stood in a card's way once the forge shows that its cause is gone, and says so where it is another one now. With `permittedAfter`
 * more is permitted now than it was at that refusal.
 */
export async function recheckBlocked(
  deps: Deps,
  cardId: string,
  permittedAfter: string | null = null,
): Promise<void> {
  const later = (pauseMs: number): Promise<void> =>
    permittedAfter === null
      ? recheckSoon(deps.db, cardId, pauseMs)
      : permit(deps.db, cardId, permittedAfter, pauseMs);
  const moving = await findOpenOperation(deps.db, cardId);
  if (moving?.state === "running" && moving.isHeld) return later(PAUSE_MS);
  const card = await findCardById(deps.db, cardId);
  const project = card?.blocked && (await findProject(deps.db, card.workspaceId, card.projectId));
  if (!card?.blocked || !project) return;
  const { blocked } = card;
  const stage = stageOf(project.flow, blocked.statusId);
  // Nothing stands in the way of a stage that is not there any more.
  if (!stage) return changeBlocked(deps, cardId, blocked, []);
  const look = await lookUntilDecided(deps, { card, project, stage });
  if (look.plan.isBehind) return later(LAG_PAUSE_MS);
  const left = stillInTheWay(blocked, laterLook(blocked, project, look, permittedAfter === blocked.at));
  if (areSame(left, blocked.reasons)) return;
  await changeBlocked(deps, cardId, blocked, await nameConflicts(deps, look, left));
}

function laterLook(blocked: Blocked, { flow }: Project, look: Look, isPermitted: boolean): LaterLook {
  const facts = look.repositories.find(({ fullName }) => fullName === blocked.repository)?.facts;
  const shown = facts && !("reason" in facts) ? facts : undefined;
  return {
    plan: look.plan,
    headSha: shown?.headSha,
    isQueued: shown?.pullRequests.some(({ isInMergeQueue }) => isInMergeQueue) ?? false,
    mergeMethod: flow.mergeMethod,
    isPermitted,
  };
}

const told = (blocked: Blocked, reasons: readonly BlockedReason[]): Blocked | null => {
  const [first] = reasons;
  if (!first) return null;
  const { reason, message, repository } = first;
  return { ...blocked, reason, message, repository, reasons };
};

async function changeBlocked(
  deps: Deps,
  cardId: string,
  from: Blocked,
  left: readonly BlockedReason[],
): Promise<void> {
  await transaction(deps.db, async (trx) => {
    const current = await lockCard(trx, cardId);
    // Refused again meanwhile: that refusal is newer than what was looked at.
    if (current?.blocked?.at === from.at) await setBlocked(trx, cardId, told(from, left));
  });
}

/** Adds to the details of each conflict the files changed on both sides, as far as the forge tells. */
export const nameConflicts = (
  deps: Deps,
  look: Look,
  reasons: readonly BlockedReason[],
): Promise<BlockedReason[]> =>
  Promise.all(
    reasons.map(async (reason) =>
      reason.reason === "conflicts"
        ? { ...reason, details: { ...reason.details, ...(await filesIn(deps, look, reason.repository)) } }
        : reason,
    ),
  );

async function filesIn(
  deps: Deps,
  { links, repositories }: Look,
  fullName: string,
): Promise<{ files?: readonly string[] }> {
  const ref = links.find(({ repository }) => repository.fullName === fullName)?.repository.ref;
  const facts = repositories.find((repository) => repository.fullName === fullName)?.facts;
  if (!ref || !facts || "reason" in facts || facts.headSha === null) return {};
  const files = await deps.forge.changedOnBothSides(ref, facts.target.name, facts.headSha);
  return files.length === 0 ? {} : { files };
}
