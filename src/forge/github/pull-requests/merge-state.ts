import { z } from "zod";
import type { Refusal, RefusalReason } from "../../../flow/refusal.ts";
import type { MergeOrder, MergeResult } from "../../pull-requests.ts";
import type { ForgeResult } from "../../values.ts";
import { parseResponse } from "../calls/client.ts";
import type { GitHubRepository } from "../github-repository.ts";
import { plainTitle } from "./pull-requests.ts";
import { succeeded } from "../repositories.ts";

export interface Merge {
  readonly repository: GitHubRepository;
  readonly order: MergeOrder;
  /** The end of waiting, by `MonotonicClock`. */
  readonly until: number;
}

export type Merged = ForgeResult<MergeResult>;

const pullShape = z.looseObject({
  node_id: z.string(),
  state: z.string(),
  merged: z.boolean().nullish(),
  merged_at: z.string().nullish(),
  merged_by: z.looseObject({ type: z.string().nullish() }).nullish(),
  merge_commit_sha: z.string().nullish(),
  /** Null while GitHub computes it. */
  mergeable: z.boolean().nullish(),
  /** Such as `dirty`, `behind` or `blocked`. */
  mergeable_state: z.string().nullish(),
  head: z.looseObject({ sha: z.string() }),
  base: z.looseObject({ ref: z.string() }),
});

type Pull = z.infer<typeof pullShape>;

export async function readPull({ repository, order }: Omit<Merge, "until">): Promise<Pull | null> {
  const response = await repository.read("/pulls/{pull_number}", { pull_number: order.number });
  if (response.status === 404) return null;
  return parseResponse(pullShape, succeeded(response));
}

export const mergeParameters = ({ number, headSha, method, title }: MergeOrder) => ({
  pull_number: number,
  sha: headSha,
  merge_method: method,
  ...(title === undefined ? {} : { commit_title: plainTitle(title) }),
});

export const mergedAs = (sha: string): Merged => ({ ok: true, value: { state: "merged", sha } });

export async function findMerged(merge: Merge): Promise<Merged | null> {
  const pull = await readPull(merge);
  return pull === null ? null : mergedIn(pull);
}

function mergedIn(pull: Pull): Merged | null {
  if (!pull.merged && !pull.merged_at) return null;
  if (pull.merged_by?.type === "User") return { ok: true, value: { state: "merged_outside" } };
  return mergedAs(pull.merge_commit_sha ?? pull.head.sha);
}

/** The result from the state of the pull request; null if it may still be merged. */
export function mergeOutcome(pull: Pull | null, order: MergeOrder, message: string): Merged | null {
  if (pull === null) return null;
  const merged = mergedIn(pull);
  if (merged !== null) return merged;
  if (pull.state !== "open") return { ok: false, refusal: { reason: "pull_request_closed", message } };
  if (pull.head.sha !== order.headSha) return { ok: false, refusal: { reason: "head_moved", message } };
  return null;
}

const REASON_OF_STATE: Readonly<Record<string, RefusalReason>> = {
  dirty: "conflicts",
  behind: "behind_base",
  blocked: "protected",
};

/** What blocks the merge when GitHub's message does not show it; null for nothing. */
export function blockerIn(pull: Pull | null, message: string): Refusal | null {
  if (pull === null) return null;
  if (pull.mergeable === false) return { reason: "conflicts", message };
  const reason = REASON_OF_STATE[pull.mergeable_state ?? ""];
  return reason === undefined ? null : { reason, message };
}
