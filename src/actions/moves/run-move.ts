import { setTimeout as sleep } from "node:timers/promises";
import { nothingPushedYet } from "../../flow/branch-refusals.ts";
import { finalOf, lacksPullRequest, type Refuse, type Wait } from "../../flow/decide.ts";
import { type BlockedReason, blockedReason, isRefusal, queueRejected } from "../../flow/refusal.ts";
import { planMove, type MergedWork, type MoveStep } from "../../flow/move.ts";
import { workByRepository } from "../../flow/readiness.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { findArmed } from "../../store/cards/armed-moves.ts";
import { listLinks } from "../../store/cards/links.ts";
import { withdrawIntent } from "../../store/ops/intents.ts";
import { listRecordedMerges } from "../../store/cards/moves.ts";
import type { Deps } from "../deps.ts";
import { addConflictingFiles } from "./conflicting-files.ts";
import { unavailable } from "../unavailable.ts";
import { checkGates } from "./check-gates.ts";
import type { RunningMove, Transition } from "./start-move.ts";
import {
  inspectUntilDecided,
  linkOf,
  listOutOfQueue,
  planFromStoredTips,
  type Inspection,
} from "./inspect-card.ts";
import { intentKey, recordEarlierEffects } from "./record-effects.ts";
import { mayEnter, NO_LONGER_PERMITTED } from "./may-enter.ts";
import type { MoveMerges, MoveOutcome } from "./move-outcome.ts";
import { mergeOf, runMerges, type MergesResult, type MoveContext } from "./run-merges.ts";
import { runStep } from "./run-step.ts";

/** The result of acting on one decision. */
type RunResult = MoveOutcome | "inspect_again" | "wait_for_checks";

/** How long after its start a move waits for merges to finish, in milliseconds. */
const MERGE_WAIT_MS = 25_000;
/** The first pause while checks start that marking a pull request ready has caused; it doubles. */
const CHECKS_PAUSE_MS = 1_500;
/** GitHub's reads may lag behind its writes, so a pull request just opened may not be shown yet. */
const MAX_INSPECTIONS = 5;

/**
 * Runs on GitHub what the stage requires and is not done yet: creates branches, opens pull requests
 * and marks them ready in every repository, then merges one by one with pinned heads. Throws
 * `unavailable` (503) when GitHub does not respond; a later attempt does what is left.
 */
export async function runMove(deps: Deps, transition: Transition, move: RunningMove): Promise<MoveOutcome> {
  try {
    return await inspectAndRun(deps, transition, move);
  } catch (error) {
    deps.metrics.moves.inc({ outcome: "unfinished" });
    if (!(error instanceof ForgeUnavailable)) throw error;
    throw unavailable(error, "the move");
  }
}

async function inspectAndRun(
  unguarded: Deps,
  { card, project, stage }: Transition,
  move: RunningMove,
): Promise<MoveOutcome> {
  const { headShas } = move;
  const waiting = await waitingOf(unguarded, { card, stage }, move);
  // A move that was started elsewhere is not trusted to have passed the gates.
  const entryReasons = move.isResumed ? await checkGates(unguarded.db, { card, stage }, move) : [];
  const transition: Transition = { card, project, stage, headShas, mover: move, waiting, entryReasons };
  const isPermitted = (): Promise<boolean> => mayEnter(unguarded.db, move.actorId, transition);
  const deps: Deps = { ...unguarded, forge: unguarded.forge.with({ mayWrite: isPermitted }) };
  const until = performance.now() + MERGE_WAIT_MS;
  const context: MoveContext = { ...transition, actorId: move.actorId, operation: move, marked: new Set() };
  let inspection =
    (await planFromStoredTips(deps, transition)) ?? (await inspectUntilDecided(deps, transition));
  let pause = CHECKS_PAUSE_MS;
  for (let count = 1; ;) {
    const { repositories } = inspection.question;
    if (count === 1 || move.isResumed) await recordEarlierEffects(deps, context, repositories);
    const afterQueue = move.isResumed ? await endIfOutOfQueue(deps, context, inspection, count === 1) : null;
    const outcome = afterQueue ?? (await act(deps, context, inspection, { until, pause }));
    if (outcome === "wait_for_checks") {
      await sleep(pause);
      pause *= 2;
    } else if (outcome === "inspect_again") {
      if (count === MAX_INSPECTIONS) throw new ForgeUnavailable("GitHub does not show what was just changed");
      if (count > 1) await sleep(200 * 2 ** count);
      count++;
    } else return outcome;
    inspection = await inspectUntilDecided(deps, transition);
  }
}

/** What the move was armed with if it may wait, which only merges do. */
async function waitingOf(
  { db }: Deps,
  { card, stage }: Pick<Transition, "card" | "stage">,
  { whenReady, isArmed }: RunningMove,
): Promise<Transition["waiting"]> {
  if (whenReady === null || stage.rule.type !== "merge") return undefined;
  const armed = isArmed ? await findArmed(db, card.id) : null;
  return { armedWith: armed?.armedWith ?? null, onFailingChecks: whenReady.onFailingChecks };
}

/**
 * Ends a resumed move whose pull request has left the merge queue without being merged: no caller
 * has asked to queue it again. The move is refused if GitHub has reported the removal or if the
 * move is overdue, else it stays queued. Null if no pull request has left the queue.
 */
async function endIfOutOfQueue(
  deps: Deps,
  context: MoveContext,
  inspection: Inspection,
  isFirstInspection: boolean,
): Promise<RunResult | null> {
  const left = await listOutOfQueue(deps, inspection);
  if (left.length === 0) return null;
  const removed = context.operation.isOverdue ? left : left.filter(({ reason }) => reason !== null);
  if (removed.length === 0) {
    const { steps } = planMove(inspection.question);
    const queued = [...left, ...steps.filter((step) => step.action === "merge")];
    const distinct = new Map(queued.map((pull) => [pull.repositoryId, mergeOf(pull)]));
    return {
      state: "queued",
      queued: [...distinct.values()],
      ...(await listMerges(deps, context, inspection)),
    };
  }
  // Without a reported reason it may have been merged and not be shown as merged yet.
  if (isFirstInspection && removed.some(({ reason }) => reason === null)) return "inspect_again";
  for (const pull of removed) await withdrawIntent(deps.db, intentKey(pull, "merge"), context.operation);
  const reasons = removed.map(({ fullName, reason }) =>
    blockedReason(fullName, queueRejected(reason ?? "unknown")),
  );
  return refuse(deps, context, inspection, reasons, { headSha: removed[0]?.headSha });
}

/** By `performance.now`, in milliseconds. */
interface Times {
  /** When the call has to end. */
  readonly until: number;
  /** The pause before the next inspection if checks have to start or finish. */
  readonly pause: number;
}

/** Does what the decision says, as far as it can be done before the next inspection. */
async function act(
  deps: Deps,
  context: MoveContext,
  inspection: Inspection,
  { until, pause }: Times,
): Promise<RunResult> {
  const { decision } = inspection;
  const final = finalOf(decision);
  const isRefusedOrWaits = final.state === "refuse" || final.state === "wait";
  if (lacksPullRequest(decision) && !isRefusedOrWaits) return "inspect_again";
  switch (final.state) {
    case "wait": {
      if (final.steps.length === 0) return wait(deps, context, inspection, final);
      const blocker = await runSteps(deps, context, inspection, final.steps);
      return blocker && blocker !== "changed"
        ? refuse(deps, context, inspection, [blocker])
        : "inspect_again";
    }
    case "disarm":
      // The inspection that follows disarms it.
      return wait(deps, context, inspection, { waitingFor: [], endsInMs: 0 });
    case "refuse":
      return hasToAwaitChecks(context, final) && performance.now() + pause < until
        ? "wait_for_checks"
        : runAndRefuse(deps, context, inspection, final);
    case "run": {
      const blocker = await runSteps(deps, context, inspection, final.steps);
      if (blocker === "changed" || (!blocker && final.isDecidedAgain)) return "inspect_again";
      if (blocker) return refuse(deps, context, inspection, [blocker]);
      return endMerges(
        deps,
        context,
        inspection,
        await runMerges(deps, context, inspection, final.steps, until),
      );
    }
  }
}

/** Whether only checks are missing, which marking a pull request ready in this call may have started. */
const hasToAwaitChecks = ({ marked }: MoveContext, { reasons }: Refuse): boolean =>
  marked.size > 0 && reasons.every(({ reason }) => reason === "checks_pending");

async function endMerges(
  deps: Deps,
  context: MoveContext,
  inspection: Inspection,
  result: MergesResult,
): Promise<RunResult> {
  if (result.state === "inspect_again") return result.state;
  if (result.state === "refused")
    return refuse(deps, context, inspection, [result.reason], { headSha: result.headSha ?? undefined });
  const { queued } = result;
  const listed = await listMerges(deps, context, inspection);
  return queued.length > 0 ? { state: "queued", queued, ...listed } : { state: "moved", ...listed };
}

async function wait(
  deps: Deps,
  context: MoveContext,
  inspection: Inspection,
  { waitingFor, endsInMs }: Pick<Wait, "waitingFor" | "endsInMs">,
): Promise<MoveOutcome> {
  const armedWith = workByRepository(inspection.question.repositories);
  const merges = await listMerges(deps, context, inspection);
  return { state: "waiting", waitingFor, endsInMs, armedWith, ...merges };
}

/** Refuses the card, but first runs the steps that the refusal leaves. */
async function runAndRefuse(
  deps: Deps,
  context: MoveContext,
  inspection: Inspection,
  { reasons, steps, endsInMs }: Refuse,
): Promise<RunResult> {
  if (steps.length === 0) return refuse(deps, context, inspection, reasons, { endsInMs });
  const blocker = await runSteps(deps, context, inspection, steps);
  if (blocker === "changed") return "inspect_again";
  if (blocker) {
    const others = reasons.filter(({ repository }) => repository !== blocker.repository);
    return refuse(deps, context, inspection, [blocker, ...others]);
  }
  const links = await listLinks(deps.db, context.card.id);
  const heads = new Map(links.map((link) => [link.repository.id, link.headSha]));
  const created = steps.filter((step) => step.action === "create_branch");
  // An earlier attempt created this branch and it has commits since, so the refusal may be wrong.
  if (created.some(({ repositoryId, fromSha }) => heads.get(repositoryId) !== fromSha))
    return "inspect_again";
  // The reasons were found before the branches were created.
  const newReasons = reasons.map((each) => {
    const step = created.find(({ fullName }) => fullName === each.repository);
    const branchName = links.find(({ repository }) => repository.id === step?.repositoryId)?.branchName;
    return branchName ? blockedReason(each.repository, nothingPushedYet(each.repository, branchName)) : each;
  });
  const first = created.find(({ fullName }) => fullName === reasons[0]?.repository);
  return refuse(deps, context, inspection, newReasons, { headSha: first?.fromSha });
}

/** Runs all steps except merges. Null when all are done. */
async function runSteps(
  deps: Deps,
  context: MoveContext,
  inspection: Inspection,
  steps: readonly MoveStep[],
): Promise<BlockedReason | "changed" | null> {
  for (const step of steps) {
    const isMarking = step.action === "mark_ready";
    // GitHub may not show yet that it is marked.
    if (step.action === "merge" || (isMarking && context.marked.has(step.repositoryId))) continue;
    if (!(await mayEnter(deps.db, context.actorId, context)))
      return blockedReason(step.fullName, NO_LONGER_PERMITTED);
    const outcome = await runStep(deps, context, linkOf(inspection, step), step);
    if (outcome === "changed") return outcome;
    if (outcome) return blockedReason(step.fullName, outcome);
    if (isMarking) context.marked.add(step.repositoryId);
  }
  return null;
}

async function listMerges(
  deps: Deps,
  { operation }: MoveContext,
  { decision }: Inspection,
): Promise<MoveMerges> {
  const promoted = await listRecordedMerges(deps.db, operation.id);
  const isOurs = ({ fullName, targetBranch, prNumber }: MergedWork): boolean =>
    promoted.some(
      (ours) =>
        ours.fullName === fullName && ours.targetBranch === targetBranch && ours.prNumber === prNumber,
    );
  return { promoted, alreadyMerged: finalOf(decision).mergedWork.filter((merge) => !isOurs(merge)) };
}

async function refuse(
  deps: Deps,
  context: MoveContext,
  inspection: Inspection,
  reasons: readonly BlockedReason[],
  {
    headSha: refusedSha,
    endsInMs = null,
  }: { readonly headSha?: string | undefined; readonly endsInMs?: number | null } = {},
): Promise<MoveOutcome> {
  const state = inspection.question.repositories.find(({ fullName }) => fullName === reasons[0]?.repository);
  const headSha = refusedSha ?? (state && !isRefusal(state.facts) ? state.facts.headSha : null);
  const named = await addConflictingFiles(deps, inspection, reasons);
  return {
    state: "refused",
    reasons: named,
    headSha,
    endsInMs,
    ...(await listMerges(deps, context, inspection)),
  };
}
