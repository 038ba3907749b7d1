import type { Blocked, BlockedReason } from "../../flow/refusal.ts";
import { stageOf, type Stage } from "../../flow/flow.ts";
import { gateStillRefuses, isGateReason } from "../../flow/gates.ts";
import { areSameReasons, remainingReasons, type LaterInspection } from "../../flow/remaining-reasons.ts";
import { setBlocked } from "../../store/cards/blocked-cards.ts";
import { findCardById, lockCard, type CardHead } from "../../store/cards/cards.ts";
import { findProject, type Project } from "../../store/cards/projects.ts";
import type { Db } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { findOpenOperation } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { inspectGates } from "../moves/check-gates.ts";
import { inspectUntilDecided, type Inspection } from "../moves/inspect-card.ts";
import { recheckPermitted, recheckSoon } from "./recheck-soon.ts";

/** The pause before the next check of a card that is being moved, in milliseconds. */
const PAUSE_MS = 500;
/** The pause while GitHub's reads lag behind its webhooks. */
const LAG_PAUSE_MS = 5_000;

/**
 * Inspects a blocked card and removes the reasons that no longer hold. `permittedAfter` is the time
 * of a refusal for a permission that the account may have granted since.
 */
export async function recheckBlocked(
  deps: Deps,
  cardId: string,
  permittedAfter: string | null = null,
): Promise<void> {
  const later = (pauseMs: number): Promise<void> =>
    permittedAfter === null
      ? recheckSoon(deps.db, cardId, pauseMs)
      : recheckPermitted(deps.db, cardId, permittedAfter, pauseMs);
  const moving = await findOpenOperation(deps.db, cardId);
  if (moving?.state === "running" && moving.isHeld) return later(PAUSE_MS);
  const card = await findCardById(deps.db, cardId);
  const project = card?.blocked && (await findProject(deps.db, card.workspaceId, card.projectId));
  if (!card?.blocked || !project) return;
  const { blocked } = card;
  const stage = stageOf(project.flow, blocked.statusId);
  if (!stage) return changeBlocked(deps, cardId, blocked, []);
  const gated = await remainingGateReasons(deps.db, card, stage, blocked.reasons.filter(isGateReason));
  const others = blocked.reasons.filter((each) => !isGateReason(each));
  if (others.length === 0) {
    if (!areSameReasons(gated, blocked.reasons)) await changeBlocked(deps, cardId, blocked, gated);
    return;
  }
  const inspection = await inspectUntilDecided(deps, { card, project, stage });
  if (inspection.plan.isBehindWebhooks) return later(LAG_PAUSE_MS);
  const isPermitted = permittedAfter === blocked.at;
  const look = laterLook(blocked, project, inspection, isPermitted);
  const left = [...gated, ...remainingReasons({ ...blocked, reasons: others }, look)];
  if (areSameReasons(left, blocked.reasons)) return;
  await changeBlocked(deps, cardId, blocked, await addConflictingFiles(deps, inspection, left));
}

/** Asks only the database. */
async function remainingGateReasons(
  db: Db,
  card: CardHead,
  stage: Stage,
  reasons: readonly BlockedReason[],
): Promise<readonly BlockedReason[]> {
  if (reasons.length === 0) return reasons;
  const gates = await inspectGates(db, card, stage);
  return reasons.filter((each) => gateStillRefuses(each, gates));
}

function laterLook(
  blocked: Blocked,
  { flow }: Project,
  inspection: Inspection,
  isPermitted: boolean,
): LaterInspection {
  const shown = inspection.repositories.flatMap(({ fullName, facts }) =>
    !("reason" in facts) ? [{ fullName, ...facts }] : [],
  );
  const queued = shown.filter(({ pullRequests }) =>
    pullRequests.some(({ isInMergeQueue }) => isInMergeQueue),
  );
  return {
    plan: inspection.plan,
    headSha: shown.find(({ fullName }) => fullName === blocked.repository)?.headSha,
    queuedIn: queued.map(({ fullName }) => fullName),
    mergeMethod: flow.mergeMethod,
    isPermitted,
  };
}

async function changeBlocked(
  deps: Deps,
  cardId: string,
  from: Blocked,
  reasons: readonly BlockedReason[],
): Promise<void> {
  const [first] = reasons;
  await transaction(deps.db, async (trx) => {
    const current = await lockCard(trx, cardId);
    // A card that was refused again since is left alone: that refusal is newer than the inspection.
    if (current?.blocked?.at === from.at)
      await setBlocked(trx, cardId, first ? blockedBy(from, first, reasons) : null);
  });
}

const blockedBy = (
  from: Blocked,
  { reason, message, repository }: BlockedReason,
  reasons: readonly BlockedReason[],
): Blocked => ({ ...from, reason, message, repository, reasons });

/** Adds to each conflict the files changed on both sides, as far as GitHub reports them. */
export const addConflictingFiles = (
  deps: Deps,
  inspection: Inspection,
  reasons: readonly BlockedReason[],
): Promise<BlockedReason[]> =>
  Promise.all(
    reasons.map(async (reason) =>
      reason.reason === "conflicts"
        ? {
            ...reason,
            details: { ...reason.details, ...(await filesIn(deps, inspection, reason.repository)) },
          }
        : reason,
    ),
  );

async function filesIn(
  deps: Deps,
  { links, repositories }: Inspection,
  fullName: string,
): Promise<{ files?: readonly string[] }> {
  const ref = links.find(({ repository }) => repository.fullName === fullName)?.repository.ref;
  const facts = repositories.find((repository) => repository.fullName === fullName)?.facts;
  if (!ref || !facts || "reason" in facts || facts.headSha === null) return {};
  const files = await deps.forge.changedOnBothSides(ref, facts.target.name, facts.headSha);
  return files.length === 0 ? {} : { files };
}
