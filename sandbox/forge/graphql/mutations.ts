import { addComment } from "./mutations/comments.ts";
import { convertPullRequestToDraft, markPullRequestReadyForReview } from "./mutations/draft-state.ts";
import * as merges from "./mutations/merges.ts";
import { withClientId } from "./mutations/mutation.ts";
import { createRef, deleteRef, updateRef, updateRefs } from "./mutations/refs.ts";

/** The fields of `Mutation`. */
export const mutations = {
  addComment: withClientId(addComment),
  convertPullRequestToDraft: withClientId(convertPullRequestToDraft),
  createRef: withClientId(createRef),
  deleteRef: withClientId(deleteRef),
  dequeuePullRequest: withClientId(merges.dequeuePullRequest),
  disablePullRequestAutoMerge: withClientId(merges.disablePullRequestAutoMerge),
  enablePullRequestAutoMerge: withClientId(merges.enablePullRequestAutoMerge),
  enqueuePullRequest: withClientId(merges.enqueuePullRequest),
  markPullRequestReadyForReview: withClientId(markPullRequestReadyForReview),
  mergeBranch: withClientId(merges.mergeBranch),
  mergePullRequest: withClientId(merges.mergePullRequest),
  revertPullRequest: withClientId(merges.revertPullRequest),
  updateRef: withClientId(updateRef),
  updateRefs: withClientId(updateRefs),
};
