import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ForgeUnavailable } from "../../src/forge/values.ts";
import { type GitHubDouble, openGitHubDouble, OTHER_SHA, SHA, WEB } from "../support/forge/github-double.ts";

const PULL = "/repositories/42/pulls/5";
const ASYNC = `${PULL}/merge-async`;
const RESULT = `${ASYNC}/u1`;
const SYNC = `${PULL}/merge`;
const order = { number: 5, headSha: SHA, method: "merge", title: "Login" } as const;
const MERGED = "c".repeat(40);
const merged = { ok: true, value: { state: "merged", sha: MERGED } };

const pending = (over: Record<string, unknown> = {}) => ({
  status: "pending",
  details: { message: "Merge request accepted", uuid: "u1", expected_head_sha: SHA, ...over },
});
const done = { status: "merged", details: { message: "Merged", sha: MERGED } };
const failed = (message: string) => ({ status: "failed", details: { message } });

function pull(over: Record<string, unknown> = {}) {
  return {
    number: 5,
    node_id: "PR_5",
    state: "open",
    merged: false,
    merge_commit_sha: null,
    mergeable: true,
    mergeable_state: "clean",
    head: { sha: SHA },
    base: { ref: "main" },
    ...over,
  };
}
const mergedPull = pull({ state: "closed", merged: true, merge_commit_sha: MERGED });

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

const merge = (waitMs = 10_000, repository = WEB) => github.forge.merge(repository, order, waitMs);

const notOffered = () => github.on("PUT", ASYNC, 404, { message: "Not Found" });

// Fault: C10 An asynchronous merge is pending, queued, lost or dequeued => 202; the card follows
describe("an asynchronous merge", () => {
  test("pins the head and polls about once a second", async () => {
    github.on("PUT", ASYNC, 202, pending());
    github.on("GET", RESULT, 200, pending());
    github.on("GET", RESULT, 502, {});
    github.on("GET", RESULT, 200, pending());
    github.on("GET", RESULT, 200, done);
    github.on("GET", PULL, 200, mergedPull);
    expect(await merge()).toEqual(merged);
    expect(github.requests[0]?.body).toEqual({
      sha: SHA,
      merge_method: "merge",
      merge_action: "default",
      commit_title: "Login",
    });
    // The 300 ms are a delay in the second poll, before its error is retried.
    expect(github.clock.slept).toEqual([400, 300, 1_000]);
  });

  test("has the repository's default title if none is given", async () => {
    github.on("PUT", ASYNC, 200, done);
    github.on("GET", PULL, 200, mergedPull);
    await github.forge.merge(WEB, { number: 5, headSha: SHA, method: "squash" }, 0);
    expect(github.requests[0]?.body).toEqual({ sha: SHA, merge_method: "squash", merge_action: "default" });
  });

  test("that takes too long is pending, with the id of the request", async () => {
    github.on("PUT", ASYNC, 202, pending());
    github.on("GET", RESULT, 200, pending());
    github.on("GET", RESULT, 200, pending());
    expect(await merge(2_000)).toEqual({ ok: true, value: { state: "pending", handle: "u1" } });
  });

  // Fault: C4
  test("is pending at once while GitHub limits requests", async () => {
    const message = "You have exceeded a secondary rate limit.";
    github.on("PUT", ASYNC, 202, pending());
    github.on("GET", RESULT, 403, { message }, { "retry-after": "900" });
    expect(await merge()).toEqual({ ok: true, value: { state: "pending", handle: "u1" } });
    expect(github.clock.slept).toEqual([]);
  });

  test("is polled by its id without another merge call", async () => {
    github.on("GET", RESULT, 200, done);
    github.on("GET", PULL, 200, mergedPull);
    expect(await github.forge.merge(WEB, { ...order, handle: "u1" }, 5_000)).toEqual(merged);
    expect(github.sent("PUT", "merge-async")).toEqual([]);
  });

  test("is requested again if GitHub no longer knows the id", async () => {
    github.on("GET", RESULT, 404, { message: "Not Found" });
    github.on("PUT", ASYNC, 200, done);
    github.on("GET", PULL, 200, mergedPull);
    expect(await github.forge.merge(WEB, { ...order, handle: "u1" }, 5_000)).toEqual(merged);
  });

  test("that was done before is not Trunkline's if GitHub shows a person", async () => {
    github.on("PUT", ASYNC, 200, done);
    github.on("GET", PULL, 200, { ...mergedPull, merged_by: { type: "User" } });
    expect(await merge()).toEqual({ ok: true, value: { state: "merged_outside" } });
    github.on("PUT", ASYNC, 200, done);
    github.on("GET", PULL, 200, { ...mergedPull, merged_by: { type: "Bot" } });
    expect(await merge()).toEqual(merged);
  });

  test("is not Trunkline's if a person merges while it is pending", async () => {
    github.on("PUT", ASYNC, 202, pending());
    github.on("GET", RESULT, 200, done);
    github.on("GET", PULL, 200, { ...mergedPull, merged_by: { type: "User" } });
    expect(await merge()).toEqual({ ok: true, value: { state: "merged_outside" } });
  });

  // Fault: C11
  test("is done with the polled commit if GitHub still shows the pull request as open", async () => {
    github.on("PUT", ASYNC, 202, pending());
    github.on("GET", RESULT, 200, done);
    github.on("GET", PULL, 200, pull());
    expect(await merge()).toEqual(merged);
  });

  test("adopts a running merge of the same commit", async () => {
    const message = "A merge request already exists for this pull request.";
    github.on("PUT", ASYNC, 409, pending({ message }));
    github.on("GET", RESULT, 200, done);
    github.on("GET", PULL, 200, mergedPull);
    expect(await merge()).toEqual(merged);
  });

  // Fault: C7 The head changes just before the merge => refused as `head_moved`
  test("does not adopt a merge of another commit", async () => {
    const message = "A merge request already exists for this pull request.";
    github.on("PUT", ASYNC, 409, pending({ message, expected_head_sha: OTHER_SHA }));
    expect(await merge()).toEqual({ ok: false, refusal: { reason: "head_moved", message } });
  });

  test("that was queued is reported and is merged with the pull request", async () => {
    github.on("PUT", ASYNC, 202, pending());
    github.on("GET", RESULT, 200, { status: "enqueued", details: { message: "Queued" } });
    github.on("GET", PULL, 200, pull());
    expect(await merge()).toEqual({ ok: true, value: { state: "enqueued", handle: "u1" } });
    github.on("GET", RESULT, 200, { status: "enqueued", details: { message: "Queued" } });
    github.on("GET", PULL, 200, mergedPull);
    expect(await github.forge.merge(WEB, { ...order, handle: "u1" }, 5_000)).toEqual(merged);
  });

  test.each([
    ["Merge conflict: the pull request could not be merged.", "conflicts"],
    ['Required status check "build" is expected.', "checks_pending"],
    ["Head branch was modified. Review and try the merge again.", "head_moved"],
  ])("that failed is refused: %s", async (message, reason) => {
    github.on("PUT", ASYNC, 202, pending());
    github.on("GET", RESULT, 200, failed(message));
    if (reason === "conflicts") github.on("GET", PULL, 200, pull());
    expect(await merge()).toMatchObject({ ok: false, refusal: { reason, message } });
    expect(github.sent("PUT", "merge-async")).toHaveLength(1);
  });

  test("of a closed pull request is refused, unless it was merged", async () => {
    github.on("PUT", ASYNC, 400, failed("Pull request is closed."));
    github.on("GET", PULL, 200, pull({ state: "closed" }));
    expect(await merge()).toEqual({
      ok: false,
      refusal: { reason: "pull_request_closed", message: "Pull request is closed." },
    });
    github.on("PUT", ASYNC, 400, failed("Pull request is closed."));
    github.on("GET", PULL, 200, mergedPull);
    expect(await merge()).toEqual(merged);
  });

  test("is searched after a lost response, and requested again if nothing was merged", async () => {
    github.on("PUT", ASYNC, 502, {});
    github.on("GET", PULL, 200, mergedPull);
    expect(await merge()).toEqual(merged);
    github.on("PUT", ASYNC, 502, {});
    github.on("GET", PULL, 200, pull());
    github.on(
      "PUT",
      ASYNC,
      409,
      pending({ message: "A merge request already exists for this pull request." }),
    );
    github.on("GET", RESULT, 200, done);
    github.on("GET", PULL, 200, mergedPull);
    expect(await merge()).toEqual(merged);
  });
});

describe("a synchronous merge, without asynchronous ones", () => {
  // Fault: C21
  test("is used after the first refusal of an asynchronous one for the repository", async () => {
    const notAvailable: unknown[] = [];
    github = openGitHubDouble({ onMissingFeature: async (...output) => void notAvailable.push(output) });
    notOffered();
    github.on("PUT", SYNC, 200, { sha: MERGED, merged: true, message: "Merged" });
    expect(await merge()).toEqual(merged);
    expect(notAvailable).toEqual([[WEB.forgeId, "async_merge"]]);
    github.on("PUT", SYNC, 200, { sha: MERGED, merged: true, message: "Merged" });
    expect(await merge(10_000, { ...WEB, lacks: ["async_merge"] })).toEqual(merged);
    expect(notAvailable).toHaveLength(1);
    expect(github.requests.at(-1)?.body).toEqual({
      sha: SHA,
      merge_method: "merge",
      commit_title: "Login",
    });
  });

  test.each([
    [405, "At least 1 approving review is required by reviewers with write access.", "review_required"],
    [405, "2 of 5 required status checks are failing.", "checks_failing"],
    [405, "Squash merges are not allowed on this repository.", "protected"],
    [409, "Head branch was modified. Review and try the merge again.", "head_moved"],
    [403, "Resource not accessible by integration", "not_permitted"],
  ])("with the response %i %s is refused after one call", async (status, message, reason) => {
    notOffered();
    github.on("PUT", SYNC, status, { message });
    expect(await merge()).toMatchObject({ ok: false, refusal: { reason, message } });
    expect(github.sent("PUT", "/merge")).toHaveLength(1);
  });

  test.each(["Base branch was modified. Review and try the merge again.", "Merge already in progress"])(
    "is repeated after a read: %s",
    async (message) => {
      notOffered();
      github.on("PUT", SYNC, 405, { message });
      github.on("GET", PULL, 200, pull());
      github.on("PUT", SYNC, 200, { sha: MERGED, merged: true, message: "Merged" });
      expect(await merge()).toEqual(merged);
    },
  );

  // Fault: C6
  test("is repeated at most three times", async () => {
    notOffered();
    for (let tries = 0; tries < 4; tries++) {
      github.on("PUT", SYNC, 405, { message: "Base branch was modified. Review and try the merge again." });
      github.on("GET", PULL, 200, pull());
    }
    await expect(merge(60_000)).rejects.toThrow(ForgeUnavailable);
  });

  test.each([
    ["merged meanwhile", mergedPull, merged],
    ["closed", pull({ state: "closed" }), { ok: false, refusal: { reason: "pull_request_closed" } }],
    ["pushed to", pull({ head: { sha: OTHER_SHA } }), { ok: false, refusal: { reason: "head_moved" } }],
    ["in conflict", pull({ mergeable: false }), { ok: false, refusal: { reason: "conflicts" } }],
    ["behind", pull({ mergeable_state: "behind" }), { ok: false, refusal: { reason: "behind_base" } }],
    ["blocked", pull({ mergeable_state: "blocked" }), { ok: false, refusal: { reason: "protected" } }],
  ])("that is not mergeable is read: %s", async (_, state, expected) => {
    notOffered();
    github.on("PUT", SYNC, 405, { message: "Pull Request is not mergeable" });
    github.on("GET", PULL, 200, state);
    expect(await merge()).toMatchObject(expected);
  });

  // Fault: C9
  test("waits while GitHub computes the mergeability", async () => {
    notOffered();
    github.on("PUT", SYNC, 405, { message: "Pull Request is not mergeable" });
    github.on("GET", PULL, 200, pull({ mergeable: null, mergeable_state: "unknown" }));
    github.on("PUT", SYNC, 200, { sha: MERGED, merged: true, message: "Merged" });
    expect(await merge()).toEqual(merged);
  });

  // Fault: C2
  test("is searched after a lost response", async () => {
    notOffered();
    github.cut("PUT", SYNC);
    github.on("GET", PULL, 200, mergedPull);
    expect(await merge()).toEqual(merged);
    expect(github.sent("PUT", "/merge")).toHaveLength(0);
  });

  test("enters the merge queue if the branch requires it", async () => {
    notOffered();
    const message = "Repository rule violations found\n\nChanges must be made through the merge queue";
    github.on("PUT", SYNC, 405, { message });
    github.on("GET", PULL, 200, pull());
    github.on("POST", "/graphql", 200, { data: { enqueuePullRequest: { mergeQueueEntry: { id: "MQ" } } } });
    expect(await merge()).toEqual({ ok: true, value: { state: "enqueued", handle: null } });
  });
});
