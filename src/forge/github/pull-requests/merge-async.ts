import { z } from "zod";
import { ForgeUnavailable } from "../../values.ts";
import { type Answer, shaped, unexpected } from "../calls/client.ts";
import { refusedBy } from "../github-repository.ts";
import { findMerged, type Merge, type Merged, mergedAs, mergeParameters } from "./pull-state.ts";
import { refusalOf } from "../calls/refusals.ts";

const MERGE_ASYNC = "/pulls/{pull_number}/merge-async";
/** Small merges are done within the first call; after that GitHub asks for about one look a second. */
const LOOK_AFTER_MS = [0, 400];
const LOOK_EVERY_MS = 1_000;

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
 * Asks GitHub to merge in the background and follows it (https://docs.github.com/en/rest/pulls/pulls, since October 2026).
 * It is the only way to merge stacked pull requests, and it uses the merge queue where there is one.
 */
export async function startMerge(merge: Merge): Promise<Merged | "not_offered"> {
  const { repository, order } = merge;
  return await repository.carryOut<Merged | "not_offered">(
    async () => {
      const answer = await repository.write(`PUT ${MERGE_ASYNC}`, {
        ...mergeParameters(order),
        merge_action: "default",
      });
      if (answer.status === 404) return "not_offered";
      // 409 with a result hands out the merge that is under way; without one it is a refusal.
      const isResult = answer.status < 300 || resultShape.safeParse(answer.body).success;
      if (!isResult) return refusedBy(answer);
      return await acted(merge, answer, shaped(resultShape, answer));
    },
    () => findMerged(merge),
  );
}

/** Waits for a merge under way as long as there is time; null when GitHub no longer knows it (after 24 hours). */
export async function followMerge(merge: Merge, uuid: string): Promise<Merged | null> {
  const { repository, until } = merge;
  const { clock } = repository;
  for (let looks = 0; ; looks++) {
    const wait = LOOK_AFTER_MS[looks] ?? LOOK_EVERY_MS;
    if (looks > 0 && clock.now() + wait > until) return pendingWith(uuid);
    if (wait > 0) await clock.sleep(wait);
    const answer = await look(merge, uuid);
    if (answer === null) continue;
    if (answer.status === 404) return null;
    if (answer.status >= 400) return refusedBy(answer);
    const result = shaped(resultShape, answer);
    if (result.status !== "pending") return await finished(merge, answer, result, uuid);
  }
}

async function acted(merge: Merge, answer: Answer, result: AsyncResult): Promise<Merged> {
  const { uuid, expected_head_sha: expected } = result.details;
  // It was merged before we asked: the answer does not tell by whom.
  const earlier = result.status === "merged" ? await findMerged(merge) : null;
  if (earlier !== null) return earlier;
  if (result.status !== "pending") return await finished(merge, answer, result, uuid ?? null);
  if (!uuid) throw unexpected(answer, "details.uuid");
  if (expected && expected !== merge.order.headSha) {
    // Somebody else's merge, of another commit than ours.
    return { ok: false, refusal: { ...refusalOf(answer.status, answer.body), reason: "head_moved" } };
  }
  return (await followMerge(merge, uuid)) ?? pendingWith(uuid);
}

async function finished(
  merge: Merge,
  answer: Answer,
  result: AsyncResult,
  handle: string | null,
): Promise<Merged> {
  if (result.status === "failed") return refusedBy(answer);
  if (result.status === "merged" && result.details.sha) return mergedAs(result.details.sha);
  // A queued merge stays "enqueued" here for ever; only the pull request tells that the queue has landed it.
  const merged = await findMerged(merge);
  if (merged !== null) return merged;
  if (result.status === "merged") throw unexpected(answer, "details.sha");
  return { ok: true, value: { state: "enqueued", handle } };
}

/** Null where this look brought no answer; the next one may. */
async function look({ repository, order }: Merge, uuid: string): Promise<Answer | null> {
  try {
    return await repository.read(`${MERGE_ASYNC}/{uuid}`, { pull_number: order.number, uuid });
  } catch (error) {
    if (error instanceof ForgeUnavailable) return null;
    throw error;
  }
}

function pendingWith(handle: string): Merged {
  return { ok: true, value: { state: "pending", handle } };
}
