import { invalid, notFound, Problem } from "../errors.ts";
import type { Blocked } from "../flow/blocked.ts";
import { stageOf, type Stage } from "../flow/flow.ts";
import { ForgeUnavailable } from "../forge/forge.ts";
import type { Beginning } from "../store/begun-moves.ts";
import { findCard, lockCard, readCard, type CardHead } from "../store/cards.ts";
import type { Trx } from "../store/connect.ts";
import { findFinishedOperation, findOpenOperation, settleOperation } from "../store/operations.ts";
import { findProject, type Project } from "../store/projects.ts";
import { abandonMove, beginMove, beingMoved, type HeldMove } from "./begin-move.ts";
import { carryOutMove, type Known, type MoveOutcome } from "./carry-out-move.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { touchesGit, type Crossing } from "./look-at-card.ts";
import { persevere } from "./persevere.ts";
import { requireRoleFor } from "./require-role.ts";
import { enterStage, mergesOf, moveResult, settleMove, type Merges, type Mover } from "./settle-move.ts";

/** Past the end of any column. */
export const AT_THE_END = 2_147_483_647;

/**
 * Moves a card into a stage of its project's flow, at `index` of the column, doing on the forge what the stage asks. Answers 200 with the
 * move result, 202 when the forge has queued the merge; throws `refused` (409) when the forge refuses, `busy` while
 * another call moves the card, `unavailable` (503) when the forge cannot be reached.
 */
export async function moveCard(
  deps: Deps,
  caller: Caller,
  card: CardHead,
  { statusId, index }: { readonly statusId: string; readonly index: number },
): Promise<Answered> {
  const project = await projectOf(deps, card);
  const stage = stageOf(project.flow, statusId);
  if (!stage) {
    throw invalid("This card's flow has no stage with this id. GET /v1/board lists the stages.", [
      { path: "body.statusId", message: "not a stage of this card's flow" },
    ]);
  }
  requireRoleFor(caller, stage);
  return answeredBy(await cross(deps, moverFor(caller), { card, project, stage }, index));
}

/** Goes on with a move that has just begun, from what was known of its card then. */
export async function goOnWithMove(
  deps: Deps,
  caller: Caller,
  stageId: string,
  move: HeldMove,
  { card, project, ...known }: Beginning,
): Promise<Answered> {
  const through = await goThroughForge(deps, moverFor(caller), move, () => {
    const stage = stageOf(project.flow, stageId);
    if (!stage) throw new Error(`move ${move.id} into a stage that is not there`);
    return Promise.resolve({ crossing: { card, project, stage }, known });
  });
  return answeredBy(through);
}

/** A refusal is thrown. */
function answeredBy(crossed: Crossed<Answered>): Answered {
  if ("kept" in crossed) return crossed.kept;
  const { blocked, ...told } = crossed.refused;
  throw new Problem("refused", blocked.message, { body: { blocked, ...told } });
}

/**
 * Moves the card its request has just created. A refusal, too, is answered with the card (201): it stands in the backlog, blocked.
 */
export async function moveNewCard(
  deps: Deps,
  caller: Caller,
  number: number,
  stage: Stage,
): Promise<Answered> {
  const card = await findCard(deps.db, caller.workspaceId, number);
  if (!card) throw notFound(`There is no card ${number} on this board.`);
  const crossing = { card, project: await projectOf(deps, card), stage };
  const answer = async (trx: Trx): Promise<Answered> =>
    caller.answer(trx, await readCard(trx, caller.workspaceId, number), 201);
  const mover = { ...moverFor(caller), keep: answer, keepAtOnce: null };
  const crossed = await cross(deps, mover, crossing, AT_THE_END);
  return "kept" in crossed ? crossed.kept : deps.db.transaction(answer);
}

const moverFor = (caller: Caller): Mover<Answered> => ({
  userId: caller.userId,
  requestId: caller.requestId,
  keep: (trx, body, status) => caller.answer(trx, body, status),
  keepAtOnce: (body, end) => caller.answerAtOnce(body, end),
});

export type Crossed<Kept> =
  | { readonly kept: Kept }
  | { readonly refused: { readonly blocked: Blocked } & Merges };

/** Moves a card into a stage; throws `busy` while another call moves the card, `unavailable` when the forge cannot be reached. */
export async function cross<Kept>(
  deps: Deps,
  mover: Mover<Kept>,
  crossing: Crossing,
  index: number,
): Promise<Crossed<Kept>> {
  if (await touchesGit(deps, crossing)) return moveThroughForge(deps, mover, crossing, index);
  return { kept: await placeOnly(deps, mover, crossing, index) };
}

async function projectOf(deps: Deps, card: CardHead): Promise<Project> {
  const project = await findProject(deps.db, card.workspaceId, card.projectId);
  if (!project) throw new Error(`card ${card.id} without its project`);
  return project;
}

async function placeOnly<Kept>(
  deps: Deps,
  mover: Mover<Kept>,
  { card, stage }: Crossing,
  index: number,
): Promise<Kept> {
  const { requestId } = mover;
  const kept = await deps.db.transaction(async (trx) => {
    const current = await lockCard(trx, card.id);
    if (!current) throw notFound(`There is no card ${card.number} on this board.`);
    // An earlier try of the request did go through the forge, and was finished without it.
    const finished = await findFinishedOperation(trx, { cardId: card.id, stageId: stage.id, requestId });
    if (finished) return mover.keep(trx, finished.result, 200);
    const operation = await findOpenOperation(trx, card.id);
    if (operation?.isHeld || current.stageId !== card.stageId) throw beingMoved(card);
    if (operation && current.stageId !== stage.id) await abandonMove(trx, card, operation);
    await enterStage(trx, current, stage, index, mover.userId);
    const blocked = current.stageId === stage.id ? current.blocked : null;
    return mover.keep(trx, moveResult(card, stage.id, blocked, { promoted: [] }), 200);
  });
  deps.metrics.moves.inc({ outcome: "moved" });
  return kept;
}

async function moveThroughForge<Kept>(
  deps: Deps,
  mover: Mover<Kept>,
  asked: Crossing,
  index: number,
): Promise<Crossed<Kept>> {
  const begun = await beginMove(deps, asked.card, {
    stageId: asked.stage.id,
    index,
    actorId: mover.userId,
    requestId: mover.requestId,
  });
  if (begun.state === "finished") {
    return { kept: await deps.db.transaction((trx) => mover.keep(trx, begun.result, 200)) };
  }
  return goThroughForge(deps, mover, begun.move, async () => ({
    crossing: await underPresentRules(deps, asked),
  }));
}

/** What a move crosses, and what was known of its card when it began. */
interface Way {
  readonly crossing: Crossing;
  readonly known?: Known;
}

async function goThroughForge<Kept>(
  deps: Deps,
  mover: Mover<Kept>,
  move: HeldMove,
  findWay: () => Promise<Way>,
): Promise<Crossed<Kept>> {
  return orLetGo(deps, move, async () => {
    const { crossing, known } = await findWay();
    const outcome = await carryOutOrSayWhen(deps, crossing, move, known);
    const settled = await settleMove(deps, crossing, move, outcome, mover);
    return "blocked" in settled
      ? { refused: { blocked: settled.blocked, ...mergesOf(outcome) } }
      : { kept: settled.kept };
  });
}

/** The flow may have been replaced just before the move began; from then on it cannot be until the move has ended. */
async function underPresentRules(deps: Deps, asked: Crossing): Promise<Crossing> {
  const project = await projectOf(deps, asked.card);
  return { card: asked.card, project, stage: stageOf(project.flow, asked.stage.id) ?? asked.stage };
}

/** Does what is left of a move; when that fails for any reason but a refusal, lets go of it so that a retry or the sweep goes on. */
export async function orLetGo<T>(deps: Deps, move: HeldMove, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await persevere(deps.log, "a move", () => settleOperation(deps.db, move, "running"));
    throw error;
  }
}

/** Carries a move out; throws `unavailable` when the forge cannot be reached. */
export async function carryOutOrSayWhen(
  deps: Deps,
  crossing: Crossing,
  move: HeldMove,
  known?: Known,
): Promise<MoveOutcome> {
  try {
    return await carryOutMove(deps, crossing, move, known);
  } catch (error) {
    deps.metrics.moves.inc({ outcome: "unfinished" });
    if (!(error instanceof ForgeUnavailable)) throw error;
    throw new Problem(
      "unavailable",
      "The forge could not be reached, so the move is not finished. Make the same call again.",
      { retryAfter: error.retryAfter, detail: error.message, cause: error },
    );
  }
}
