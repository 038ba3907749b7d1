import { Problem } from "../../errors.ts";
import { stageOf } from "../../flow/flow.ts";
import { finalOf, lacksPullRequest, type FinalDecision, type Run } from "../../flow/decide.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import { headsOf, REPOSITORIES_CHANGED, type Disarming } from "../../flow/readiness.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import {
  findArmed,
  listArmed,
  listDueArmed,
  recordInspected,
  type ArmedMove,
} from "../../store/cards/armed-moves.ts";
import { findCardById, lockCard, type CardHead } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import { findOpenMove } from "../../store/cards/moves.ts";
import { findProject } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { takeOverOperation } from "../../store/ops/operations.ts";
import { continueAttempt } from "../attempt.ts";
import type { Deps } from "../deps.ts";
import { changeWaitingFor, disarm, EXPIRED, STAGE_CHANGED } from "./armed-move.ts";
import { checkGates, lockAndCheckGates } from "./check-gates.ts";
import { inspectCards, inspectUntilDecided, LAG_PAUSE_MS } from "./inspect-card.ts";
import { mayEnter, NO_LONGER_PERMITTED } from "./may-enter.ts";
import { runUnattended } from "./resume-move.ts";
import { lockTransition, startInTransaction, type BegunMove, type Transition } from "./start-move.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

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
  const open = await findOpenMove(deps.db, cardId);
  if (open?.input.whenReady && open.hasLiveOwner)
    return schedule(deps.db, JOBS.inspectArmed, { cardId }, { delayMs: MOVING_PAUSE_MS });
  const armed = await findArmed(deps.db, cardId);
  // An unfinished move of the card is resumed, and keeps the move armed or disarms it.
  if (!armed || open) return;
  await continueAttempt(deps, armed.attemptId, async (own) => {
    const transition = await permittedTransition(own, armed);
    if (!transition) return;
    const { decision } = await inspectUntilDecided(own, transition);
    if (lacksPullRequest(decision))
      return schedule(own.db, JOBS.inspectArmed, { cardId }, { delayMs: LAG_PAUSE_MS });
    const final = finalOf(decision);
    if (final.state === "run") return runArmed(own, armed, transition.card);
    await saveOrDisarm(own, armed, final);
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
  for (const [at, { decision }] of (await inspectCards(deps, transitions)).entries()) {
    const { armed } = due[at]!;
    const final = finalOf(decision);
    const isWaiting = final.state === "wait";
    if (isWaiting) await transaction(deps.db, (trx) => changeWaitingFor(trx, armed, final.waitingFor));
    else await recordInspected(deps.db, armed.id);
    // The job of the card runs or disarms the move, after another inspection.
    if (!isWaiting) await schedule(deps.db, JOBS.inspectArmed, { cardId: armed.cardId }, { delayMs: 0 });
  }
}

/** Stores what the move waits for, or disarms it. */
async function saveOrDisarm(
  deps: Deps,
  armed: ArmedMove,
  decision: Exclude<FinalDecision, Run>,
): Promise<void> {
  switch (decision.state) {
    case "wait":
      await transaction(deps.db, (trx) => changeWaitingFor(trx, armed, decision.waitingFor));
      if (decision.endsInMs !== null)
        await schedule(
          deps.db,
          JOBS.inspectArmed,
          { cardId: armed.cardId },
          { delayMs: decision.endsInMs, besides: "later" },
        );
      return;
    case "refuse": {
      const [first] = decision.reasons;
      if (first) await disarmUnlessMoving(deps, armed, first);
      return;
    }
    case "disarm":
      await disarmUnlessMoving(deps, armed, decision.disarming);
  }
}

/** Disarms a move, unless a move of the card is unfinished. */
async function disarmUnlessMoving(deps: Deps, armed: ArmedMove, why: Disarming): Promise<void> {
  await continueAttempt(deps, armed.attemptId, ({ db }) =>
    transaction(db, async (trx) => {
      const card = await lockCard(trx, armed.cardId);
      if (card && !(await findOpenMove(trx, armed.cardId))) await disarm(trx, armed, why);
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
  const { actorId, isHuman, armedWith, input } = armed;
  const onFailingChecks = input.whenReady?.onFailingChecks ?? "disarm";
  const mover = { actorId, isHuman };
  const entryReasons = transition ? await checkGates(deps.db, transition, mover) : [];
  const why = (await disarmingOf(deps, armed, transition)) ?? entryReasons.find(endsWaiting);
  if (why) {
    await disarmUnlessMoving(deps, armed, why);
    return null;
  }
  return transition
    ? {
        ...transition,
        mover,
        headShas: headsOf(armedWith),
        waiting: { armedWith, onFailingChecks },
        entryReasons,
      }
    : null;
}

/** A full stage lets an armed move wait. Other gates end it. */
const endsWaiting = ({ reason }: BlockedReason): boolean => reason !== "wip_limit";

/** Why a move may not run any more, apart from gates. */
async function disarmingOf(
  { db }: Pick<Deps, "db">,
  { cardId, isExpired, actorId, armedWith }: ArmedMove,
  transition: Transition | undefined,
): Promise<Disarming | null> {
  if (isExpired) return EXPIRED;
  if (transition?.stage.rule.type !== "merge") return STAGE_CHANGED;
  if (!(await mayEnter(db, actorId, transition))) return NO_LONGER_PERMITTED;
  const links = await listLinks(db, cardId);
  const isKnown = links.every(({ repository }) => armedWith[repository.id] !== undefined);
  return isKnown && links.length === Object.keys(armedWith).length ? null : REPOSITORIES_CHANGED;
}

/** Starts the armed move and runs it. Another process may do so first. */
async function runArmed(deps: Deps, armed: ArmedMove, card: CardHead): Promise<void> {
  try {
    const begun = await startInTransaction(deps, (trx) => startArmed(deps, trx, armed, card));
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
  { id, stageId, actorId, isHuman, armedWith, input }: ArmedMove,
  card: CardHead,
): Promise<BegunMove | null> {
  const transition = await lockTransition(trx, card, stageId, null);
  const current = transition?.armed;
  if (!transition || !current || current.id !== id || transition.open) return null;
  const mover = { actorId, isHuman };
  const refused = await lockAndCheckGates(trx, transition, mover);
  const why = (await disarmingOf({ db: trx }, current, transition)) ?? refused.find(endsWaiting);
  if (why) {
    await disarm(trx, current, why);
    return null;
  }
  if (refused.length > 0) {
    await changeWaitingFor(trx, current, refused);
    return null;
  }
  const terms = { ...input, headShas: headsOf(armedWith) };
  const taken = await takeOverOperation(trx, current, { holder: deps.instanceId, input: terms });
  if (!taken) return null;
  return { transition, move: { id, generation: taken.generation, ...mover, ...terms, isArmed: true } };
}
