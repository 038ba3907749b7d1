import { setDraft } from "../../acts/edit-pull-request.ts";
import { pullRequestToWrite } from "../permission.ts";
import type { Scope } from "../scope.ts";
import type { Mutation } from "./mutation.ts";

interface Input {
  readonly pullRequestId: string;
}

export const markPullRequestReadyForReview: Mutation<Input> = ({ input }, scope) =>
  change(scope, input, false);
export const convertPullRequestToDraft: Mutation<Input> = ({ input }, scope) => change(scope, input, true);

/** An installation needs to write contents too: the permission for pull requests alone was seen refused. */
async function change(scope: Scope, { pullRequestId }: Input, draft: boolean): Promise<object> {
  const { pull, by } = pullRequestToWrite(scope, pullRequestId, "contents:write", "pull_requests:write");
  return { pullRequest: scope.pullRequest(await setDraft(scope.forge, pull.id, by, draft)) };
}
