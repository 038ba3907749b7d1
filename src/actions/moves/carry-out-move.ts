import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../errors.ts";
import { type BlockedReason, blockedReason, queueRejected } from "../../flow/refusal.ts";
import type { Landed, MoveStep } from "../../flow/move.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import { findIntent, acceptMerge, withdrawIntent } from "../../store/ops/intents.ts";
import { listPromotions, type Promotion } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { nameConflicts } from "../reconcile/recheck-blocked.ts";
import type { HeldMove } from "./begin-move.ts";
import {
  lookOnTheWay,
  lookUntilDecided,
  lookFromHere,
  isInQueue,
  listLeftQueue,
  type Look,
} from "./look-at-card.ts";
import { type Transition } from "./transition.ts";
import { recordEarlierDeeds, recordMerged } from "./record-deeds.ts";
import { intentKey } from "./transition.ts";
import { declareIntent, intentOf, takeStep, type StepContext } from "./take-step.ts";

/** What a move has merged, and what was in the targets of its merges without that. */
interface Told {
  readonly promoted: readonly Promotion[];
  readonly alreadyMerged: readonly Landed[];
}

export type MoveOutcome = Told &
  (
    | { readonly state: "moved" }
    | {
        readonly state: "refused";
        readonly reasons: readonly BlockedReason[];
        readonly headSha: string | null;
      }
    | { readonly state: "queued"; readonly queued: readonly Promotion[] }
  );

interface Context extends StepContext {
  readonly operation: HeldMove;
}
type MergeStep = Extract<MoveStep, { action: "merge" }>;

/** How long after its start a move still waits for the forge to finish its merges, in milliseconds; and the least it waits for one. */
const MERGE_WAIT_MS = 25_000;
const LEAST_WAIT_MS = 3_000;
/** How often it is looked for a pull request that was just opened: the forge's reads may lag behind its writes. */
const MAX_LOOKS = 5;

/**
 * Does on GitHub what the stage asks, as far as it is not done yet: branches, pull requests and ready marks, and, once every
 * repository has passed the check, the merges one by one with their heads pinned. Throws `unavailable` (503) when GitHub did
 * not answer: what was done stays done, and a later attempt does what is left.
 */
export async function carryOutMove(deps: Deps, transition: Transition, move: HeldMove): Promise<MoveOutcome> {
  try {
    return await carryOut(deps, transition, move);
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

async function carryOut(deps: Deps, transition: Transition, move: HeldMove): Promise<MoveOutcome> {
  const until = performance.now() + MERGE_WAIT_MS;
  const context: Context = { ...transition, actorId: move.actorId, operation: move };
  let look = (await lookFromHere(deps, transition)) ?? (await lookUntilDecided(deps, transition));
  for (let looks = 1; ; looks++) {
    if (looks === 1 || move.isResumed) await recordEarlierDeeds(deps, context, look.repositories);
    const left = move.isResumed ? await afterQueue(deps, context, look, looks === 1) : null;
    const outcome = left ?? (await actOn(deps, context, look, until));
    if (outcome !== "look_again") return outcome;
    if (looks === MAX_LOOKS) throw new ForgeUnavailable("the forge does not show what was just done");
    if (looks > 1) await sleep(200 * 2 ** looks);
    look = await lookUntilDecided(deps, transition);
  }
}

/**
 * What becomes of a move that nobody asks for just now when the forge's queue has let go of one of its merges: it is not put there again, but
 * refused where the queue said that it threw it out, or nothing was heard of it for too long. Null where the queue has let go of none.
 */
async function afterQueue(
  deps: Deps,
  context: Context,
  look: Look,
  isFirstLook: boolean,
): Promise<MoveOutcome | "look_again" | null> {
  const left = await listLeftQueue(deps, look);
  if (left.length === 0) return null;
  const out = context.operation.isOverdue ? left : left.filter(({ word }) => word !== null);
  if (out.length === 0) {
    const queued = [...left, ...look.plan.steps.filter((step) => step.action === "merge")];
    const distinct = new Map(queued.map((pull) => [pull.repositoryId, promotionOf(pull)]));
    return { state: "queued", queued: [...distinct.values()], ...(await tell(deps, context, look)) };
  }
  // Without a word of the queue's it may have landed between leaving the queue and being shown as merged.
  if (isFirstLook && out.some(({ word }) => word === null)) return "look_again";
  for (const pull of out) await withdrawIntent(deps.db, intentKey(pull, "merge"), context.operation);
  const reasons = out.map(({ fullName, word }) => blockedReason(fullName, queueRejected(word ?? "unknown")));
  return refusedBy(deps, context, look, reasons, out[0]?.headSha);
}

/** Does what a look has shown to be left; the forge has to be looked at again where something had to be made, or has moved. */
async function actOn(
  deps: Deps,
  context: Context,
  look: Look,
  until: number,
): Promise<MoveOutcome | "look_again"> {
  const { plan } = look;
  if (plan.reasons.length > 0) return refusedAtTheStage(deps, context, look);
  if (plan.isBehind) return "look_again";
  const obstacle = await prepare(deps, context, look);
  if (obstacle === "overtaken") return "look_again";
  if (obstacle) return refusedBy(deps, context, look, [obstacle]);
  if (plan.needsAnotherLook) return "look_again";
  const merges = plan.steps.filter((step) => step.action === "merge");
  // One merge may be tried in spite of a doubt; the first of several may not, because it could not be taken back.
  if (merges.length > 1 && plan.doubts.length > 0) return refusedBy(deps, context, look, plan.doubts);
  return mergeAll(deps, context, look, merges, until);
}

/** What the stages before it give is given all the same; only then is the card refused. */
async function refusedAtTheStage(
  deps: Deps,
  context: Context,
  look: Look,
): Promise<MoveOutcome | "look_again"> {
  const { reasons } = look.plan;
  const earlier = await lookOnTheWay(deps, context, look);
  if (earlier === null) return refusedBy(deps, context, look, reasons);
  const obstacle = await prepare(deps, context, earlier);
  if (obstacle === "overtaken") return "look_again";
  if (obstacle) {
    const others = reasons.filter(({ repository }) => repository !== obstacle.repository);
    return refusedBy(deps, context, look, [obstacle, ...others]);
  }
  const heads = new Map(
    (await listLinks(deps.db, context.card.id)).map((link) => [link.repository.id, link.headSha]),
  );
  const cut = earlier.plan.steps.filter((step) => step.action === "create_branch");
  // An earlier try had cut it, and somebody has pushed since: there may be something to show after all.
  if (cut.some(({ repositoryId, fromSha }) => heads.get(repositoryId) !== fromSha)) return "look_again";
  const first = cut.find(({ fullName }) => fullName === reasons[0]?.repository);
  return refusedBy(deps, context, look, reasons, first?.fromSha);
}

async function prepare(
  deps: Deps,
  context: Context,
  look: Look,
): Promise<BlockedReason | "overtaken" | null> {
  for (const step of look.plan.steps) {
    if (step.action === "merge") continue;
    const outcome = await takeStep(deps, context, linkOf(look, step), step);
    if (outcome === "overtaken") return outcome;
    if (outcome) return blockedReason(step.fullName, outcome);
  }
  return null;
}

/** The forge has just told where a pull request aims when it was marked ready; of any other the merge has to look. */
const targetToCheck = ({ plan }: Look, merge: MergeStep): string | undefined => {
  const wasMarked = plan.steps.some(
    (step) =>
      step.action === "mark_ready" &&
      step.repositoryId === merge.repositoryId &&
      step.prNumber === merge.prNumber,
  );
  return wasMarked ? undefined : merge.targetBranch;
};

function linkOf(look: Look, step: MoveStep): Link {
  const link = look.links.find((candidate) => candidate.repository.id === step.repositoryId);
  if (!link) throw new Error("a step in a repository the card is not linked to");
  return link;
}

async function mergeAll(
  deps: Deps,
  context: Context,
  look: Look,
  merges: readonly MergeStep[],
  until: number,
): Promise<MoveOutcome | "look_again"> {
  const queued: Promotion[] = [];
  for (const step of merges) {
    const { ref } = linkOf(look, step).repository;
    if (!ref) throw new Error("a merge in a repository without an installation");
    const intent = intentOf(context, step.repositoryId, "merge", String(step.prNumber));
    const known = await findIntent(deps.db, intent);
    if (known?.queued && isInQueue(look, step)) {
      queued.push(promotionOf(step));
      continue;
    }
    // Thrown out of the queue, and a caller wants it there again: what became of the earlier try is asked no more.
    if (known?.queued) await withdrawIntent(deps.db, intent, context.operation);
    await declareIntent(deps, context, intent);
    const order = {
      number: step.prNumber,
      headSha: step.headSha,
      method: context.project.flow.mergeMethod,
      targetBranch: targetToCheck(look, step),
      handle: known?.queued ? undefined : (known?.handle ?? undefined),
    };
    const merged = await deps.forge.merge(ref, order, Math.max(until - performance.now(), LEAST_WAIT_MS));
    if (!merged.ok) {
      await withdrawIntent(deps.db, intent, context.operation);
      return refusedBy(deps, context, look, [blockedReason(step.fullName, merged.refusal)], step.headSha);
    }
    if (merged.value.state === "retargeted" || merged.value.state === "merged_outside") {
      await withdrawIntent(deps.db, intent, context.operation);
      return "look_again";
    }
    if (merged.value.state === "merged") await recordMerged(deps, context, step, merged.value.sha);
    else {
      const { handle, state } = merged.value;
      await acceptMerge(deps.db, intent, { handle, queued: state === "enqueued" });
      queued.push(promotionOf(step));
    }
  }
  const told = await tell(deps, context, look);
  return queued.length > 0 ? { state: "queued", queued, ...told } : { state: "moved", ...told };
}

async function tell(deps: Deps, { operation }: Context, { plan }: Look): Promise<Told> {
  const promoted = await listPromotions(deps.db, operation.id);
  const isOurs = ({ fullName, targetBranch, prNumber }: Landed): boolean =>
    promoted.some(
      (ours) =>
        ours.fullName === fullName && ours.targetBranch === targetBranch && ours.prNumber === prNumber,
    );
  return { promoted, alreadyMerged: plan.landed.filter((landed) => !isOurs(landed)) };
}

const promotionOf = ({ fullName, targetBranch, prNumber }: Promotion): Promotion => ({
  fullName,
  targetBranch,
  prNumber,
});

async function refusedBy(
  deps: Deps,
  context: Context,
  look: Look,
  reasons: readonly BlockedReason[],
  refusedSha?: string,
): Promise<MoveOutcome> {
  const facts = look.repositories.find(({ fullName }) => fullName === reasons[0]?.repository)?.facts;
  const headSha = refusedSha ?? (facts && !("reason" in facts) ? facts.headSha : null);
  return {
    state: "refused",
    reasons: await nameConflicts(deps, look, reasons),
    headSha,
    ...(await tell(deps, context, look)),
  };
}
