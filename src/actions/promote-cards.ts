import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { Problem } from "../errors.ts";
import { stageOf } from "../flow/flow.ts";
import { findCardById, type CardHead } from "../store/cards.ts";
import { findFinishedOperation } from "../store/operations.ts";
import { findProject } from "../store/projects.ts";
import { isActionOurs } from "../store/release-actions.ts";
import {
  nextPromotion,
  promotionRequestId,
  putOffPromotion,
  settlePromotion,
  type PendingPromotion,
  type PromotionEnd,
} from "../store/release-promotions.ts";
import type { Trx } from "../store/connect.ts";
import type { ReleaseHead } from "../store/releases.ts";
import { underWay, type RunningAction } from "./begin-release-action.ts";
import type { Deps } from "./deps.ts";
import type { Crossing } from "./look-at-card.ts";
import { AT_THE_END, cross } from "./move-card.ts";
import type { Mover } from "./settle-move.ts";

/** How often it is come back to a card that somebody else is moving, and the pause before. */
const MAX_TRIES = 5;
const PAUSE_MS = 1_000;

/** What a move answers, as far as it is told. */
const movedOf = z.object({
  task: z.object({ statusId: z.string() }),
  promoted: z.unknown(),
  alreadyMerged: z.unknown().optional(),
});

/**
 * Moves the cards of a promotion one by one until `until` (on `performance.now`), each once however often this is begun; true when none is left.
 * Throws `unavailable` when the forge cannot be reached.
 */
export async function promoteCards(
  deps: Deps,
  release: ReleaseHead,
  action: RunningAction,
  until: number,
): Promise<boolean> {
  const { statusId } = z.object({ statusId: z.string() }).parse(action.input);
  for (;;) {
    const next = await nextPromotion(deps.db, action.id);
    if (!next) return true;
    if (performance.now() >= until) return false;
    if (next.tries > 0) await sleep(PAUSE_MS);
    if (!(await isActionOurs(deps.db, action))) throw underWay(release, action);
    await promoteCard(deps, release, action, next, statusId);
  }
}

async function promoteCard(
  deps: Deps,
  release: ReleaseHead,
  action: RunningAction,
  next: PendingPromotion,
  statusId: string,
): Promise<void> {
  const settle = async (trx: Trx, end: PromotionEnd): Promise<void> => {
    if (!(await settlePromotion(trx, action, next.position, end))) throw underWay(release, action);
  };
  const mover: Mover<void> = {
    userId: action.actorId,
    requestId: promotionRequestId(action.id, next.position),
    keep: (trx, body, status) => settle(trx, endOfMove(body, status)),
    keepAtOnce: null,
  };
  const end = await crossOver(deps, mover, next, statusId);
  if (end === "busy") await putOffPromotion(deps.db, action.id, next.position);
  else if (end !== "kept") await deps.db.transaction((trx) => settle(trx, end));
}

function endOfMove(body: unknown, status: number): PromotionEnd {
  if (status === 202) return { state: "queued", detail: {} };
  const { task, promoted, alreadyMerged } = movedOf.parse(body);
  return { state: "promoted", detail: { statusId: task.statusId, promoted, alreadyMerged } };
}

const skipped = (reason: string): PromotionEnd => ({ state: "skipped", detail: { reason } });

async function crossOver(
  deps: Deps,
  mover: Mover<void>,
  next: PendingPromotion,
  statusId: string,
): Promise<PromotionEnd | "kept" | "busy"> {
  const card = await findCardById(deps.db, next.cardId);
  if (!card) return skipped("deleted");
  const { id: cardId } = card;
  const request = { cardId, stageId: statusId, requestId: mover.requestId };
  // Moved by an earlier try of ours, or by whoever went on with what that left.
  const finished = await findFinishedOperation(deps.db, request);
  if (finished) return endOfMove(finished.result, 200);
  if (card.stageId === statusId) return skipped("already_there");
  const crossing = await crossingOf(deps, card, statusId);
  if (!crossing) return skipped("stage_removed");
  try {
    const crossed = await cross(deps, mover, crossing, AT_THE_END);
    if ("kept" in crossed) return "kept";
    const { blocked, ...merges } = crossed.refused;
    const { repository, reason, message } = blocked;
    return { state: "refused", detail: { repository, reason, message, ...merges } };
  } catch (error) {
    if (!(error instanceof Problem) || error.kind === "unavailable") throw error;
    if (error.kind === "not_found") return skipped("deleted");
    if (error.kind !== "busy") throw error;
    return next.tries + 1 < MAX_TRIES ? "busy" : skipped("being_moved");
  }
}

async function crossingOf(deps: Deps, card: CardHead, statusId: string): Promise<Crossing | null> {
  const project = await findProject(deps.db, card.workspaceId, card.projectId);
  const stage = project && stageOf(project.flow, statusId);
  return project && stage ? { card, project, stage } : null;
}
