import { describe, expect, it } from "@jest/globals";
import { isContentWrite } from "../../src/forge/github/calls/turns.ts";

const PULL = "/repositories/{repository_id}/pulls/{pull_number}";

describe("a write", () => {
  it.each([
    ["POST", "/repositories/{repository_id}/pulls", true],
    ["PUT", `${PULL}/merge`, true],
    ["PUT", `${PULL}/merge-async`, true],
    ["POST", "/repositories/{repository_id}/issues/{issue_number}/comments", true],
    ["PATCH", "/repositories/{repository_id}/issues/comments/{comment_id}", true],
    ["POST", "/repositories/{repository_id}/releases", true],
    ["POST", "/repositories/{repository_id}/merges", true],
    ["POST", "/repositories/{repository_id}/git/commits", true],
    ["POST", "/repositories/{repository_id}/git/refs", false],
    ["DELETE", "/repositories/{repository_id}/git/refs/heads/{branch}", false],
    ["DELETE", "/repositories/{repository_id}/issues/comments/{comment_id}", false],
    ["POST", "/app/hook/deliveries/{delivery_id}/attempts", false],
  ])("%s %s counts as content: %s", (method, route, expected) => {
    expect(isContentWrite({ kind: "rest", method, route })).toBe(expected);
  });

  it.each([
    ["enqueuePullRequest", true],
    ["mergeBranch", true],
    ["markPullRequestReadyForReview", false],
    ["updateRefs", false],
  ])("%s counts as content in GraphQL: %s", (field, expected) => {
    const document = `mutation Do($id: ID!) { ${field}(input: { id: $id }) { clientMutationId } }`;
    expect(isContentWrite({ kind: "graphql", method: "mutation", route: "Do", document })).toBe(expected);
  });
});
