import { conflict, notFound, type Problem } from "../../errors.ts";
import { stageOf, type Stage } from "../../flow/flow.ts";
import { findProject } from "../../store/cards/projects.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findOperation, type ReleaseOperation } from "../../store/ops/operations.ts";
import { markCancelled } from "../../store/releases/release-operations.ts";
import type { ChangedBy } from "../../store/events/feed.ts";
import { readPromotion, type PromotionOutcome } from "../../store/releases/release-promotions.ts";
import { findRelease } from "../../store/releases/releases.ts";
import { requireRoleFor } from "../moves/may-enter.ts";
import { resumeSoon } from "../lease.ts";
import type { Write } from "../write.ts";
import { promotionInput } from "./promote-cards.ts";
import { recordRelease } from "./releases.ts";

export const noSuchOperation = (): Problem => notFound("There is no operation with this id on this board.");

/** An operation on a release of the board. Throws `not_found`. */
export async function findReleaseOperation(
  db: Db,
  { workspaceId }: { readonly workspaceId: string },
  { operationId }: { readonly operationId: string },
): Promise<ReleaseOperation> {
  const operation = await findOperation(db, workspaceId, operationId);
  if (!operation || operation.kind === "move") throw noSuchOperation();
  return operation;
}

/**
 * Cancels a promotion: a card that is being moved finishes, and the others are skipped. Returns 200
 * with the results so far. Throws `conflict` for another kind of operation and for one that has ended.
 */
export async function cancelPromotion(write: Write, operation: ReleaseOperation): Promise<StoredResponse> {
  const stage = await findTargetStage(write.trx, operation);
  if (stage) requireRoleFor(write, stage);
  return write.respond(await cancelOperation(write.trx, write, operation));
}

/** Cancels a promotion, also for the operator of the service, who needs no role on the board. */
export async function cancelOperation(
  trx: Trx,
  by: ChangedBy,
  operation: ReleaseOperation,
): Promise<PromotionOutcome> {
  const { id: operationId, kind, workspaceId, releaseId } = operation;
  if (kind !== "promote")
    throw conflict(`Only a promotion can be cancelled. The kind of this operation is ${kind}.`);
  const marked = await markCancelled(trx, operation.id);
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
  await resumeSoon(trx, operation);
  return readPromotion(trx, operation.id);
}

/** The stage that a promotion moves its cards into; null if it or the release was deleted. */
async function findTargetStage(db: Db, operation: ReleaseOperation): Promise<Stage | null> {
  const input = promotionInput.safeParse(operation.input);
  const release = input.success && (await findRelease(db, operation.workspaceId, operation.releaseId));
  const project = release && (await findProject(db, release.workspaceId, release.projectId));
  return (project && stageOf(project.flow, input.data?.statusId ?? "")) || null;
}
