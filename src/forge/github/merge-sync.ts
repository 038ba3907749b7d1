import { z } from "zod";
import { shaped } from "./client.ts";
import { UnknownOutcome } from "./failures.ts";
import { allWordsOf } from "./forge-words.ts";
import { graphqlOutcome, refusalOfError } from "./graphql-answer.ts";
import { findMerged, type Merge, type Merged, mergedAs } from "./merge-order.ts";
import { plainTitle } from "./plain-title.ts";
import { readPull } from "./pull-state.ts";
import { refusalOf } from "./refusals.ts";
import { REPOSITORY } from "./repositories.ts";

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

/** Merges in one call, for servers without the asynchronous merge. */
export async function mergeAtOnce(merge: Merge): Promise<Merged> {
  const { caller, order, repository } = merge;
  return await merge.carryOut<Merged>(
    async () => {
      const answer = await caller.write(`PUT ${REPOSITORY}/pulls/{pull_number}/merge`, {
        repository_id: repository.forgeId,
        pull_number: order.number,
        sha: order.headSha,
        merge_method: order.method,
        ...(order.title === undefined ? {} : { commit_title: plainTitle(order.title) }),
      });
      if (answer.status < 300) return mergedAs(shaped(mergedShape, answer).sha);
      if (/through the merge queue/i.test(allWordsOf(answer.body))) return await enqueue(merge);
      return { ok: false, refusal: refusalOf(answer.status, answer.body) };
    },
    () => findMerged(merge),
  );
}

/** The synchronous merge does not put anything into a merge queue, and says so. */
async function enqueue(merge: Merge): Promise<Merged> {
  const { caller, order, repository } = merge;
  const pull = await readPull(caller, repository, order.number);
  if (pull === null) throw new UnknownOutcome("GitHub does not show the pull request");
  const answer = await caller.mutate(ENQUEUE, { pullRequestId: pull.nodeId, headSha: order.headSha });
  const outcome = graphqlOutcome(answer);
  if (outcome.refusal !== undefined) return { ok: false, refusal: outcome.refusal };
  const [error] = outcome.errors;
  const isQueued = error === undefined || /already (in|queued)/i.test(error.message);
  if (!isQueued) return { ok: false, refusal: refusalOfError(error, answer) };
  return { ok: true, value: { state: "enqueued", handle: null } };
}
