import { z } from "zod";
import type { Refusal, RefusalReason } from "../../flow/refusal.ts";
import type { MergeOrder, MergeResult, Ordered, RepositoryRef } from "../forge.ts";
import { type Caller, shaped } from "./client.ts";
import { REPOSITORY, succeeded } from "./repositories.ts";

const pullShape = z.looseObject({
  node_id: z.string(),
  state: z.string(),
  merged: z.boolean().nullish(),
  merged_at: z.string().nullish(),
  merged_by: z.looseObject({ type: z.string().nullish() }).nullish(),
  merge_commit_sha: z.string().nullish(),
  mergeable: z.boolean().nullish(),
  mergeable_state: z.string().nullish(),
  head: z.looseObject({ sha: z.string() }),
  base: z.looseObject({ ref: z.string() }),
});

/** One pull request as a merge needs to see it. */
export interface PullState {
  readonly nodeId: string;
  readonly isOpen: boolean;
  /** Set once it is merged. */
  readonly mergeSha: string | null;
  readonly isMergedByPerson: boolean;
  readonly headSha: string;
  readonly targetBranch: string;
  /** Null while GitHub is working it out. */
  readonly mergeable: boolean | null;
  /** GitHub's word for what stands in the way: dirty, behind, blocked. */
  readonly mergeableState: string;
}

export async function readPull(
  caller: Caller,
  repository: RepositoryRef,
  number: number,
): Promise<PullState | null> {
  const parameters = { repository_id: repository.forgeId, pull_number: number };
  const answer = await caller.read(`GET ${REPOSITORY}/pulls/{pull_number}`, parameters);
  if (answer.status === 404) return null;
  const pull = shaped(pullShape, succeeded(answer));
  const isMerged = pull.merged === true || (pull.merged_at ?? null) !== null;
  return {
    nodeId: pull.node_id,
    isOpen: pull.state === "open",
    mergeSha: isMerged ? (pull.merge_commit_sha ?? pull.head.sha) : null,
    isMergedByPerson: isMerged && pull.merged_by?.type === "User",
    headSha: pull.head.sha,
    targetBranch: pull.base.ref,
    mergeable: pull.mergeable ?? null,
    mergeableState: pull.mergeable_state ?? "",
  };
}

/** Null when it is not merged. */
export function mergedIn({ mergeSha, isMergedByPerson }: PullState): Ordered<MergeResult> | null {
  if (isMergedByPerson) return { ok: true, value: { state: "merged_outside" } };
  return mergeSha === null ? null : { ok: true, value: { state: "merged", sha: mergeSha } };
}

/** What the pull request's state alone says about the order; null when it can still be merged. */
export function settledBy(
  pull: PullState | null,
  order: MergeOrder,
  words: string,
): Ordered<MergeResult> | null {
  if (pull === null) return null;
  const merged = mergedIn(pull);
  if (merged !== null) return merged;
  if (!pull.isOpen) return { ok: false, refusal: { reason: "pull_request_closed", message: words } };
  if (pull.headSha !== order.headSha) return { ok: false, refusal: { reason: "head_moved", message: words } };
  return null;
}

const REASON_OF_STATE: Readonly<Record<string, RefusalReason>> = {
  dirty: "conflicts",
  behind: "behind_base",
  blocked: "protected",
};

/** Why it cannot be merged, for an answer whose words do not say; null when nothing stands in the way. */
export function obstacleIn(pull: PullState, message: string): Refusal | null {
  if (pull.mergeable === false) return { reason: "conflicts", message };
  const reason = REASON_OF_STATE[pull.mergeableState];
  return reason === undefined ? null : { reason, message };
}
