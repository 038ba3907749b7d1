import { z } from "zod";
import { ForgeLimited, ForgeUnavailable } from "../../values.ts";
import { type GitHubResponse, parseResponse, unexpectedResponse } from "../calls/client.ts";
import { refusedBy } from "../github-repository.ts";
import { findMerged, type Merge, type Merged, mergedAs, mergeParameters } from "./merge-state.ts";
import { refusalOf } from "../calls/refusals.ts";

const MERGE_ASYNC = "/pulls/{pull_number}/merge-async";
/** Small merges finish at once; for others, GitHub recommends to poll about once a second. */
const POLL_AFTER_MS = [0, 400];
const POLL_EVERY_MS = 1_000;

const resultShape = z.looseObject({
  status: z.enum(["pending", "merged", "enqueued", "failed"]),
  details: z.looseObject({
    message: z.string().nullish(),
    uuid: z.string().nullish(),
    sha: z.string().nullish(),
    expected_head_sha: z.string().nullish(),
  }),
});
type AsyncResult = z.infer<typeof resultShape>;

/**
 * Merges in the background (https://docs.github.com/en/rest/pulls/pulls, since October 2026). This
 * uses the target's merge queue, and is the only way to merge stacked pull requests.
 */
export async function startMerge(merge: Merge): Promise<Merged | "not_offered"> {
  const { repository, order } = merge;
  return await repository.runWrite<Merged | "not_offered">(
    async () => {
      const response = await repository.write(`PUT ${MERGE_ASYNC}`, {
        ...mergeParameters(order),
        merge_action: "default",
      });
      if (response.status === 404) return "not_offered";
      // 409 with a result is a merge that is in progress; without one it is a refusal.
      const isResult = response.status < 300 || resultShape.safeParse(response.body).success;
      if (!isResult) return refusedBy(response);
      return await follow(merge, response, parseResponse(resultShape, response));
    },
    () => findMerged(merge),
  );
}

/** Polls a merge until `until`; null when GitHub no longer knows it (after 24 hours). */
export async function followMerge(merge: Merge, uuid: string): Promise<Merged | null> {
  const { repository, order, until } = merge;
  const { clock } = repository;
  for (let polls = 0; ; polls++) {
    const wait = POLL_AFTER_MS[polls] ?? POLL_EVERY_MS;
    if (polls > 0 && clock.now() + wait > until) return pendingWith(uuid);
    if (wait > 0) await clock.sleep(wait);
    const parameters = { pull_number: order.number, uuid };
    const response = await repository.read(`${MERGE_ASYNC}/{uuid}`, parameters).catch(orUnavailable);
    // Until the limit ends, no read is sent.
    if (response instanceof ForgeLimited) return pendingWith(uuid);
    if (response instanceof ForgeUnavailable) continue;
    if (response.status === 404) return null;
    if (response.status >= 400) return refusedBy(response);
    const result = parseResponse(resultShape, response);
    if (result.status !== "pending") return await finished(merge, response, result, uuid);
  }
}

function orUnavailable(error: unknown): ForgeUnavailable {
  if (error instanceof ForgeUnavailable) return error;
  throw error;
}

async function follow(merge: Merge, response: GitHubResponse, result: AsyncResult): Promise<Merged> {
  const { uuid, expected_head_sha: expected } = result.details;
  if (result.status !== "pending") return await finished(merge, response, result, uuid ?? null);
  if (!uuid) throw unexpectedResponse(response, "details.uuid");
  if (expected && expected !== merge.order.headSha) {
    // Another merge of another head is in progress.
    return { ok: false, refusal: { ...refusalOf(response.status, response.body), reason: "head_moved" } };
  }
  return (await followMerge(merge, uuid)) ?? pendingWith(uuid);
}

async function finished(
  merge: Merge,
  response: GitHubResponse,
  result: AsyncResult,
  handle: string | null,
): Promise<Merged> {
  if (result.status === "failed") return refusedBy(response);
  // Only the pull request shows who merged: a person may have done it before or during this merge.
  // It also shows that the merge queue merged; the status stays "enqueued" then.
  const merged = await findMerged(merge);
  if (merged !== null) return merged;
  if (result.status === "enqueued") return { ok: true, value: { state: "enqueued", handle } };
  if (!result.details.sha) throw unexpectedResponse(response, "details.sha");
  return mergedAs(result.details.sha);
}

function pendingWith(handle: string): Merged {
  return { ok: true, value: { state: "pending", handle } };
}
