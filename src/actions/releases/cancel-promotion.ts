import { conflict, notFound, type Problem } from "../../errors.ts";
import { stageOf, type Stage } from "../../flow/flow.ts";
import { findProject } from "../../store/cards/projects.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findAction, markCancelled, type ReleaseAction } from "../../store/releases/release-actions.ts";
import type { ChangedBy } from "../../store/events/feed.ts";
import { readPromotion, type PromotionOutcome } from "../../store/releases/release-promotions.ts";
import { findRelease } from "../../store/releases/releases.ts";
import { requireRoleFor } from "../moves/may-enter.ts";
import type { Write } from "../write.ts";
import { promotionInput } from "./promote-cards.ts";
import { resumeActionSoon } from "./release-action.ts";
import { recordRelease } from "./releases.ts";

export const noSuchOperation = (): Problem => notFound("There is no operation with this id on this board.");

/** An action on a release of the board. Throws `not_found`. */
export async function findReleaseAction(
  db: Db,
  { workspaceId }: { readonly workspaceId: string },
  { operationId }: { readonly operationId: string },
): Promise<ReleaseAction> {
  const action = await findAction(db, workspaceId, operationId);
  if (!action) throw noSuchOperation();
  return action;
}

/**
 * Cancels a promotion: a card that is being moved finishes, and the others are skipped. Returns 200
 * with the results so far. Throws `conflict` for another kind of action and for one that has ended.
 */
export async function cancelPromotion(write: Write, action: ReleaseAction): Promise<StoredResponse> {
  const stage = await findTargetStage(write.trx, action);
  if (stage) requireRoleFor(write, stage);
  return write.respond(await cancelAction(write.trx, write, action));
}

/** Cancels a promotion, also for the operator of the service, who needs no role on the board. */
export async function cancelAction(
  trx: Trx,
  by: ChangedBy,
  action: ReleaseAction,
): Promise<PromotionOutcome> {
  const { id: operationId, kind, workspaceId, releaseId } = action;
  if (kind !== "promote")
    throw conflict(`Only a promotion can be cancelled. The kind of this operation is ${kind}.`);
  const marked = await markCancelled(trx, action.id);
  if (!marked) throw conflict("The promotion has ended.");
  const release = await findRelease(trx, workspaceId, releaseId);
  if (marked.isNew && release) {
    const change = {
      from: { operationId, state: "running" },
      to: { operationId, state: "cancelled" },
    } as const;
    await recordRelease(trx, by, release, change);
  }
  // Without a process that runs the promotion, a job skips the remaining cards.
  await resumeActionSoon(trx, action);
  return readPromotion(trx, action.id);
}

/** The stage that a promotion moves its cards into; null if it or the release was deleted. */
async function findTargetStage(db: Db, action: ReleaseAction): Promise<Stage | null> {
  const input = promotionInput.safeParse(action.input);
  const release = input.success && (await findRelease(db, action.workspaceId, action.releaseId));
  const project = release && (await findProject(db, release.workspaceId, release.projectId));
  return (project && stageOf(project.flow, input.data?.statusId ?? "")) || null;
}
