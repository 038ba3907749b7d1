import type { Refusal } from "../../flow/refusal.ts";
import { type Feature, ForgeUnavailable } from "../forge.ts";
import { followMerge, startMerge } from "./merge-async.ts";
import type { Merge, Merged } from "./merge-order.ts";
import { mergeAtOnce } from "./merge-sync.ts";
import { obstacleIn, type PullState, readPull, settledBy } from "./pull-state.ts";

/** GitHub's own doing, gone in a moment (Prow's Tide waits 4 s and 8 s before it tries again). */
const TRANSIENT = /base branch was modified|merge already in progress/i;
/** The wording for conflicts, a closed or merged pull request, and for GitHub not knowing yet. */
const AMBIGUOUS = /not mergeable/i;
const REPEAT_AFTER_MS = [1_000, 3_000, 6_000];

/** Merges with the head pinned; what GitHub shows as merged by nobody else is a success. */
export async function mergePullRequest(merge: Merge): Promise<Merged> {
  const { clock, order, caller, repository } = merge;
  if (order.handle !== undefined) {
    const known = await followMerge(merge, order.handle);
    if (known !== null) return known.ok ? known : await explained(merge, known.refusal);
  }
  if (await isRetargeted(merge)) return { ok: true, value: { state: "retargeted" } };
  const lacks = new Set(repository.lacks);
  for (let repeats = 0; ; repeats++) {
    const result = await tryMerge(merge, lacks);
    if (result.ok) return result;
    const { message } = result.refusal;
    if (!TRANSIENT.test(message) && !AMBIGUOUS.test(message)) return await explained(merge, result.refusal);
    const pull = await readPull(caller, repository, order.number);
    const settled = settledBy(pull, order, message) ?? obstructed(pull, message);
    if (settled !== null) return settled;
    const wait = REPEAT_AFTER_MS[repeats];
    if (wait === undefined || clock.now() + wait >= merge.until) return outOfTime(message, pull);
    await clock.sleep(wait);
  }
}

async function isRetargeted({ caller, repository, order }: Merge): Promise<boolean> {
  if (order.targetBranch === undefined) return false;
  const pull = await readPull(caller, repository, order.number);
  return pull !== null && pull.isOpen && pull.targetBranch !== order.targetBranch;
}

function obstructed(pull: PullState | null, message: string): Merged | null {
  const obstacle = pull !== null && AMBIGUOUS.test(message) ? obstacleIn(pull, message) : null;
  return obstacle === null ? null : { ok: false, refusal: obstacle };
}

/** Nothing in the pull request stands in the way, and still GitHub does not merge it. */
function outOfTime(message: string, pull: PullState | null): Merged {
  if (/in progress/i.test(message)) return { ok: true, value: { state: "pending", handle: null } };
  const isUndecided = pull === null || pull.mergeable === null;
  if (TRANSIENT.test(message) || isUndecided) throw new ForgeUnavailable(message);
  return { ok: false, refusal: { reason: "unknown", message } };
}

async function tryMerge(merge: Merge, lacks: Set<Feature>): Promise<Merged> {
  if (!lacks.has("async_merge")) {
    const result = await startMerge(merge);
    if (result !== "not_offered") return result;
  }
  const result = await mergeAtOnce(merge);
  // A repository or pull request that is gone answers 404 as well; that says nothing about what is offered.
  const isThere = result.ok || result.refusal.reason !== "not_permitted";
  if (isThere && !lacks.has("async_merge")) {
    lacks.add("async_merge");
    await merge.onLacking(merge.repository.forgeId, "async_merge");
  }
  return result;
}

/** A refusal may only mean that the pull request was merged, closed or pushed to in the meantime. */
async function explained(merge: Merge, refusal: Refusal): Promise<Merged> {
  const { caller, repository, order } = merge;
  if (!["unknown", "pull_request_closed", "conflicts"].includes(refusal.reason))
    return { ok: false, refusal };
  const pull = await readPull(caller, repository, order.number);
  return settledBy(pull, order, refusal.message) ?? { ok: false, refusal };
}
