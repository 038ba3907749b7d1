import { Problem } from "../../errors.ts";
import { blockedReason } from "../../flow/refusal.ts";
import { stageOf } from "../../flow/flow.ts";
import { findCardById } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";
import { findIntent, findUndone } from "../../store/ops/intents.ts";
import {
  countFailure,
  findOpenOperation,
  listPromotions,
  listOrphanedOperations,
  settleOperation,
  takeOver,
  type Operation,
} from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { orReleaseMove, type HeldMove } from "./begin-move.ts";
import { carryOutMove, type MoveOutcome } from "./carry-out-move.ts";
import type { Transition } from "./transition.ts";
import { intentKey } from "./transition.ts";
import { settleMove } from "./settle-move.ts";

export const RESUME_ORPHANED_MOVES = "resume-orphaned-moves";
export const RESUME_QUEUED_MOVE = "resume-queued-move";

/** How long to wait for a call under way before looking again, in milliseconds. */
const RETRY_MS = 500;
/** The pauses before it is looked again for what the queue said it threw out, in milliseconds. */
const LOOK_AGAIN_MS = [1_000, 4_000, 16_000];

/** How often a move may fail for a reason of our own before it is given up. */
const MAX_FAILURES = 8;
/** How many processes in a row may die while they hold something that gets no further, before it is given up. */
export const MAX_DEATHS = 5;

/** No caller waits for the answer, so nothing is stored of it. */
const storeNothing = (): Promise<void> => Promise.resolve();

/** How many moves one sweep goes on with. */
const BATCH = 20;

/** Goes on with the moves nobody is at work on: those of a dead process, and those the forge could not be reached for. */
export async function resumeOrphanedMoves(deps: Deps): Promise<void> {
  for (const operation of await listOrphanedOperations(deps.db, BATCH)) {
    await resumeMove(deps, operation, operation.state === "queued");
  }
}

/** A card's pull request of which the forge's merge queue has told something. */
export interface QueuedPull {
  readonly cardId: string;
  readonly repositoryId: string;
  readonly prNumber: number;
  /** How often it was looked at since, and still shown in the queue that had told of throwing it out. */
  readonly looks?: number | undefined;
}

/**
 * Goes on with the move of a card of which the forge's merge queue has told something. What that has come to is looked up, so that it makes no
 * difference how late it is done, or how often.
 */
export async function resumeQueuedMove(deps: Deps, pull: QueuedPull): Promise<void> {
  const told = await findOpenOperation(deps.db, pull.cardId);
  if (!told) return;
  if (!isAtWork(told)) await resumeMove(deps, told, false);
  const operation = await findOpenOperation(deps.db, pull.cardId);
  if (!operation) return;
  // The queue was quicker than the call that asked for it: that one is about to say that it waits.
  if (isAtWork(operation)) await resumeQueuedSoon(deps.db, pull, RETRY_MS);
  else await lookAgain(deps, pull);
}

const isAtWork = ({ state, isHeld }: Operation): boolean => state === "running" && isHeld;

/** What the queue has thrown out and is still shown in it was put there again, or the forge's reads lag behind its words. */
async function lookAgain(deps: Deps, pull: QueuedPull): Promise<void> {
  const { looks = 0 } = pull;
  const pause = LOOK_AGAIN_MS[looks];
  const intent = await findIntent(deps.db, intentKey(pull, "merge"));
  if (pause === undefined || !intent?.thrownOut) return;
  await resumeQueuedSoon(deps.db, { ...pull, looks: looks + 1 }, pause);
}

/** Asks for the queued move of a card to be gone on with, soon. */
export const resumeQueuedSoon = (db: Db, pull: QueuedPull, delayMs = 0): Promise<void> =>
  addJob(
    db,
    RESUME_QUEUED_MOVE,
    { ...pull },
    { key: `${RESUME_QUEUED_MOVE}:${pull.repositoryId}:${pull.prNumber}`, delayMs },
  );

async function resumeMove(deps: Deps, operation: Operation, isOverdue: boolean): Promise<void> {
  const log = deps.log.child({ operation: operation.id, cardId: operation.cardId });
  const transition = await transitionOf(deps, operation);
  if (!transition) {
    await settleOperation(deps.db, operation, "abandoned");
    return;
  }
  const taken = await takeOver(deps.db, operation, { holder: deps.instanceId, requestId: null });
  if (!taken) return;
  const { id, actorId, index } = operation;
  const { attempt, deaths } = taken;
  const move = { id, attempt, actorId, index, isResumed: true, isOverdue };
  if (deaths >= MAX_DEATHS) {
    await giveUp(
      deps,
      transition,
      move,
      `The service ended ${deaths} times in a row while it was at work on this move.`,
    );
    log.error({ attempt, deaths, isHopeless: true }, "going on with a move ended the process each time");
    return;
  }
  try {
    const state = await orReleaseMove(deps, move, async () => {
      const outcome = await carryOutMove(deps, transition, move);
      await settleMove(deps, transition, move, outcome, storeNothing);
      return outcome.state;
    });
    log.info({ outcome: state }, "finished a move that was left unfinished");
  } catch (error) {
    if (error instanceof Problem) {
      log.warn({ kind: error.kind, reason: error.message }, "a move is still unfinished");
      return;
    }
    // A move that cannot be gone on with must not keep the others waiting, nor be tried for ever.
    // Where the database is what fails, this is not counted either.
    const failures = await countFailure(deps.db, move).catch(() => null);
    const isHopeless = failures !== null && failures > MAX_FAILURES;
    log.error({ err: error, attempt, failures, isHopeless }, "going on with a move failed");
    if (isHopeless)
      await giveUp(
        deps,
        transition,
        move,
        "This move failed again and again, for a reason of the service's own.",
      );
  }
}

/** Leaves a move, and says so on its card. Where that fails too it is only left. */
async function giveUp(deps: Deps, transition: Transition, move: HeldMove, why: string): Promise<void> {
  const { card } = transition;
  try {
    const [links, undone] = [await listLinks(deps.db, card.id), await findUndone(deps.db, card.id)];
    const link = links.find(({ repository }) => repository.id === undone) ?? links[0];
    const message = `${why} It was left as it is: move the card again to try once more.`;
    const outcome: MoveOutcome = {
      state: "refused",
      reasons: [
        blockedReason(link?.repository.fullName ?? "", {
          reason: "unknown",
          message,
          details: { attempts: move.attempt },
        }),
      ],
      headSha: link?.headSha ?? null,
      promoted: await listPromotions(deps.db, move.id),
      alreadyMerged: [],
    };
    await settleMove(deps, transition, move, outcome, storeNothing);
  } catch (error) {
    deps.log.error({ err: error, operation: move.id }, "a card could not be told that its move was given up");
    await settleOperation(deps.db, move, "abandoned");
  }
}

/** The card and the stage it was to enter; null when either is gone. */
async function transitionOf(deps: Deps, operation: Operation): Promise<Transition | null> {
  const card = await findCardById(deps.db, operation.cardId);
  const project = card && (await findProject(deps.db, card.workspaceId, card.projectId));
  const stage = project && stageOf(project.flow, operation.stageId);
  return card && project && stage ? { card, project, stage } : null;
}
