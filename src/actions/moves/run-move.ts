import { setTimeout as sleep } from "node:timers/promises";
import { type BlockedReason, blockedReason, queueRejected } from "../../flow/refusal.ts";
import type { MergedWork, MoveStep } from "../../flow/move.ts";
import { isGateReason } from "../../flow/gates.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import { findIntent, recordAcceptedMerge, withdrawIntent } from "../../store/ops/intents.ts";
import { listPromotions, type RecordedMerge } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { addConflictingFiles } from "../reconcile/recheck-blocked.ts";
import { unavailable } from "../unavailable.ts";
import type { MoveAttempt, Transition } from "./start-move.ts";
import {
  inspectEarlierStages,
  inspectUntilDecided,
  inspectStoredTips,
  isInQueue,
  listOutOfQueue,
  type Inspection,
} from "./inspect-card.ts";
import { intentKey, recordEarlierEffects, recordMerged } from "./record-effects.ts";
import { mayEnter, NO_LONGER_PERMITTED } from "./may-enter.ts";
import { declareIntent, intentOf, runStep, type StepContext } from "./run-step.ts";

/** What the move has merged, and what was in the targets already. */
interface MergeReport {
  readonly promoted: readonly RecordedMerge[];
  readonly alreadyMerged: readonly MergedWork[];
}

export type MoveOutcome = MergeReport &
  (
    | { readonly state: "moved" }
    | {
        readonly state: "refused";
        readonly reasons: readonly BlockedReason[];
        readonly headSha: string | null;
      }
    | { readonly state: "queued"; readonly queued: readonly RecordedMerge[] }
  );

interface Context extends StepContext {
  readonly operation: MoveAttempt;
}
type MergeStep = Extract<MoveStep, { action: "merge" }>;
/** The result of one inspection and its plan. */
type RunResult = MoveOutcome | "inspect_again";

/** How long after its start a move waits for merges to finish, in milliseconds. */
const MERGE_WAIT_MS = 25_000;
/** The minimum wait for each merge. */
const LEAST_WAIT_MS = 3_000;
/** GitHub's reads may lag behind its writes, so a pull request just opened may not be shown yet. */
const MAX_INSPECTIONS = 5;

/**
 * Runs on GitHub what the stage requires and is not done yet: creates branches, opens pull requests
 * and marks them ready in every repository, then merges one by one with pinned heads. Throws
 * `unavailable` (503) when GitHub does not answer; a later attempt does what is left.
 */
export async function runMove(deps: Deps, transition: Transition, move: MoveAttempt): Promise<MoveOutcome> {
  try {
    return await inspectAndRun(deps, transition, move);
  } catch (error) {
    deps.metrics.moves.inc({ outcome: "unfinished" });
    if (!(error instanceof ForgeUnavailable)) throw error;
    throw unavailable(error, "the move");
  }
}

async function inspectAndRun(all: Deps, entered: Transition, move: MoveAttempt): Promise<MoveOutcome> {
  const deps: Deps = {
    ...all,
    forge: all.forge.withWriteGuard(() => mayEnter(all.db, move.actorId, entered)),
  };
  const transition: Transition = { ...entered, headShas: move.headShas, mover: move };
  const until = performance.now() + MERGE_WAIT_MS;
  const context: Context = { ...transition, actorId: move.actorId, operation: move };
  let inspection =
    (await inspectStoredTips(deps, transition)) ?? (await inspectUntilDecided(deps, transition));
  for (let count = 1; ; count++) {
    if (count === 1 || move.isResumed) await recordEarlierEffects(deps, context, inspection.repositories);
    const afterQueue = move.isResumed ? await endIfOutOfQueue(deps, context, inspection, count === 1) : null;
    const outcome = afterQueue ?? (await runPlan(deps, context, inspection, until));
    if (outcome !== "inspect_again") return outcome;
    if (count === MAX_INSPECTIONS) throw new ForgeUnavailable("GitHub does not show what was just changed");
    if (count > 1) await sleep(200 * 2 ** count);
    inspection = await inspectUntilDecided(deps, transition);
  }
}

/**
 * Ends a resumed move whose pull request has left the merge queue without being merged: no caller
 * has asked to queue it again. The move is refused if GitHub has reported the removal or if the
 * move is overdue, else it stays queued. Null if no pull request has left the queue.
 */
async function endIfOutOfQueue(
  deps: Deps,
  context: Context,
  inspection: Inspection,
  isFirstInspection: boolean,
): Promise<RunResult | null> {
  const left = await listOutOfQueue(deps, inspection);
  if (left.length === 0) return null;
  const removed = context.operation.isOverdue ? left : left.filter(({ reason }) => reason !== null);
  if (removed.length === 0) {
    const queued = [...left, ...inspection.plan.steps.filter((step) => step.action === "merge")];
    const distinct = new Map(queued.map((pull) => [pull.repositoryId, mergeOf(pull)]));
    return { state: "queued", queued: [...distinct.values()], ...(await report(deps, context, inspection)) };
  }
  // Without a reported reason it may have been merged and not be shown as merged yet.
  if (isFirstInspection && removed.some(({ reason }) => reason === null)) return "inspect_again";
  for (const pull of removed) await withdrawIntent(deps.db, intentKey(pull, "merge"), context.operation);
  const reasons = removed.map(({ fullName, reason }) =>
    blockedReason(fullName, queueRejected(reason ?? "unknown")),
  );
  return refuse(deps, context, inspection, reasons, removed[0]?.headSha);
}

/** Runs the plan of an inspection, as far as it can be run before the next inspection. */
async function runPlan(
  deps: Deps,
  context: Context,
  inspection: Inspection,
  until: number,
): Promise<RunResult> {
  const { plan } = inspection;
  if (plan.reasons.some(isGateReason)) return refuse(deps, context, inspection, plan.reasons);
  if (plan.reasons.length > 0) return runEarlierStages(deps, context, inspection);
  if (plan.isBehindWebhooks) return "inspect_again";
  const blocker = await runSteps(deps, context, inspection);
  if (blocker === "changed") return "inspect_again";
  if (blocker) return refuse(deps, context, inspection, [blocker]);
  if (plan.needsReplan) return "inspect_again";
  const merges = plan.steps.filter((step) => step.action === "merge");
  // GitHub may accept a merge that it will probably refuse, but not as one of several: the earlier
  // ones could not be undone.
  if (merges.length > 1 && plan.likelyRefusals.length > 0)
    return refuse(deps, context, inspection, plan.likelyRefusals);
  return mergeAll(deps, context, inspection, merges, until);
}

/** Refuses the card, but first runs the steps of the stages before this one. */
async function runEarlierStages(deps: Deps, context: Context, inspection: Inspection): Promise<RunResult> {
  const { reasons } = inspection.plan;
  const earlier = await inspectEarlierStages(deps, context, inspection);
  if (earlier === null) return refuse(deps, context, inspection, reasons);
  const blocker = await runSteps(deps, context, earlier);
  if (blocker === "changed") return "inspect_again";
  if (blocker) {
    const others = reasons.filter(({ repository }) => repository !== blocker.repository);
    return refuse(deps, context, inspection, [blocker, ...others]);
  }
  const links = await listLinks(deps.db, context.card.id);
  const heads = new Map(links.map((link) => [link.repository.id, link.headSha]));
  const created = earlier.plan.steps.filter((step) => step.action === "create_branch");
  // An earlier attempt created this branch and it has commits since, so the refusal may be wrong.
  if (created.some(({ repositoryId, fromSha }) => heads.get(repositoryId) !== fromSha))
    return "inspect_again";
  const first = created.find(({ fullName }) => fullName === reasons[0]?.repository);
  return refuse(deps, context, inspection, reasons, first?.fromSha);
}

/** Runs all steps except merges. Null when all are done. */
async function runSteps(
  deps: Deps,
  context: Context,
  inspection: Inspection,
): Promise<BlockedReason | "changed" | null> {
  for (const step of inspection.plan.steps) {
    if (step.action === "merge") continue;
    if (!(await mayEnter(deps.db, context.actorId, context)))
      return blockedReason(step.fullName, NO_LONGER_PERMITTED);
    const outcome = await runStep(deps, context, linkOf(inspection, step), step);
    if (outcome === "changed") return outcome;
    if (outcome) return blockedReason(step.fullName, outcome);
  }
  return null;
}

function linkOf({ links }: Inspection, step: MoveStep): Link {
  const link = links.find(({ repository }) => repository.id === step.repositoryId);
  if (!link) throw new Error("a step in a repository the card is not linked to");
  return link;
}

async function mergeAll(
  deps: Deps,
  context: Context,
  inspection: Inspection,
  merges: readonly MergeStep[],
  until: number,
): Promise<RunResult> {
  const queued: RecordedMerge[] = [];
  for (const step of merges) {
    const { ref } = linkOf(inspection, step).repository;
    if (!ref) throw new Error("a merge in a repository without an installation");
    const intent = intentOf(context, step.repositoryId, "merge", String(step.prNumber));
    const known = await findIntent(deps.db, intent);
    if (known?.queued && isInQueue(inspection, step)) {
      queued.push(mergeOf(step));
      continue;
    }
    if (!(await mayEnter(deps.db, context.actorId, context)))
      return refuse(deps, context, inspection, [blockedReason(step.fullName, NO_LONGER_PERMITTED)]);
    // It left the queue, and the caller asks to queue it again.
    if (known?.queued) await withdrawIntent(deps.db, intent, context.operation);
    await declareIntent(deps, context, intent);
    const order = {
      number: step.prNumber,
      headSha: step.headSha,
      method: context.project.flow.mergeMethod,
      targetBranch: targetToCheck(inspection, step),
      handle: known?.queued ? undefined : (known?.handle ?? undefined),
    };
    const merged = await deps.forge.merge(ref, order, Math.max(until - performance.now(), LEAST_WAIT_MS));
    if (!merged.ok) {
      await withdrawIntent(deps.db, intent, context.operation);
      const reasons = [blockedReason(step.fullName, merged.refusal)];
      return refuse(deps, context, inspection, reasons, step.headSha);
    }
    const { value } = merged;
    if (value.state === "retargeted" || value.state === "merged_outside") {
      await withdrawIntent(deps.db, intent, context.operation);
      return "inspect_again";
    }
    if (value.state === "merged") await recordMerged(deps, context, step, value.sha);
    else {
      await recordAcceptedMerge(deps.db, intent, {
        handle: value.handle,
        queued: value.state === "enqueued",
      });
      queued.push(mergeOf(step));
    }
  }
  const mergeReport = await report(deps, context, inspection);
  return queued.length > 0 ? { state: "queued", queued, ...mergeReport } : { state: "moved", ...mergeReport };
}

/** The target that the merge has to check, unless `mark_ready` has just returned it. */
function targetToCheck({ plan }: Inspection, { repositoryId, targetBranch }: MergeStep): string | undefined {
  const isMarked = plan.steps.some(
    (step) => step.action === "mark_ready" && step.repositoryId === repositoryId,
  );
  return isMarked ? undefined : targetBranch;
}

async function report(deps: Deps, { operation }: Context, { plan }: Inspection): Promise<MergeReport> {
  const promoted = await listPromotions(deps.db, operation.id);
  const isOurs = ({ fullName, targetBranch, prNumber }: MergedWork): boolean =>
    promoted.some(
      (ours) =>
        ours.fullName === fullName && ours.targetBranch === targetBranch && ours.prNumber === prNumber,
    );
  return { promoted, alreadyMerged: plan.mergedWork.filter((landed) => !isOurs(landed)) };
}

const mergeOf = ({ fullName, targetBranch, prNumber }: RecordedMerge): RecordedMerge => ({
  fullName,
  targetBranch,
  prNumber,
});

async function refuse(
  deps: Deps,
  context: Context,
  inspection: Inspection,
  reasons: readonly BlockedReason[],
  refusedSha?: string,
): Promise<MoveOutcome> {
  const state = inspection.repositories.find(({ fullName }) => fullName === reasons[0]?.repository);
  const headSha = refusedSha ?? (state && !("reason" in state.facts) ? state.facts.headSha : null);
  const named = await addConflictingFiles(deps, inspection, reasons);
  return { state: "refused", reasons: named, headSha, ...(await report(deps, context, inspection)) };
}
