import { blockedReason, type BlockedReason } from "../../flow/refusal.ts";
import { explainRefusal } from "../../flow/verification.ts";
import type { MoveStep } from "../../flow/move.ts";
import type { RecordedMerge } from "../../store/cards/moves.ts";
import { findIntent, recordAcceptedMerge, withdrawIntent } from "../../store/ops/intents.ts";
import type { Deps } from "../deps.ts";
import type { RunningMove } from "./start-move.ts";
import { isInQueue, linkOf, type Inspection } from "./inspect-card.ts";
import { recordMerged } from "./record-effects.ts";
import { mayEnter, NO_LONGER_PERMITTED } from "./may-enter.ts";
import { recordIntentOrThrow, intentOf, type StepContext } from "./run-step.ts";

export interface MoveContext extends StepContext {
  readonly operation: RunningMove;
  /** The repositories whose pull request this call has marked ready. */
  readonly marked: Set<string>;
}
type MergeStep = Extract<MoveStep, { action: "merge" }>;

/** The minimum wait for each merge, in milliseconds. */
export const LEAST_WAIT_MS = 3_000;

/** The result of running the merges of one decision. */
export type MergesResult =
  | { readonly state: "merged"; readonly queued: readonly RecordedMerge[] }
  | { readonly state: "refused"; readonly reason: BlockedReason; readonly headSha: string | null }
  | { readonly state: "inspect_again" };

/** Merges one repository after the other with pinned heads, until `until` (by `performance.now`). */
export async function runMerges(
  deps: Deps,
  context: MoveContext,
  inspection: Inspection,
  steps: readonly MoveStep[],
  until: number,
): Promise<MergesResult> {
  const queued: RecordedMerge[] = [];
  for (const [nth, step] of steps.filter((each) => each.action === "merge").entries()) {
    // The inspection after it was marked ready has shown the target; other merges may take long.
    const isJustRead = nth === 0 && context.marked.has(step.repositoryId);
    const result = await runMerge(deps, context, inspection, { ...step, isJustRead }, until);
    if (result === "queued") queued.push(mergeOf(step));
    else if (result !== "merged") return result;
  }
  return { state: "merged", queued };
}

async function runMerge(
  deps: Deps,
  context: MoveContext,
  inspection: Inspection,
  { isJustRead, ...step }: MergeStep & { readonly isJustRead: boolean },
  until: number,
): Promise<"merged" | "queued" | Exclude<MergesResult, { state: "merged" }>> {
  const { forgeRef } = linkOf(inspection, step).repository;
  if (!forgeRef) throw new Error("a merge in a repository without an installation");
  const intent = intentOf(context, step.repositoryId, "merge", String(step.prNumber));
  const known = await findIntent(deps.db, intent);
  if (known?.wasQueued && isInQueue(inspection, step)) return "queued";
  if (!(await mayEnter(deps.db, context.actorId, context)))
    return { state: "refused", reason: blockedReason(step.fullName, NO_LONGER_PERMITTED), headSha: null };
  // It left the queue, and the caller asks to queue it again.
  if (known?.wasQueued) await withdrawIntent(deps.db, intent, context.operation);
  await recordIntentOrThrow(deps, context, { ...intent, bypassed: step.bypassed });
  const order = {
    number: step.prNumber,
    headSha: step.headSha,
    method: context.project.flow.mergeMethod,
    targetBranch: isJustRead ? undefined : step.targetBranch,
    handle: known?.wasQueued ? undefined : (known?.handle ?? undefined),
  };
  const wait = Math.max(until - performance.now(), LEAST_WAIT_MS);
  const merged = await deps.forge.merge(forgeRef, order, wait);
  if (!merged.ok) {
    await withdrawIntent(deps.db, intent, context.operation);
    const state = inspection.question.repositories.find(
      ({ repositoryId }) => repositoryId === step.repositoryId,
    );
    const refusal = state ? explainRefusal(merged.refusal, context.project.flow, state) : merged.refusal;
    return { state: "refused", reason: blockedReason(step.fullName, refusal), headSha: step.headSha };
  }
  const { value } = merged;
  if (value.state === "retargeted" || value.state === "merged_outside") {
    await withdrawIntent(deps.db, intent, context.operation);
    return { state: "inspect_again" };
  }
  if (value.state === "merged") {
    await recordMerged(deps, context, step, value.sha);
    return "merged";
  }
  const { handle, state } = value;
  await recordAcceptedMerge(deps.db, intent, { handle, inMergeQueue: state === "enqueued" });
  return "queued";
}

export const mergeOf = ({ fullName, targetBranch, prNumber }: RecordedMerge): RecordedMerge => ({
  fullName,
  targetBranch,
  prNumber,
});
