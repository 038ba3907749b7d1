import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ForgeUnavailable } from "../../src/forge/values.ts";
import { type GitHubDouble, openGitHubDouble, SHA, WEB } from "../support/forge/github-double.ts";

const PULLS = "/repositories/42/pulls";
const BRANCH = "card/7-login";
const draft = {
  title: "Login",
  body: "",
  headBranch: BRANCH,
  targetBranch: "main",
  isDraft: true,
  isRetry: false,
  highestKnownNumber: 4,
  isReported: () => Promise.resolve(false),
};
const opened = { number: 5, nodeId: "PR_5", isDraft: true, headSha: SHA };

function pull(over: Record<string, unknown> = {}) {
  return {
    number: 5,
    node_id: "PR_5",
    draft: true,
    head: { ref: BRANCH, sha: SHA, repo: { id: 42 } },
    base: { ref: "main" },
    ...over,
  };
}

function invalid(message: string) {
  return { message: "Validation Failed", errors: [{ resource: "PullRequest", code: "custom", message }] };
}

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

describe("opening a pull request", () => {
  test("takes one call with a one-line title", async () => {
    github.on("POST", PULLS, 201, pull());
    const title = "Login\nCo-authored-by: somebody";
    expect(await github.forge.openPullRequest(WEB, { ...draft, title })).toEqual({ ok: true, value: opened });
    expect(github.requests.map(({ body }) => body)).toEqual([
      { title: "Login Co-authored-by: somebody", body: "", head: BRANCH, base: "main", draft: true },
    ]);
  });

  test("adopts an open one of any author, and no other", async () => {
    github.on("POST", PULLS, 422, invalid(`A pull request already exists for acme:${BRANCH}.`));
    github.on("GET", PULLS, 200, [
      pull({ number: 9, head: { ref: BRANCH, sha: SHA, repo: { id: 99 } } }),
      pull({ number: 8, head: { ref: BRANCH, sha: SHA, repo: null } }),
      pull({ number: 7, base: { ref: "next" } }),
      pull({ number: 6, head: { ref: "other", sha: SHA, repo: { id: 42 } } }),
      pull(),
      pull({ number: 4 }),
    ]);
    expect(await github.forge.openPullRequest(WEB, draft)).toEqual({ ok: true, value: opened });
    expect(github.requests[1]?.query).toMatchObject({ head: `acme:${BRANCH}`, state: "all", base: "main" });
  });

  test("finds it under the owner's new name", async () => {
    github.on("POST", PULLS, 422, invalid(`A pull request already exists for acme-inc:${BRANCH}.`));
    github.on("GET", PULLS, 200, []);
    github.on("GET", "/repositories/42", 200, { id: 42, full_name: "acme-inc/web", default_branch: "main" });
    github.on("GET", PULLS, 200, [pull()]);
    expect(await github.forge.openPullRequest(WEB, draft)).toEqual({ ok: true, value: opened });
    expect(github.requests[3]?.query["head"]).toBe(`acme-inc:${BRANCH}`);
  });

  test("without commits is refused as nothing_to_merge", async () => {
    const message = `No commits between main and ${BRANCH}`;
    github.on("POST", PULLS, 422, invalid(message));
    expect(await github.forge.openPullRequest(WEB, draft)).toEqual({
      ok: false,
      refusal: { reason: "nothing_to_merge", message },
    });
  });

  test.each([
    ["in the message", { message: "Draft pull requests are not supported in this repository." }],
    ["in the errors", invalid("Draft pull requests are not supported in this repository.")],
  ])("opens it as ready if the repository has no drafts (%s), and remembers it", async (_, refusal) => {
    const notAvailable: unknown[] = [];
    github = openGitHubDouble({ onMissingFeature: async (...output) => void notAvailable.push(output) });
    github.on("POST", PULLS, 422, refusal);
    github.on("POST", PULLS, 201, pull({ draft: false }));
    const value = { ...opened, isDraft: false };
    expect(await github.forge.openPullRequest(WEB, draft)).toEqual({ ok: true, value });
    expect(notAvailable).toEqual([[WEB.forgeId, "drafts"]]);
    github.on("POST", PULLS, 201, pull({ draft: false }));
    const known = { ...WEB, lacks: ["drafts"] } as const;
    expect(await github.forge.openPullRequest(known, draft)).toEqual({ ok: true, value });
    expect(github.requests.map(({ body }) => Object(body).draft)).toEqual([true, false, false]);
  });

  // Fault: C2
  test.each([500, 502, 504])("finds the effect of a call that returned %i", async (status) => {
    github.on("POST", PULLS, status, {});
    github.on("GET", PULLS, 200, [pull()]);
    expect(await github.forge.openPullRequest(WEB, draft)).toEqual({ ok: true, value: opened });
    expect(github.sent("POST", "/pulls")).toHaveLength(1);
  });

  // Fault: C3
  test("finds the effect after a timeout", async () => {
    github.done();
    github = openGitHubDouble({ requestTimeoutMs: 500 });
    github.late("POST", PULLS, 1_500, 201, pull());
    github.on("GET", PULLS, 200, [pull()]);
    expect(await github.forge.openPullRequest(WEB, draft)).toEqual({ ok: true, value: opened });
  });

  // Fault: C14
  test.each([
    ["a missing field", pull({ node_id: undefined })],
    ["a page of HTML", "<html>all is well</html>"],
    ["half of the JSON", '{"number": 5, "node'],
  ])("does not accept %s as success", async (_, body) => {
    github.on("POST", PULLS, 201, body);
    github.on("GET", PULLS, 200, [pull()]);
    expect(await github.forge.openPullRequest(WEB, draft)).toEqual({ ok: true, value: opened });
  });
});

const BOT = 900;
const closed = (over: Record<string, unknown> = {}) =>
  pull({
    state: "closed",
    created_at: "2026-11-20T12:00:00Z",
    merged_at: null,
    user: { id: BOT },
    ...over,
  });
const ended = (state: string) => ({
  ok: true,
  value: { ...opened, authorId: BOT, ended: { state, openedAt: "2026-11-20T12:00:00Z" } },
});

/** The App's own account is read once. */
function identified() {
  github.on("GET", "/app", 200, { slug: "trunkline" });
  github.on("GET", "/app/installations", 200, [{ id: 7, account: { id: 1, login: "acme" } }]);
  github.on("GET", "/users/trunkline%5Bbot%5D", 200, { id: BOT, login: "trunkline[bot]" });
}

// Fault: C17 A pull request is closed before it is found => not opened again
describe("a pull request that was closed or merged before its opening was recorded", () => {
  test.each([
    ["closed", null],
    ["merged", "2026-11-20T12:00:03Z"],
  ])("is found %s and not opened again", async (state, merged_at) => {
    identified();
    github.on("POST", PULLS, 502, {});
    github.on("GET", PULLS, 200, [closed({ merged_at })]);
    expect(await github.forge.openPullRequest(WEB, draft)).toEqual(ended(state));
    expect(github.sent("POST", "/pulls")).toHaveLength(1);
  });

  test("is searched before a later attempt opens one", async () => {
    identified();
    github.on("GET", PULLS, 200, [closed()]);
    const repeated = { ...draft, isRetry: true };
    expect(await github.forge.openPullRequest(WEB, repeated)).toEqual(ended("closed"));
    // No write was sent, so no search after it is needed.
    expect(github.clock.slept).toEqual([]);
  });

  test.each([false, true])("is not opened again after its webhook, repeated: %s", async (isRetry) => {
    if (!isRetry) github.on("POST", PULLS, 502, {});
    github.on("GET", PULLS, 200, []);
    github.on("GET", "/repositories/42", 200, { id: 42, full_name: "acme/web", default_branch: "main" });
    const reported = { ...draft, isRetry, isReported: () => Promise.resolve(true) };
    await expect(github.forge.openPullRequest(WEB, reported)).rejects.toThrow(ForgeUnavailable);
    expect(github.sent("POST", "/pulls")).toHaveLength(isRetry ? 0 : 1);
  });

  test("is distinguished from earlier ones, those of others and those with other targets", async () => {
    identified();
    github.on("GET", PULLS, 200, [
      closed({ number: 8, user: { id: 1 } }),
      closed({ number: 7, base: { ref: "next" } }),
      closed({ number: 4 }),
    ]);
    github.on("GET", "/repositories/42", 200, { id: 42, full_name: "acme/web", default_branch: "main" });
    github.on("POST", PULLS, 201, pull());
    const repeated = { ...draft, isRetry: true };
    expect(await github.forge.openPullRequest(WEB, repeated)).toEqual({ ok: true, value: opened });
  });

  test("is ignored if another one is open", async () => {
    github.on("GET", PULLS, 200, [closed({ number: 6 }), pull()]);
    const repeated = { ...draft, isRetry: true };
    expect(await github.forge.openPullRequest(WEB, repeated)).toEqual({ ok: true, value: opened });
  });
});

const ready = { data: { markPullRequestReadyForReview: { pullRequest: { isDraft: false } } } };
const refusedWith = (type: string | null, message: string) => ({
  data: { markPullRequestReadyForReview: null },
  errors: [{ type, path: ["markPullRequestReadyForReview"], message }],
});

describe("marking ready", () => {
  test("takes one call with its id as a variable", async () => {
    github.on("POST", "/graphql", 200, ready);
    expect(await github.forge.markReady(WEB, "PR_5")).toMatchObject({ ok: true });
    expect(github.requests[0]?.body).toMatchObject({ variables: { pullRequestId: "PR_5" } });
  });

  test("succeeds if it is ready already", async () => {
    github.on("POST", "/graphql", 200, refusedWith("UNPROCESSABLE", "Pull request is not a draft"));
    github.on("POST", "/graphql", 200, { data: { node: { isDraft: false } } });
    expect(await github.forge.markReady(WEB, "PR_5")).toMatchObject({ ok: true });
  });

  test.each([
    ["FORBIDDEN", "Resource not accessible by integration", "not_permitted"],
    ["NOT_FOUND", "Could not resolve to a node with the global id of 'PR_5'", "not_permitted"],
    ["UNAUTHORIZED-WRITE", "No write access", "not_permitted"],
    ["BRANCH_PROTECTION_RULE_VIOLATION", "A new rule is not met", "protected"],
    ["STALE_DATA", "Expected branch to point to 1 but it did not", "head_moved"],
    ["SOME_TYPE_OF_THE_FUTURE", "Not on a Sunday", "unknown"],
    [null, "Field 'isDraft' doesn't exist on type 'PullRequest'", "unknown"],
  ])("is refused for %s", async (type, message, reason) => {
    github.on("POST", "/graphql", 200, refusedWith(type, message));
    github.on("POST", "/graphql", 200, { data: { node: null } });
    expect(await github.forge.markReady(WEB, "PR_5")).toEqual({ ok: false, refusal: { reason, message } });
  });

  test.each(["INTERNAL", "SERVICE_UNAVAILABLE", "TIMEOUT"])("is repeated after %s", async (type) => {
    github.on("POST", "/graphql", 200, refusedWith(type, "Oops"));
    github.on("POST", "/graphql", 200, { data: { node: { isDraft: true } } });
    github.on("POST", "/graphql", 200, ready);
    expect(await github.forge.markReady(WEB, "PR_5")).toMatchObject({ ok: true });
  });

  test.each([
    ["a 502", 502, {}],
    ["an error GitHub does not name", 200, { data: null, errors: [{ message: "Something went wrong" }] }],
    ["a response without data", 200, { data: {} }],
  ])("is read after %s", async (_, status, body) => {
    github.on("POST", "/graphql", status, body);
    github.on("POST", "/graphql", 200, { data: { node: { isDraft: false } } });
    expect(await github.forge.markReady(WEB, "PR_5")).toMatchObject({ ok: true });
  });

  test("fails if it never becomes ready", async () => {
    for (let tries = 0; tries < 3; tries++) {
      github.on("POST", "/graphql", 502, {});
      github.on("POST", "/graphql", 200, { data: { node: { isDraft: true } } });
    }
    await expect(github.forge.markReady(WEB, "PR_5")).rejects.toThrow(ForgeUnavailable);
  });
});
