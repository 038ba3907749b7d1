import { z } from "zod";
import type { Refusal } from "../../../flow/refusal.ts";
import { type RepositoryFeature, ForgeUnavailable } from "../../values.ts";
import { parseResponse } from "../calls/client.ts";
import { UnknownOutcome } from "../calls/failures.ts";
import { refusedBy } from "../github-repository.ts";
import { graphqlOutcome, refusalOfError } from "../calls/graphql-response.ts";
import { followMerge, startMerge } from "./merge-async.ts";
import {
  blockerIn,
  findMerged,
  type Merge,
  type Merged,
  mergedAs,
  mergeParameters,
  readPull,
  mergeOutcome,
} from "./merge-state.ts";
import { allMessages } from "../calls/refusals.ts";

/** Temporary states of GitHub. */
const TRANSIENT = /base branch was modified|merge already in progress/i;
/** For conflicts, a closed or merged pull request, or while GitHub computes `mergeable`. */
const AMBIGUOUS = /not mergeable/i;
const REPEAT_AFTER_MS = [1_000, 3_000, 6_000];

export async function mergePullRequest(merge: Merge): Promise<Merged> {
  const { order, repository, until } = merge;
  const { clock, ref } = repository;
  if (order.handle !== undefined) {
    const known = await followMerge(merge, order.handle);
    if (known !== null) return known.ok ? known : await explained(merge, known.refusal);
  }
  if (await isRetargeted(merge)) return { ok: true, value: { state: "retargeted" } };
  const lacks = new Set(ref.lacks);
  for (let repeats = 0; ; repeats++) {
    const result = await tryMerge(merge, lacks);
    if (result.ok) return result;
    const { message } = result.refusal;
    if (!TRANSIENT.test(message) && !AMBIGUOUS.test(message)) return await explained(merge, result.refusal);
    const pull = await readPull(merge);
    const outcome = mergeOutcome(pull, order, message);
    if (outcome !== null) return outcome;
    const blocker = AMBIGUOUS.test(message) ? blockerIn(pull, message) : null;
    if (blocker !== null) return { ok: false, refusal: blocker };
    const wait = REPEAT_AFTER_MS[repeats];
    if (wait === undefined || clock.now() + wait >= until) {
      return outOfTime(message, (pull?.mergeable ?? null) === null);
    }
    await clock.sleep(wait);
  }
}

async function isRetargeted(merge: Merge): Promise<boolean> {
  const { targetBranch } = merge.order;
  if (targetBranch === undefined) return false;
  const pull = await readPull(merge);
  return pull?.state === "open" && pull.base.ref !== targetBranch;
}

/** For a merge that GitHub does not finish although nothing in the pull request blocks it. */
function outOfTime(message: string, isUndecided: boolean): Merged {
  if (/in progress/i.test(message)) return { ok: true, value: { state: "pending", handle: null } };
  if (TRANSIENT.test(message) || isUndecided) throw new ForgeUnavailable(message);
  return { ok: false, refusal: { reason: "unknown", message } };
}

async function tryMerge(merge: Merge, lacks: Set<RepositoryFeature>): Promise<Merged> {
  if (!lacks.has("async_merge")) {
    const result = await startMerge(merge);
    if (result !== "not_offered") return result;
  }
  const result = await mergeSynchronously(merge);
  // 404 for the first call may also mean that the repository or pull request does not exist.
  const exists = result.ok || result.refusal.reason !== "not_permitted";
  if (exists && !lacks.has("async_merge")) {
    lacks.add("async_merge");
    await merge.repository.onMissingFeature(merge.repository.ref.forgeId, "async_merge");
  }
  return result;
}

/**
 * Reads the pull request if it may have been merged, closed or pushed to since, or if the message is
 * not known: then its state shows at least the kind of cause.
 */
async function explained(merge: Merge, refusal: Refusal): Promise<Merged> {
  const { reason, message } = refusal;
  const isClear = !["unknown", "pull_request_closed", "conflicts"].includes(reason);
  const pull = isClear ? null : await readPull(merge);
  const outcome = mergeOutcome(pull, merge.order, message);
  const shown = reason === "unknown" ? blockerIn(pull, message) : null;
  return outcome ?? { ok: false, refusal: shown ?? refusal };
}

const mergedShape = z.looseObject({ merged: z.literal(true), sha: z.string() });

export const ENQUEUE = /* GraphQL */ `
  mutation Enqueue($pullRequestId: ID!, $headSha: GitObjectID!) {
    enqueuePullRequest(input: { pullRequestId: $pullRequestId, expectedHeadOid: $headSha }) {
      mergeQueueEntry {
        id
      }
    }
  }
`;

/** For servers without the asynchronous merge. */
async function mergeSynchronously(merge: Merge): Promise<Merged> {
  const { order, repository } = merge;
  return await repository.runWrite<Merged>(
    async () => {
      const response = await repository.write("PUT /pulls/{pull_number}/merge", mergeParameters(order));
      if (response.status < 300) return mergedAs(parseResponse(mergedShape, response).sha);
      if (/through the merge queue/i.test(allMessages(response.body))) return await enqueue(merge);
      return refusedBy(response);
    },
    () => findMerged(merge),
  );
}

async function enqueue(merge: Merge): Promise<Merged> {
  const pull = await readPull(merge);
  if (pull === null) throw new UnknownOutcome("GitHub does not show the pull request");
  const { order, repository } = merge;
  const variables = { pullRequestId: pull.node_id, headSha: order.headSha };
  const response = await repository.caller.mutate(ENQUEUE, variables);
  const outcome = graphqlOutcome(response);
  if (!outcome.ok) return outcome;
  const [error] = outcome.value.errors;
  const isQueued = error === undefined || /already (in|queued)/i.test(error.message);
  if (!isQueued) return { ok: false, refusal: refusalOfError(error, response) };
  return { ok: true, value: { state: "enqueued", handle: null } };
}
