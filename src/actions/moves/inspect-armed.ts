import { Problem } from "../../errors.ts";
import { stageOf } from "../../flow/flow.ts";
import { headsOf, REPOSITORIES_CHANGED, type Disarming, type Readiness } from "../../flow/readiness.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import {
  findArmed,
  listArmed,
  listDueArmed,
  saveWaitingFor,
  type ArmedMove,
} from "../../store/cards/armed-moves.ts";
import { findCardById, lockCard, type CardHead } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { findOpenOperation } from "../../store/ops/operations.ts";
import { continueAttempt } from "../attempt.ts";
import type { Deps } from "../deps.ts";
import { inspectArmedIn, inspectArmedSoon } from "../reconcile/inspect-soon.ts";
import { disarm, EXPIRED, STAGE_CHANGED } from "./armed-move.ts";
import { checkGates, lockAndCheckGates } from "./check-gates.ts";
import { inspectCards, inspectUntilDecided, LAG_PAUSE_MS } from "./inspect-card.ts";
import { mayEnter, NO_LONGER_PERMITTED } from "./may-enter.ts";
import { readReadiness } from "./read-readiness.ts";
import { runUnattended } from "./resume-move.ts";
import { lockTransition, startMove, type RunningMove, type Transition } from "./start-move.ts";

export const INSPECT_ALL_ARMED = "inspect-all-armed";

/** The pause before the next inspection of a card that is being moved, in milliseconds. */
const MOVING_PAUSE_MS = 1_000;
/**
 * The periodic job, which runs every minute, inspects a move that was not inspected for this long.
 */
const DUE_MS = 85_000;
/** Branches of one account that the periodic job inspects in a run: one call. */
const PER_RUN = 25;

/**
 * Inspects a card whose move waits: runs the move if it is ready, disarms it if it can not become
 * ready with what it was armed with, and stores what it waits for otherwise. It may run late, twice
 * and concurrently. Throws `ForgeUnavailable`.
 */
export async function inspectArmed(deps: Deps, cardId: string): Promise<void> {
  const open = await findOpenOperation(deps.db, cardId);
  if (open?.whenReady && open.hasLiveOwner) return inspectArmedSoon(deps.db, cardId, MOVING_PAUSE_MS);
  const armed = await findArmed(deps.db, cardId);
  // An unfinished move of the card is resumed, and keeps the move armed or disarms it.
  if (!armed || open) return;
  await continueAttempt(deps, armed.attemptId, async (own) => {
    const transition = await permittedTransition(own, armed);
    if (!transition) return;
    const inspection = await inspectUntilDecided(own, transition);
    if (inspection.plan.isForgeLagging) return inspectArmedSoon(own.db, cardId, LAG_PAUSE_MS);
    const readiness = await readReadiness(own.db, transition, inspection, armed.armedWith);
    if (readiness.state === "ready") return runArmed(own, armed, transition.card);
    await saveOrDisarm(own, armed, readiness);
  });
}

/** A move that waits and may run as soon as it is ready. */
interface ArmedTransition {
  readonly armed: ArmedMove;
  readonly transition: Transition;
}

/**
 * Disarms the moves that may not run any more, and inspects the others for which no webhook has led
 * to an inspection for a while: one call to GitHub for each account.
 */
export async function inspectAllArmed(deps: Deps): Promise<void> {
  const waiting = new Map<string, ArmedTransition>();
  for (const armed of await listArmed(deps.db)) {
    const transition = await permittedTransition(deps, armed);
    if (transition) waiting.set(armed.id, { armed, transition });
  }
  for (const ids of await listDueArmed(deps.db, { minAgeMs: DUE_MS, maxBranches: PER_RUN })) {
    const due = ids.flatMap((id) => waiting.get(id) ?? []);
    try {
      await inspectTogether(deps, due);
    } catch (error) {
      if (!(error instanceof ForgeUnavailable)) throw error;
      deps.log.warn({ err: error }, "the armed moves of an account could not be inspected");
    }
  }
}

async function inspectTogether(deps: Deps, due: readonly ArmedTransition[]): Promise<void> {
  const transitions = due.map(({ transition }) => transition);
  for (const [at, inspection] of (await inspectCards(deps, transitions)).entries()) {
    const { armed, transition } = due[at]!;
    const readiness = await readReadiness(deps.db, transition, inspection, armed.armedWith);
    const isWaiting = readiness.state === "waiting";
    await saveWaitingFor(deps.db, armed.id, isWaiting ? readiness.waitingFor : armed.waitingFor);
    // The job of the card runs or disarms the move, after another inspection.
    if (!isWaiting) await inspectArmedSoon(deps.db, armed.cardId, 0);
  }
}

/** Stores what the move waits for, or disarms it. */
async function saveOrDisarm(
  deps: Deps,
  armed: ArmedMove,
  readiness: Exclude<Readiness, { readonly state: "ready" }>,
): Promise<void> {
  switch (readiness.state) {
    case "waiting":
      await saveWaitingFor(deps.db, armed.id, readiness.waitingFor);
      if (readiness.endsInMs !== null) await inspectArmedIn(deps.db, armed.cardId, readiness.endsInMs);
      return;
    case "refused": {
      const [first] = readiness.reasons;
      if (first) await disarmUnlessMoving(deps, armed, first);
      return;
    }
    case "changed":
      await disarmUnlessMoving(deps, armed, readiness.disarming);
  }
}

/** Disarms a move, unless a move of the card is unfinished. */
async function disarmUnlessMoving(deps: Deps, armed: ArmedMove, why: Disarming): Promise<void> {
  await continueAttempt(deps, armed.attemptId, ({ db }) =>
    transaction(db, async (trx) => {
      const card = await lockCard(trx, armed.cardId);
      if (card && !(await findOpenOperation(trx, armed.cardId))) await disarm(trx, armed, why);
    }),
  );
  deps.log.info({ cardId: armed.cardId, reason: why.reason }, "disarmed a move");
}

/**
 * The transition of an armed move, after all checks that need no call to GitHub. Disarms the move
 * and returns null if it may not run.
 */
async function permittedTransition(deps: Deps, armed: ArmedMove): Promise<Transition | null> {
  const card = await findCardById(deps.db, armed.cardId);
  const project = card && (await findProject(deps.db, card.workspaceId, card.projectId));
  if (!card || !project) return null;
  const stage = stageOf(project.flow, armed.stageId);
  const transition = stage && { card, project, stage };
  const why = await disarmingOf(deps, armed, transition);
  if (why) {
    await disarmUnlessMoving(deps, armed, why);
    return null;
  }
  const { actorId, isHuman, armedWith } = armed;
  return transition
    ? { ...transition, mover: { actorId, isHuman }, headShas: headsOf(armedWith), mayWait: true }
    : null;
}

async function disarmingOf(
  { db }: Pick<Deps, "db">,
  { cardId, isExpired, actorId, isHuman, armedWith }: ArmedMove,
  transition: Transition | undefined,
): Promise<Disarming | null> {
  if (isExpired) return EXPIRED;
  if (transition?.stage.rule.type !== "merge") return STAGE_CHANGED;
  if (!(await mayEnter(db, actorId, transition))) return NO_LONGER_PERMITTED;
  const links = await listLinks(db, cardId);
  const isKnown = links.every(({ repository }) => armedWith[repository.id] !== undefined);
  if (!isKnown || links.length !== Object.keys(armedWith).length) return REPOSITORIES_CHANGED;
  const refused = await checkGates(db, transition, { actorId, isHuman });
  return refused.find(({ reason }) => reason !== "wip_limit") ?? null;
}

/** Starts the armed move and runs it. Another process may do so first. */
async function runArmed(deps: Deps, armed: ArmedMove, card: CardHead): Promise<void> {
  try {
    const begun = await transaction(deps.db, (trx) => startArmed(deps, trx, armed, card));
    if (!begun) return;
    const state = await runUnattended(deps, begun.transition, begun.move);
    deps.log.info({ cardId: armed.cardId, outcome: state }, "ran an armed move");
  } catch (error) {
    // The card was deleted, or the move is resumed later.
    if (!(error instanceof Problem)) throw error;
    deps.log.warn({ cardId: armed.cardId, reason: error.message }, "an armed move is unfinished");
  }
}

/** Null if the move is not armed any more, may not run, or finds the stage full. */
async function startArmed(
  deps: Deps,
  trx: Trx,
  { id, stageId, index, actorId, isHuman, armedWith }: ArmedMove,
  card: CardHead,
): Promise<{ readonly transition: Transition; readonly move: RunningMove } | null> {
  const requestId = `armed:${id}`;
  const transition = await lockTransition(trx, card, stageId, requestId);
  const current = transition?.armed;
  if (!transition || !current || current.id !== id || transition.open) return null;
  const why = await disarmingOf({ db: trx }, current, transition);
  if (why) {
    await disarm(trx, current, why);
    return null;
  }
  const full = await lockAndCheckGates(trx, transition, { actorId, isHuman });
  if (full.length > 0) {
    await saveWaitingFor(trx, id, full);
    return null;
  }
  const whenReady = { armedId: id, isArmed: true, expiresInHours: 0 };
  const request = { actorId, isHuman, index, requestId, headShas: headsOf(armedWith), whenReady };
  const begun = await startMove(deps, trx, transition, request);
  return begun.state === "started" ? { transition, move: begun.move } : null;
}
