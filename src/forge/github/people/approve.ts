import { z } from "zod";
import { PersonTokenRefused, type ApprovalOrder, type Approved } from "../../sign-in.ts";
import type { ForgeResult } from "../../values.ts";
import { account } from "../account-shapes.ts";
import { parseResponse } from "../calls/client.ts";
import { refusedBy, type GitHubRepository } from "../github-repository.ts";
import { mergePullRequest } from "../pull-requests/merge-pull-request.ts";
import { markReady } from "../pull-requests/pull-requests.ts";
import { allPages, PAGE, succeeded } from "../repositories.ts";

const pullShape = z.looseObject({
  node_id: z.string(),
  state: z.string(),
  draft: z.boolean().nullish(),
  merged: z.boolean().nullish(),
  head: z.looseObject({ sha: z.string() }),
});

const reviewShape = z.looseObject({
  state: z.string(),
  commit_id: z.string().nullish(),
  user: account.nullish(),
});

const REVIEWS = "/pulls/{pull_number}/reviews";

type Result<T> = ForgeResult<T>;

/**
 * Approves the head of a pull request as the person who calls, and merges it. What an earlier
 * attempt has done is not done again. Throws `PersonTokenRefused`.
 */
export async function approve(
  repository: GitHubRepository,
  order: ApprovalOrder,
  until: number,
): Promise<Result<Approved>> {
  const { number, headSha, method } = order;
  const response = await repository.read("/pulls/{pull_number}", { pull_number: number });
  if (response.status === 401) throw new PersonTokenRefused();
  if (response.status !== 200) return refusedBy(response);
  const pull = parseResponse(pullShape, response);
  if (pull.head.sha !== headSha) {
    const message = `The pull request has another head now, ${pull.head.sha}.`;
    return { ok: false, refusal: { reason: "head_moved", message } };
  }
  if (pull.merged) return { ok: true, value: { state: "merged" } };
  if (pull.draft) {
    const ready = await markReady(repository, pull.node_id);
    if (!ready.ok) return ready;
  }
  const reviewed = await review(repository, order);
  if (!reviewed.ok) return reviewed;
  const merged = await mergePullRequest({ repository, order: { number, headSha, method }, until });
  if (!merged.ok) return merged;
  const isMerged = merged.value.state === "merged" || merged.value.state === "merged_outside";
  return { ok: true, value: { state: isMerged ? "merged" : "pending" } };
}

/** Submits an approving review of the head, unless the person has one. */
async function review(repository: GitHubRepository, order: ApprovalOrder): Promise<Result<null>> {
  const { number, headSha, reviewerId } = order;
  const done = { ok: true, value: null } as const;
  const find = async (): Promise<Result<null> | null> => {
    const reviews = await allPages(
      (page) => repository.read(REVIEWS, { pull_number: number, per_page: PAGE, page }),
      (response) => parseResponse(z.array(reviewShape), succeeded(response)),
    );
    const isTheirs = reviews.some(
      ({ state, commit_id, user }) =>
        state === "APPROVED" && commit_id === headSha && user?.forgeId === reviewerId,
    );
    return isTheirs ? done : null;
  };
  const write = async (): Promise<Result<null>> => {
    const parameters = { pull_number: number, event: "APPROVE", commit_id: headSha };
    const response = await repository.write(`POST ${REVIEWS}`, parameters);
    return response.status < 300 ? done : refusedBy(response);
  };
  return (await find()) ?? (await repository.runWrite(write, find));
}
