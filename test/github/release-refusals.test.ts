import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type GitHubDouble, openGitHubDouble, OTHER_SHA, SHA, WEB } from "../support/forge/github-double.ts";

const RELEASES = "/repositories/42/releases";
const notes = { tagName: "v1", sha: SHA, name: "Spring", body: "", isPrerelease: false, isLatest: true };
const invalid = (error: object) => ({
  message: "Validation Failed",
  errors: [{ resource: "Release", ...error }],
});

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

describe("a release", () => {
  test("with the tag of an immutable release is refused with GitHub's message", async () => {
    const message = "tag_name was used by an immutable release";
    github.on("POST", RELEASES, 422, invalid({ code: "custom", field: "tag_name", message }));
    expect(await github.forge.publishRelease(WEB, notes)).toEqual({
      ok: false,
      refusal: { reason: "unknown", message },
    });
  });

  test("that a ruleset forbids is refused with GitHub's message", async () => {
    const message =
      "pre_receive Repository rule violations found\n\nCannot create ref due to creations being restricted.";
    github.on("POST", RELEASES, 422, invalid({ code: "custom", field: "pre_receive", message }));
    expect(await github.forge.publishRelease(WEB, notes)).toEqual({
      ok: false,
      refusal: { reason: "protected", message },
    });
  });

  test("that exists as a draft is refused", async () => {
    github.on("POST", RELEASES, 422, invalid({ code: "already_exists", field: "tag_name" }));
    github.on("GET", `${RELEASES}/tags/v1`, 404, { message: "Not Found" });
    github.on("GET", RELEASES, 200, [{ html_url: "https://x.test", tag_name: "v1", draft: true }]);
    expect(await github.forge.publishRelease(WEB, notes)).toEqual({
      ok: false,
      refusal: { reason: "unknown", message: "tag_name already_exists" },
    });
  });
});

// Fault: D14
test("a tag that the rules forbid is refused with GitHub's message", async () => {
  const message = "Repository rule violations found\n\nCannot create ref due to creations being restricted.";
  github.on("POST", "/repositories/42/git/refs", 422, { message });
  expect(await github.forge.createTag(WEB, "v1", SHA)).toEqual({
    ok: false,
    refusal: { reason: "protected", message },
  });
});

test("a pick where the rules of the branch may not be read continues without them", async () => {
  const branch = {
    refUpdateRule: null,
    rules: null,
    target: {
      oid: SHA,
      tree: { oid: SHA },
      history: {
        pageInfo: { hasNextPage: false },
        nodes: [{ oid: OTHER_SHA, message: "Add a", committedDate: "" }],
      },
    },
  };
  const merge = {
    oid: OTHER_SHA,
    message: "Add a",
    authoredDate: "",
    committedDate: "",
    parents: { nodes: [] },
  };
  const pull = {
    merged: true,
    mergeCommit: { ...merge, history: { nodes: [merge] } },
    commits: { totalCount: 0, nodes: [] },
  };
  const forbidden = ["refUpdateRule", "rules"].map((field) => ({
    type: "FORBIDDEN",
    path: ["r0", "branch", field],
    message: "Resource not accessible by integration",
  }));
  const data = { r0: { id: "R_1", databaseId: 42, branch, temp: null, p0: pull } };
  github.on("POST", "/graphql", 200, { data, errors: forbidden });
  const order = {
    branchName: "release/1",
    expectedTip: SHA,
    pullRequests: [1],
    tempBranch: "trunkline/tmp/1",
  };
  expect(await github.forge.preparePick(WEB, order)).toEqual({ ok: true, value: { state: "contained" } });
});

test("a branch that moves during its deletion is not deleted", async () => {
  const branch = (oid: string) => ({ data: { r0: { id: "R_1", databaseId: 42, ref: { target: { oid } } } } });
  github.on("POST", "/graphql", 200, branch(SHA));
  github.on("POST", "/graphql", 200, {
    data: { updateRefs: null },
    errors: [{ type: "UNPROCESSABLE", path: ["updateRefs"], message: "Reference update failed" }],
  });
  github.on("POST", "/graphql", 200, branch(OTHER_SHA));
  expect(await github.forge.deleteBranch(WEB, "release/x", SHA)).toEqual({
    ok: true,
    value: { moved: OTHER_SHA },
  });
});
