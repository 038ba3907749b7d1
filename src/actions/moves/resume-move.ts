import { Problem } from "../../errors.ts";
import { blockedReason } from "../../flow/refusal.ts";
import { stageOf } from "../../flow/flow.ts";
import { findCardById } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
import { JOBS, schedule, type PayloadOf } from "../../store/jobs.ts";
import { findIntent, findRepositoryOfPendingIntent } from "../../store/ops/intents.ts";
import {
  countFailure,
  findOpenOperation,
  listRecordedMerges,
  listOrphanedOperations,
  finishOperation,
  takeOverOperation,
  type Operation,
} from "../../store/ops/operations.ts";
import { continueAttempt } from "../attempt.ts";
import type { Deps } from "../deps.ts";
import { runOrFreeMove, type RunningMove, type Transition } from "./start-move.ts";
import type { MoveOutcome } from "./move-outcome.ts";
import { runMove } from "./run-move.ts";
import { intentKey } from "./record-effects.ts";
import { finishMove } from "./finish-move.ts";

/** The pause before the next check of a move that a call is running, in milliseconds. */
const RUNNING_PAUSE_MS = 500;
/** The pauses before further checks of a pull request that GitHub has removed from its queue. */
const REMOVED_PAUSES_MS = [1_000, 4_000, 16_000];

/** How many unexpected errors abandon a move. */
const MAX_FAILURES = 8;
/** After so many crashes in a row a move or action is abandoned and a delivery parked. */
export const MAX_CRASHES = 5;

/** How many moves one sweep resumes. */
const BATCH = 20;

/**
 * Resumes the moves of a board that no process runs, because their process died or GitHub could not
 * be reached, and those whose merge GitHub accepted five minutes ago.
 */
export async function resumeOrphanedMoves(deps: Deps, boardId: string): Promise<void> {
  for (const operation of await listOrphanedOperations(deps.db, boardId, BATCH)) {
    await resumeMove(deps, operation, { isOverdue: operation.state === "queued" });
  }
}

/**
 * Resumes a card's move after a webhook of GitHub's merge queue. It inspects GitHub, so it can run
 * late and more than once.
 */
export async function resumeQueuedMove(deps: Deps, pull: PayloadOf<"resumeQueuedMove">): Promise<void> {
  const { inspections = 0 } = pull;
  const queued = await findOpenOperation(deps.db, pull.cardId);
  if (!queued) return;
  if (!isRunning(queued)) await resumeMove(deps, queued, { isOverdue: false });
  const operation = await findOpenOperation(deps.db, pull.cardId);
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

const isRunning = ({ state, hasLiveOwner }: Operation): boolean => state === "running" && hasLiveOwner;

async function resumeMove(
  deps: Deps,
  operation: Operation,
  { isOverdue }: { readonly isOverdue: boolean },
): Promise<void> {
  const { id, actorId, isHuman, index, headShas, whenReady } = operation;
  const log = deps.log.child({ operation: id, cardId: operation.cardId });
  const transition = await transitionOf(deps, operation);
  if (!transition) {
    await finishOperation(deps.db, operation, "abandoned");
    return;
  }
  const taken = await takeOverOperation(deps.db, operation, { holder: deps.instanceId, requestId: null });
  if (!taken) return;
  const { generation, crashes } = taken;
  const by = { actorId, isHuman, index, headShas, whenReady };
  const move = { ...by, id, generation, isResumed: true, isOverdue };
  if (crashes >= MAX_CRASHES) {
    const why = `The service ended ${crashes} times in a row while it ran this move.`;
    await abandonAsRefused(deps, transition, move, why);
    log.error({ generation, crashes, isAbandoned: true }, "abandoned a move after repeated crashes");
    return;
  }
  try {
    const state = await continueAttempt(deps, operation.attemptId, (own) =>
      runUnattended(own, transition, move),
    );
    log.info({ outcome: state }, "finished an unfinished move");
  } catch (error) {
    if (error instanceof Problem) {
      log.warn({ kind: error.kind, reason: error.message }, "a move is still unfinished");
      return;
    }
    // Failures are limited and do not stop the sweep. None is counted while the database is down.
    const failures = await countFailure(deps.db, move).catch(() => null);
    const isAbandoned = failures !== null && failures >= MAX_FAILURES;
    log.error({ err: error, generation, failures, isAbandoned }, "resuming a move failed");
    const why = "This move failed repeatedly with an internal error.";
    if (isAbandoned) await abandonAsRefused(deps, transition, move, why);
  }
}

/** Runs a move of this process to its end without a caller. Returns the state of its outcome. */
export const runUnattended = (
  deps: Deps,
  transition: Transition,
  move: RunningMove,
): Promise<MoveOutcome["state"]> =>
  runOrFreeMove(deps, move, async () => {
    const outcome = await runMove(deps, transition, move);
    await finishMove(deps, transition, move, outcome, storeNothing);
    return outcome.state;
  });

/** No caller waits for the response, so none is stored. */
const storeNothing = (): Promise<void> => Promise.resolve();

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
      promoted: await listRecordedMerges(deps.db, move.id),
      alreadyMerged: [],
    };
    await finishMove(deps, transition, move, outcome, storeNothing);
  } catch (error) {
    deps.log.error({ err: error, operation: move.id }, "a card could not be blocked for its abandoned move");
    await finishOperation(deps.db, move, "abandoned");
  }
}

/** The card and the stage of a move; null when either was deleted. */
async function transitionOf(deps: Deps, operation: Operation): Promise<Transition | null> {
  const card = await findCardById(deps.db, operation.cardId);
  const project = card && (await findProject(deps.db, card.workspaceId, card.projectId));
  const stage = project && stageOf(project.flow, operation.stageId);
  return card && project && stage ? { card, project, stage } : null;
}
