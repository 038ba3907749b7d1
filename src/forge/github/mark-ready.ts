import { z } from "zod";
import type { Ordered } from "../forge.ts";
import { type Caller, shaped } from "./client.ts";
import type { CarryOut } from "./carry-out.ts";
import { UnknownOutcome } from "./failures.ts";
import { graphqlOutcome, refusalOfError } from "./graphql-answer.ts";

/** There is no REST call for it. */
export const MARK_READY = /* GraphQL */ `
  mutation MarkReady($pullRequestId: ID!) {
    markPullRequestReadyForReview(input: { pullRequestId: $pullRequestId }) {
      pullRequest {
        isDraft
        baseRefName
      }
    }
  }
`;

export const READ_DRAFT_STATE = /* GraphQL */ `
  query DraftState($pullRequestId: ID!) {
    node(id: $pullRequestId) {
      ... on PullRequest {
        isDraft
      }
    }
  }
`;

const markedShape = z.looseObject({
  data: z.looseObject({
    markPullRequestReadyForReview: z.looseObject({
      pullRequest: z.looseObject({ isDraft: z.boolean(), baseRefName: z.string().nullish() }),
    }),
  }),
});
const stateShape = z.looseObject({ node: z.looseObject({ isDraft: z.boolean() }).nullish() });

type Ready = Ordered<{ readonly targetBranch: string | null }>;

/** Marks a draft ready for review; the handle names the pull request whatever its repository is called now. */
export async function markReady(caller: Caller, carryOut: CarryOut, nodeId: string): Promise<Ready> {
  const find = async (): Promise<Ready | null> =>
    (await isReady(caller, nodeId)) ? { ok: true, value: { targetBranch: null } } : null;
  return await carryOut<Ready>(async () => {
    const answer = await caller.mutate(MARK_READY, { pullRequestId: nodeId });
    const outcome = graphqlOutcome(answer);
    if (outcome.refusal !== undefined) return { ok: false, refusal: outcome.refusal };
    const [error] = outcome.errors;
    if (error !== undefined) {
      const refusal = refusalOfError(error, answer);
      return (await find()) ?? { ok: false, refusal };
    }
    const marked = shaped(markedShape, answer).data.markPullRequestReadyForReview.pullRequest;
    if (marked.isDraft) throw new UnknownOutcome("GitHub left the pull request a draft without saying why");
    return { ok: true, value: { targetBranch: marked.baseRefName ?? null } };
  }, find);
}

async function isReady(caller: Caller, nodeId: string): Promise<boolean> {
  const outcome = graphqlOutcome(await caller.query(READ_DRAFT_STATE, { pullRequestId: nodeId }));
  if (outcome.refusal !== undefined) return false;
  const state = stateShape.safeParse(outcome.data);
  return state.success && state.data.node?.isDraft === false;
}
