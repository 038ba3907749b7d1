import { Problem } from "../errors.ts";
import { blockedReason } from "../flow/blocked.ts";
import { stageOf } from "../flow/flow.ts";
import { queueRejected } from "../flow/refusal.ts";
import { findCardById } from "../store/cards.ts";
import type { Db } from "../store/connect.ts";
import {
  findOpenOperation,
  listPromotions,
  listOrphanedOperations,
  settleOperation,
  takeOver,
  type Operation,
} from "../store/operations.ts";
import { findUndone, withdrawIntent } from "../store/intents.ts";
import { listLinks } from "../store/links.ts";
import { addJob } from "../store/jobs.ts";
import { findProject } from "../store/projects.ts";
import type { HeldMove } from "./begin-move.ts";
import type { MoveOutcome } from "./carry-out-move.ts";
import type { Deps } from "./deps.ts";
import type { Crossing } from "./look-at-card.ts";
import { carryOutOrSayWhen, orLetGo, settleMove } from "./move-card.ts";

export const RESUME_ORPHANED_MOVES = "resume-orphaned-moves";
export const RESUME_QUEUED_MOVE = "resume-queued-move";

/** How long to wait for a call under way before looking again, in milliseconds. */
const RETRY_MS = 500;

/** How often a move may fail for a reason of our own before it is given up. */
const MAX_FAILURES = 8;
/** How many processes in a row may die while they hold something that gets no further, before it is given up. */
export const MAX_DEATHS = 5;

/** How many moves one sweep goes on with. */
const BATCH = 20;

/** Goes on with the moves nobody is at work on: those of a dead process, and those the forge could not be reached for. */
export async function resumeOrphanedMoves(deps: Deps): Promise<void> {
  for (const operation of await listOrphanedOperations(deps.db, BATCH)) await resumeMove(deps, operation);
}

/** What the forge's merge queue has said of a card's pull request: it landed, or it was thrown out for the reason given. */
export interface QueueNews {
  readonly cardId: string;
  readonly repositoryId: string;
  readonly prNumber: number;
  readonly thrownOut: string | null;
}

/** Goes on with the move of a card that waits in the forge's merge queue, as far as what the queue has said lets it. */
export async function resumeQueuedMove(deps: Deps, news: QueueNews): Promise<void> {
  const operation = await findOpenOperation(deps.db, news.cardId);
  // The queue was quicker than the call that asked for it: that one is about to say that it waits.
  if (operation?.state === "running" && operation.isHeld) {
    await resumeQueuedSoon(deps.db, news, RETRY_MS);
  } else if (operation?.state === "queued") await resumeMove(deps, operation, news);
}

/** Asks for the queued move of a card to be gone on with, soon. */
export const resumeQueuedSoon = (db: Db, news: QueueNews, delayMs = 0): Promise<void> =>
  addJob(
    db,
    RESUME_QUEUED_MOVE,
    { ...news },
    { key: `${RESUME_QUEUED_MOVE}:${news.repositoryId}:${news.prNumber}`, delayMs },
  );

async function resumeMove(deps: Deps, operation: Operation, news: QueueNews | null = null): Promise<void> {
  const log = deps.log.child({ operation: operation.id, cardId: operation.cardId });
  const crossing = await crossingOf(deps, operation);
  if (!crossing) {
    await settleOperation(deps.db, operation, "abandoned");
    return;
  }
  const taken = await takeOver(deps.db, operation, { holder: deps.instanceId, requestId: null });
  if (!taken) return;
  const { id, actorId, index } = operation;
  const { attempt, deaths } = taken;
  const move = { id, attempt, actorId, index, isOverdue: operation.state === "queued" && news === null };
  if (deaths >= MAX_DEATHS) {
    await giveUp(
      deps,
      crossing,
      move,
      `The service ended ${deaths} times in a row while it was at work on this move.`,
    );
    log.error({ attempt, deaths, isHopeless: true }, "going on with a move ended the process each time");
    return;
  }
  try {
    const state = await orLetGo(deps, move, async () => {
      const outcome = news?.thrownOut
        ? await thrownOutOfQueue(deps, operation, news, news.thrownOut)
        : await carryOutOrSayWhen(deps, crossing, move);
      await settleMove(deps, crossing, move, outcome, () => Promise.resolve());
      return outcome.state;
    });
    log.info({ outcome: state }, "finished a move that was left unfinished");
  } catch (error) {
    if (error instanceof Problem) {
      log.warn({ kind: error.kind, reason: error.message }, "a move is still unfinished");
      return;
    }
    // A move that cannot be gone on with must not keep the others waiting, nor be tried for ever.
    const isHopeless = attempt > MAX_FAILURES;
    log.error({ err: error, attempt, isHopeless }, "going on with a move failed");
    if (isHopeless)
      await giveUp(
        deps,
        crossing,
        move,
        "This move failed again and again, for a reason of the service's own.",
      );
  }
}

/** Leaves a move, and says so on its card. Where that fails too it is only left. */
async function giveUp(deps: Deps, crossing: Crossing, move: HeldMove, why: string): Promise<void> {
  const { card } = crossing;
  try {
    const [links, undone] = [await listLinks(deps.db, card.id), await findUndone(deps.db, card.id)];
    const link = links.find(({ repository }) => repository.id === undone) ?? links[0];
    const message = `${why} It was left as it is: move the card again to try once more.`;
    const outcome: MoveOutcome = {
      state: "refused",
      reasons: [blockedReason(link?.repository.fullName ?? "", { reason: "unknown", message })],
      headSha: link?.headSha ?? null,
      promoted: await listPromotions(deps.db, move.id),
    };
    await settleMove(deps, crossing, move, outcome, () => Promise.resolve());
  } catch (error) {
    deps.log.error({ err: error, operation: move.id }, "a card could not be told that its move was given up");
    await settleOperation(deps.db, move, "abandoned");
  }
}

/**
 * The forge's queue gives a word for why, such as `CI_FAILURE`, and nothing more. It goes on calling what it was asked for enqueued for a
 * day, so the next try must not ask about that one.
 */
async function thrownOutOfQueue(
  deps: Deps,
  operation: Operation,
  { cardId, repositoryId, prNumber }: QueueNews,
  word: string,
): Promise<MoveOutcome> {
  await withdrawIntent(deps.db, { repositoryId, kind: "merge", subject: String(prNumber) });
  const link = (await listLinks(deps.db, cardId)).find(({ repository }) => repository.id === repositoryId);
  const repository = link?.repository.fullName ?? "";
  return {
    state: "refused",
    reasons: [blockedReason(repository, queueRejected(word))],
    headSha: link?.headSha ?? null,
    promoted: await listPromotions(deps.db, operation.id),
  };
}

/** The card and the stage it was to enter; null when either is gone. */
async function crossingOf(deps: Deps, operation: Operation): Promise<Crossing | null> {
  const card = await findCardById(deps.db, operation.cardId);
  const project = card && (await findProject(deps.db, card.workspaceId, card.projectId));
  const stage = project && stageOf(project.flow, operation.stageId);
  return card && project && stage ? { card, project, stage } : null;
}
