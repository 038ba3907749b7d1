import { blockedReason } from "../../flow/refusal.ts";
import { stageOf } from "../../flow/flow.ts";
import { findCardById } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import { findOpenMove, listRecordedMerges } from "../../store/cards/moves.ts";
import { findProject } from "../../store/cards/projects.ts";
import { JOBS, schedule, type PayloadOf } from "../../store/jobs.ts";
import { findIntent, findRepositoryOfPendingIntent } from "../../store/ops/intents.ts";
import { finishOperation, type MoveOperation } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { resume } from "../lease.ts";
import type { RunningMove, Transition } from "./start-move.ts";
import type { MoveOutcome } from "./move-outcome.ts";
import { intentKey } from "./record-effects.ts";
import { finishMove, runToEnd, type StoredOutcome } from "./finish-move.ts";

/** The pause before the next check of a move that a call is running, in milliseconds. */
const RUNNING_PAUSE_MS = 500;
/** The pauses before further checks of a pull request that GitHub has removed from its queue. */
const REMOVED_PAUSES_MS = [1_000, 4_000, 16_000];

/**
 * Resumes a card's move after a webhook of GitHub's merge queue. It inspects GitHub, so it can run
 * late and more than once.
 */
export async function resumeQueuedMove(deps: Deps, pull: PayloadOf<"resumeQueuedMove">): Promise<void> {
  const { inspections = 0 } = pull;
  const queued = await findOpenMove(deps.db, pull.cardId);
  if (!queued) return;
  if (!isRunning(queued)) await resumeMove(deps, queued, { isOverdue: false });
  const operation = await findOpenMove(deps.db, pull.cardId);
  if (!operation) return;
  // The webhook came before the call that queued the pull request has stored that.
  if (isRunning(operation))
    return schedule(deps.db, JOBS.resumeQueuedMove, pull, { delayMs: RUNNING_PAUSE_MS });
  // GitHub may still show a removed pull request in its queue, or it was queued again.
  const pauseMs = REMOVED_PAUSES_MS[inspections];
  const intent = await findIntent(deps.db, intentKey(pull, "merge"));
  if (pauseMs === undefined || !intent?.queueRemovalReason) return;
  const next = { ...pull, inspections: inspections + 1 };
  await schedule(deps.db, JOBS.resumeQueuedMove, next, { delayMs: pauseMs });
}

const isRunning = ({ state, hasLiveOwner }: MoveOperation): boolean => state === "running" && hasLiveOwner;

/** Takes over a move that no process runs, and runs what is left of it. */
export async function resumeMove(
  deps: Deps,
  operation: MoveOperation,
  { isOverdue }: { readonly isOverdue: boolean },
): Promise<void> {
  const transition = await transitionOf(deps, operation);
  if (!transition) {
    await finishOperation(deps.db, operation, "abandoned");
    return;
  }
  const moveOf = ({ id, generation, actorId, isHuman, input, isArmed }: MoveOperation): RunningMove => ({
    id,
    generation,
    actorId,
    isHuman,
    ...input,
    isArmed,
    isResumed: true,
    isOverdue,
  });
  await resume(deps, operation, {
    run: (own, owned) => runUnattended(own, transition, moveOf(owned)),
    abandon: (owned, why) => abandonAsRefused(deps, transition, moveOf(owned), why),
  });
}

/** Runs a move to its end without a caller, so no response is stored. Returns the state of its outcome. */
export const runUnattended = (
  deps: Deps,
  transition: Transition,
  move: RunningMove,
): Promise<StoredOutcome["state"]> =>
  runToEnd(deps, { transition, move }, (_, { state }) => Promise.resolve(state));

/** Abandons a move and blocks its card with the reason, or only abandons it if that fails. */
async function abandonAsRefused(
  deps: Deps,
  transition: Transition,
  move: RunningMove,
  why: string,
): Promise<void> {
  const { card } = transition;
  try {
    const links = await listLinks(deps.db, card.id);
    const pendingRepositoryId = await findRepositoryOfPendingIntent(deps.db, card.id);
    const link = links.find(({ repository }) => repository.id === pendingRepositoryId) ?? links[0];
    const refusal = {
      reason: "unknown",
      message: `${why} Its finished steps stay. Move the card again to continue.`,
      details: { attempts: move.generation },
    } as const;
    const outcome: MoveOutcome = {
      state: "refused",
      reasons: [blockedReason(link?.repository.fullName ?? "", refusal)],
      headSha: link?.headSha ?? null,
      endsInMs: null,
      promoted: await listRecordedMerges(deps.db, move.id),
      alreadyMerged: [],
    };
    await finishMove(deps, transition, move, outcome, () => Promise.resolve());
  } catch (error) {
    deps.log.error({ err: error, operation: move.id }, "a card could not be blocked for its abandoned move");
    await finishOperation(deps.db, move, "abandoned");
  }
}

/** The card and the stage of a move; null when either was deleted. */
async function transitionOf(deps: Deps, operation: MoveOperation): Promise<Transition | null> {
  const card = await findCardById(deps.db, operation.cardId);
  const project = card && (await findProject(deps.db, card.workspaceId, card.projectId));
  const stage = project && stageOf(project.flow, operation.stageId);
  return card && project && stage ? { card, project, stage } : null;
}
