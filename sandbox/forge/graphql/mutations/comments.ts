import { addComment as addCommentNow } from "../../acts/comments.ts";
import { cursorOf } from "../connection.ts";
import { pullRequestToWrite } from "../permission.ts";
import type { Mutation } from "./mutation.ts";

/** The subject is a pull request: the forge keeps no other conversations. */
export const addComment: Mutation<{ subjectId: string; body: string }> = async ({ input }, scope) => {
  const { pull, by } = pullRequestToWrite(scope, input.subjectId, "pull_requests:write");
  const viaAppId = scope.caller.kind === "installation" ? scope.caller.installation.appId : null;
  const row = await addCommentNow(scope.forge, pull, by, input.body, viaAppId);
  const position = scope.forge.state.comments.in(pull.id).length - 1;
  return {
    subject: scope.pullRequest(scope.forge.state.pullRequests.need(pull.id)),
    commentEdge: {
      cursor: cursorOf(position),
      node: () => scope.comment(row),
    },
  };
};
