import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { translateDelivery } from "../../src/forge/github/deliveries/translate-delivery.ts";
import { withRandomChange } from "../support/stories/random-change.ts";

const SHA = "a".repeat(40);
const OLD = "b".repeat(40);
const NONE = "0".repeat(40);
const ada = { id: 10, login: "ada", avatar_url: "https://x.test/ada.png", type: "User" };
const adaAccount = { forgeId: 10, login: "ada", avatarUrl: "https://x.test/ada.png", isBot: false };

const around = {
  repository: {
    id: 42,
    full_name: "acme/web",
    default_branch: "main",
    pushed_at: 1_763_640_000,
    private: true,
  },
  installation: { id: 7, node_id: "x" },
  sender: ada,
};
const context = {
  installationId: 7,
  repository: { forgeId: 42, fullName: "acme/web", defaultBranch: "main" },
  sender: adaAccount,
};

function push(over: object = {}) {
  return {
    ...around,
    ref: "refs/heads/card/7-login",
    before: OLD,
    after: SHA,
    created: false,
    deleted: false,
    forced: false,
    base_ref: null,
    head_commit: { id: SHA, message: "Log in", timestamp: "2026-11-19T08:00:00Z" },
    commits: [{ id: SHA, message: "Log in", distinct: true }],
    pusher: { name: "ada" },
    ...over,
  };
}

function pullRequest(action: string, pull: object = {}, over: object = {}) {
  return {
    ...around,
    action,
    number: 5,
    pull_request: {
      id: 500,
      number: 5,
      node_id: "PR_5",
      title: "Log in",
      state: "open",
      draft: false,
      merged: false,
      merged_by: null,
      merge_commit_sha: OLD,
      created_at: "2026-11-20T10:00:00Z",
      updated_at: "2026-11-20T12:00:00Z",
      closed_at: null,
      merged_at: null,
      user: ada,
      head: { ref: "card/7-login", sha: SHA, repo: { id: 42 } },
      base: { ref: "main", sha: OLD, repo: { id: 42 } },
      ...pull,
    },
    ...over,
  };
}

function checkRun(action: string, run: object = {}) {
  return {
    ...around,
    action,
    check_run: {
      id: 900,
      name: "build",
      head_sha: SHA,
      status: "completed",
      conclusion: "success",
      started_at: "2026-11-20T12:00:00Z",
      completed_at: "2026-11-20T12:05:00Z",
      app: { id: 15_368, slug: "github-actions" },
      check_suite: { id: 1, head_branch: "card/7-login" },
      pull_requests: [
        { number: 5, head: { ref: "card/7-login", repo: { id: 42 } } },
        { number: 6, head: { ref: "elsewhere", repo: { id: 99 } } },
      ],
      ...run,
    },
  };
}

const status = {
  ...around,
  id: 77,
  sha: SHA,
  context: "ci/deploy",
  state: "pending",
  branches: [{ name: "card/7-login" }],
  created_at: "2026-11-20T12:00:00+01:00",
  updated_at: "2026-11-20T12:00:00+01:00",
};

const review = (action: string, state: string) => ({
  ...around,
  action,
  review: { id: 31, state, user: ada, submitted_at: "2026-11-20T12:30:00Z", commit_id: SHA },
  pull_request: {
    number: 5,
    node_id: "PR_5",
    updated_at: "2026-11-20T13:00:00Z",
    head: { ref: "card/7-login", sha: SHA, repo: { id: 42 } },
  },
});

const comment = (action: string, over: object = {}, issue: object = { pull_request: { url: "x" } }) => ({
  ...around,
  action,
  issue: { id: 1, number: 5, ...issue },
  comment: {
    id: 77,
    body: "Hello",
    user: { ...ada, id: 11, login: "grace" },
    created_at: "2026-11-20T12:00:00Z",
    updated_at: "2026-11-20T12:30:00Z",
    performed_via_github_app: null,
    ...over,
  },
});

const EDIT = { changes: { body: { from: "Before" } } };

const translated = (event: string, payload: unknown) => translateDelivery(event, payload).deliveryEvent;
const IRRELEVANT = { type: "irrelevant" };

describe("a push", () => {
  test("has its commits and the time at which GitHub received it, not the author's", () => {
    expect(translateDelivery("push", push())).toEqual({
      deliveryEvent: {
        type: "pushed",
        ...context,
        at: "2025-11-20T12:00:00.000Z",
        branchName: "card/7-login",
        before: OLD,
        after: SHA,
        forced: false,
        commits: [{ sha: SHA, message: "Log in" }],
      },
      repositoryId: 42,
      installationId: 7,
    });
  });

  test("and any other text has no characters that cannot be stored", () => {
    const commits = [{ id: SHA, message: "a\0b \ud83d" }];
    expect(translated("push", push({ commits }))).toMatchObject({
      commits: [{ message: "a\ufffdb \ufffd" }],
    });
    const pull = pullRequest("opened", { title: "\0" });
    expect(translated("pull_request", pull)).toMatchObject({ title: "\ufffd" });
    expect(translated("issue_comment", comment("created", { body: "\0😀" }))).toMatchObject({
      body: "\ufffd😀",
    });
    expect(translated("status", { ...status, context: "ci\0" })).toMatchObject({ name: "ci\ufffd" });
  });

  test("has no `before` if it creates a branch and no `after` if it deletes one", () => {
    expect(translated("push", push({ before: NONE, created: true }))).toMatchObject({
      before: null,
      after: SHA,
    });
    const deletion = push({ after: NONE, deleted: true, head_commit: null, commits: [] });
    expect(translated("push", deletion)).toMatchObject({ before: OLD, after: null, commits: [] });
  });

  test.each(["refs/tags/v1", "refs/notes/x", "refs/pull/5/head", "refs/heads/trunkline/tmp/7"])(
    "to %s is irrelevant",
    (ref) => {
      expect(translateDelivery("push", push({ ref }))).toEqual({
        deliveryEvent: IRRELEVANT,
        repositoryId: 42,
        installationId: 7,
      });
    },
  );
});

describe("a pull request", () => {
  test.each([
    ["opened", "opened", "2026-11-20T10:00:00.000Z"],
    ["reopened", "reopened", "2026-11-20T12:00:00.000Z"],
    ["ready_for_review", "ready", "2026-11-20T12:00:00.000Z"],
    ["converted_to_draft", "converted_to_draft", "2026-11-20T12:00:00.000Z"],
    ["synchronize", "synchronized", "2026-11-20T12:00:00.000Z"],
    ["enqueued", "enqueued", "2026-11-20T12:00:00.000Z"],
  ])("%s is %s", (given, action, at) => {
    expect(translated("pull_request", pullRequest(given))).toEqual({
      type: "pull_request",
      ...context,
      at,
      action,
      number: 5,
      nodeId: "PR_5",
      title: "Log in",
      author: adaAccount,
      isDraft: false,
      headBranch: "card/7-login",
      headSha: SHA,
      headRepositoryId: 42,
      targetBranch: "main",
      mergeSha: null,
      mergedBy: null,
      isEmptied: false,
      isContradictory: false,
      reason: null,
    });
  });

  test("is closed or merged, by the field `merged`", () => {
    const closed = { state: "closed", closed_at: "2026-11-20T14:00:00Z" };
    expect(translated("pull_request", pullRequest("closed", closed))).toMatchObject({
      action: "closed",
      at: "2026-11-20T14:00:00.000Z",
      mergeSha: null,
    });
    const merged = { ...closed, merged: true, merged_at: "2026-11-20T13:59:59Z", merged_by: ada };
    expect(translated("pull_request", pullRequest("closed", merged))).toMatchObject({
      action: "merged",
      at: "2026-11-20T13:59:59.000Z",
      mergeSha: OLD,
      mergedBy: adaAccount,
    });
    // A recorded payload: action closed, state open, `merged` missing.
    expect(translated("pull_request", pullRequest("closed", { merged: null }))).toMatchObject({
      action: "closed",
      isContradictory: true,
    });
  });

  test("that was edited is relevant only if its base changed", () => {
    const retarget = { changes: { base: { ref: { from: "next" }, sha: { from: OLD } } } };
    expect(translated("pull_request", pullRequest("edited", {}, retarget))).toMatchObject({
      action: "retargeted",
    });
    const retitle = { changes: { title: { from: "x" } } };
    expect(translated("pull_request", pullRequest("edited", {}, retitle))).toEqual(IRRELEVANT);
  });

  test("without commits is closed, also if GitHub marks it as merged", () => {
    const emptied = pullRequest("closed", { merged: true, state: "closed", commits: 0 });
    expect(translated("pull_request", emptied)).toMatchObject({
      action: "closed",
      isEmptied: true,
      isContradictory: false,
      mergeSha: null,
    });
  });

  test("or a push without a new head is irrelevant", () => {
    const heads = { before: SHA, after: SHA };
    expect(translated("pull_request", pullRequest("synchronize", {}, heads))).toEqual(IRRELEVANT);
    expect(translated("push", push(heads))).toEqual(IRRELEVANT);
  });

  test("that left the merge queue has the reason and its branches without `refs/heads/`", () => {
    const delivered = pullRequest("dequeued", { base: { ref: "refs/heads/main" } }, { reason: "CI_FAILURE" });
    expect(translated("pull_request", delivered)).toMatchObject({
      action: "dequeued",
      targetBranch: "main",
      reason: "CI_FAILURE",
    });
  });

  test.each(["MERGE", "ALREADY_MERGED"])(
    "that left the queue because it was merged (%s) is handled by its closing",
    (reason) =>
      expect(translated("pull_request", pullRequest("dequeued", {}, { reason }))).toEqual(IRRELEVANT),
  );

  test("may be of a deleted fork and a deleted account", () => {
    const head = { ref: "card/7-login", sha: SHA, repo: null };
    const delivered = pullRequest("opened", { head, user: null, draft: null }, { sender: null });
    expect(translated("pull_request", delivered)).toMatchObject({
      headRepositoryId: null,
      sender: null,
      isDraft: false,
    });
  });

  test.each(["labeled", "assigned", "auto_merge_enabled", "toString", "__proto__", "a_new_one"])(
    "%s is irrelevant",
    (action) => expect(translated("pull_request", pullRequest(action))).toEqual(IRRELEVANT),
  );
});

describe("a check", () => {
  test.each([
    [
      "created",
      { status: "in_progress", conclusion: null, completed_at: null },
      "pending",
      "2026-11-20T12:00:00.000Z",
    ],
    ["completed", {}, "passing", "2026-11-20T12:05:00.000Z"],
    ["completed", { conclusion: "action_required" }, "failing", "2026-11-20T12:05:00.000Z"],
    ["completed", { conclusion: "skipped" }, "skipped", "2026-11-20T12:05:00.000Z"],
    [
      "rerequested",
      { status: "queued", conclusion: null, completed_at: null },
      "pending",
      "2026-11-20T12:00:00.000Z",
    ],
  ])("run %s %j is %s", (action, run, outcome, at) => {
    expect(translated("check_run", checkRun(action, run))).toEqual({
      type: "check_reported",
      ...context,
      at,
      sha: SHA,
      source: "check_run",
      name: "build",
      appId: 15_368,
      suiteId: 1,
      forgeId: 900,
      outcome,
      branchNames: ["card/7-login"],
    });
  });

  test("run of a fork has no branch of ours", () => {
    const run = { check_suite: { head_branch: null }, pull_requests: [], app: null };
    expect(translated("check_run", checkRun("completed", run))).toMatchObject({
      branchNames: [],
      appId: null,
    });
  });

  test("may be a commit status", () => {
    expect(translated("status", status)).toEqual({
      type: "check_reported",
      ...context,
      at: "2026-11-20T11:00:00.000Z",
      sha: SHA,
      source: "status",
      name: "ci/deploy",
      appId: null,
      suiteId: null,
      forgeId: 77,
      outcome: "pending",
      branchNames: ["card/7-login"],
    });
  });

  const suite = (conclusion: string, over: object = {}) => ({
    action: "completed",
    check_suite: {
      id: 800,
      head_sha: SHA,
      head_branch: "card/7-login",
      status: "completed",
      conclusion,
      updated_at: "2026-11-20T12:05:00Z",
      latest_check_runs_count: 0,
      app: { id: 15_368, name: "GitHub Actions" },
      pull_requests: [],
      ...over,
    },
    ...around,
  });

  test.each([
    ["startup_failure", "failing"],
    ["failure", "failing"],
    ["action_required", "pending"],
  ])("suite without runs that ended as %s is %s", (conclusion, outcome) => {
    expect(translated("check_suite", suite(conclusion))).toEqual({
      type: "check_reported",
      ...context,
      at: "2026-11-20T12:05:00.000Z",
      sha: SHA,
      source: "check_suite",
      name: "GitHub Actions",
      appId: 15_368,
      suiteId: 800,
      forgeId: 800,
      outcome,
      branchNames: ["card/7-login"],
    });
  });

  test("suite with runs, or that says nothing, is irrelevant", () => {
    for (const payload of [
      suite("failure", { latest_check_runs_count: 2 }),
      suite("success"),
      suite("", { status: "queued", conclusion: null }),
    ])
      expect(translated("check_suite", payload)).toEqual(IRRELEVANT);
  });

  test("as a status of a commit that several branches contain names no branch", () => {
    const branches = [{ name: "card/7-login" }, { name: "main" }];
    expect(translated("status", { ...status, branches })).toMatchObject({ branchNames: [] });
  });
});

describe("a conversation", () => {
  test("that was resolved or opened again is a change of its pull request", () => {
    for (const action of ["resolved", "unresolved"]) {
      const payload = { action, ...around, pull_request: { number: 5 }, updated_at: "2026-11-20T12:05:00Z" };
      expect(translated("pull_request_review_thread", payload)).toEqual({
        type: "thread_changed",
        ...context,
        at: "2026-11-20T12:05:00.000Z",
        number: 5,
      });
    }
  });
});

describe("a review", () => {
  test.each([
    ["submitted", "approved", "approved", "2026-11-20T12:30:00.000Z"],
    ["submitted", "CHANGES_REQUESTED", "changes_requested", "2026-11-20T12:30:00.000Z"],
    ["submitted", "commented", "commented", "2026-11-20T12:30:00.000Z"],
    ["dismissed", "dismissed", "dismissed", "2026-11-20T13:00:00.000Z"],
  ])("%s as %s", (action, given, state, at) => {
    expect(translated("pull_request_review", review(action, given))).toEqual({
      type: "review_submitted",
      ...context,
      at,
      number: 5,
      headBranch: "card/7-login",
      headRepositoryId: 42,
      reviewId: 31,
      state,
      body: "",
    });
  });

  test("edited has the text, its author and the time of the change", () => {
    expect(translated("pull_request_review", { ...review("edited", "approved"), ...EDIT })).toEqual({
      type: "review_edited",
      ...context,
      at: "2026-11-20T13:00:00.000Z",
      number: 5,
      reviewId: 31,
      author: expect.objectContaining({ login: "ada" }),
      body: "",
    });
  });

  test("edited after it was dismissed, or of an unknown state, is irrelevant", () => {
    const dismissed = { ...review("edited", "dismissed"), ...EDIT };
    expect(translated("pull_request_review", dismissed)).toEqual(IRRELEVANT);
    expect(translated("pull_request_review", review("submitted", "pondered"))).toEqual(IRRELEVANT);
  });
});

describe("a comment", () => {
  test.each(["created", "edited", "deleted"])("%s has its author and the time of the change", (action) => {
    expect(translated("issue_comment", { ...comment(action), ...EDIT })).toEqual({
      type: "commented",
      ...context,
      at: "2026-11-20T12:30:00.000Z",
      action,
      number: 5,
      commentId: 77,
      author: { ...adaAccount, forgeId: 11, login: "grace" },
      body: "Hello",
      writtenAt: "2026-11-20T12:00:00.000Z",
    });
  });

  test.each([
    ["a comment", "issue_comment", comment("edited")],
    ["a review", "pull_request_review", review("edited", "approved")],
    ["a pull request's base", "pull_request", pullRequest("edited")],
  ])("of an edit without changes of %s is irrelevant", (_, event, payload) => {
    for (const changes of [undefined, null, {}, { body: null }, { base: {} }, { title: { from: "x" } }]) {
      expect(translated(event, { ...payload, changes })).toEqual(IRRELEVANT);
    }
    const same = {
      body: { from: event === "issue_comment" ? "Hello" : "" },
      base: { ref: { from: "main" } },
    };
    expect(translated(event, { ...payload, changes: same })).toEqual(IRRELEVANT);
  });

  test("may be empty and of a deleted account", () => {
    const delivered = comment("created", { user: null, body: null, updated_at: null });
    expect(translated("issue_comment", delivered)).toMatchObject({
      author: null,
      body: "",
      at: "2026-11-20T12:00:00.000Z",
    });
  });

  test("on an issue or with an unknown action is irrelevant", () => {
    expect(translated("issue_comment", comment("created", {}, {}))).toEqual(IRRELEVANT);
    expect(translated("issue_comment", comment("created", {}, { pull_request: null }))).toEqual(IRRELEVANT);
    expect(translated("issue_comment", comment("pinned"))).toEqual(IRRELEVANT);
  });
});

describe("an installation", () => {
  test.each([
    ["installation", { action: "suspend", installation: { id: 7 }, sender: ada }],
    ["installation_repositories", { action: "removed", installation: { id: 7 }, repositories_removed: [] }],
    ["installation_target", { action: "renamed", installation: { id: 7 }, account: { login: "acme-inc" } }],
  ])("changed by %s is read again", (event, payload) => {
    expect(translated(event, payload)).toEqual({ type: "installation_changed", installationId: 7 });
  });

  test("without an id is irrelevant", () => {
    expect(translated("installation", { action: "created" })).toEqual(IRRELEVANT);
  });
});

describe("a repository", () => {
  const defaultBranch = { changes: { default_branch: { from: "master" } } };

  test.each([
    ["renamed", {}],
    ["transferred", {}],
    ["archived", {}],
    ["unarchived", {}],
    ["deleted", {}],
    ["edited", defaultBranch],
  ])("%s is read again", (action, over) => {
    expect(translated("repository", { action, ...around, ...over })).toEqual({
      type: "repository_changed",
      ...context,
      at: null,
    });
  });

  test.each([
    ["edited", { changes: { description: { from: "x" } } }],
    ["edited", {}],
    ["privatized", {}],
    ["created", {}],
    ["a_new_one", {}],
  ])("%s %j is irrelevant", (action, over) => {
    expect(translated("repository", { action, ...around, ...over })).toEqual(IRRELEVANT);
  });
});

describe("an unreadable payload", () => {
  test("of a known event is irrelevant, with a reason without the payload", () => {
    const { deliveryEvent, reason, repositoryId } = translateDelivery("push", push({ after: 5 }));
    expect(deliveryEvent).toEqual(IRRELEVANT);
    expect(reason).toBe("after: invalid_type");
    expect(repositoryId).toBe(42);
  });

  test.each(["ping", "workflow_run", "constructor", ""])("of another event, %j, has no reason", (event) => {
    expect(translateDelivery(event, push())).toEqual({
      deliveryEvent: IRRELEVANT,
      repositoryId: 42,
      installationId: 7,
    });
  });

  test.each([[null], [undefined], ["text"], [42], [[]], [{}]])("is %j", (payload) => {
    expect(translateDelivery("pull_request", payload)).toMatchObject({
      deliveryEvent: IRRELEVANT,
      repositoryId: null,
      installationId: null,
      reason: expect.any(String),
    });
  });
});

const SAMPLES: readonly (readonly [string, object])[] = [
  ["push", push()],
  ["pull_request", pullRequest("closed", { merged: true })],
  ["pull_request_review", review("submitted", "approved")],
  ["check_run", checkRun("completed")],
  ["status", status],
  ["installation", { action: "created", installation: { id: 7 } }],
  ["repository", { action: "renamed", ...around }],
];

const KINDS = [
  "pushed",
  "pull_request",
  "check_reported",
  "review_submitted",
  "review_edited",
  "installation_changed",
  "repository_changed",
  "irrelevant",
];

// Fault: B8
describe("any payload", () => {
  test("with a replaced part of a known one translates to an event without an exception", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SAMPLES),
        fc.array(fc.nat(20), { maxLength: 4 }),
        fc.oneof(
          fc.constant(undefined),
          fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }),
        ),
        ([event, payload], path, by) => {
          const { deliveryEvent } = translateDelivery(event, withRandomChange(payload, path, by));
          expect(KINDS).toContain(deliveryEvent.type);
          const at = "at" in deliveryEvent ? deliveryEvent.at : null;
          expect(at === null || new Date(at).toISOString() === at).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("of any JSON and name translates to an event", () => {
    const names = fc.oneof(fc.constantFrom(...SAMPLES.map(([event]) => event)), fc.string());
    fc.assert(
      fc.property(names, fc.jsonValue(), (event, payload) => {
        expect(KINDS).toContain(translateDelivery(event, payload).deliveryEvent.type);
      }),
    );
  });
});
