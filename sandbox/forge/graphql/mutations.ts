import * as pullRequests from "./mutations/pull-requests.ts";
import * as refs from "./mutations/refs.ts";
import type { Mutation, Scope } from "./scope.ts";

/** The fields of `Mutation`. */
export const mutations = {
  addComment: withClientId(pullRequests.addComment),
  convertPullRequestToDraft: withClientId(pullRequests.convertPullRequestToDraft),
  createRef: withClientId(refs.createRef),
  deleteRef: withClientId(refs.deleteRef),
  dequeuePullRequest: withClientId(pullRequests.dequeuePullRequest),
  disablePullRequestAutoMerge: withClientId(pullRequests.disablePullRequestAutoMerge),
  enablePullRequestAutoMerge: withClientId(pullRequests.enablePullRequestAutoMerge),
  enqueuePullRequest: withClientId(pullRequests.enqueuePullRequest),
  markPullRequestReadyForReview: withClientId(pullRequests.markPullRequestReadyForReview),
  mergeBranch: withClientId(refs.mergeBranch),
  mergePullRequest: withClientId(pullRequests.mergePullRequest),
  revertPullRequest: withClientId(pullRequests.revertPullRequest),
  updateRef: withClientId(refs.updateRef),
  updateRefs: withClientId(refs.updateRefs),
};

type Input = Readonly<Record<string, unknown>>;

/** Adds `clientMutationId` to the payload. The schema has already validated the input. */
function withClientId<Checked extends object>(mutation: Mutation<Checked>) {
  return async ({ input }: { readonly input: Input }, scope: Scope): Promise<object> => ({
    clientMutationId: input["clientMutationId"] ?? null,
    ...(await mutation({ input: input as Checked }, scope)),
  });
}
