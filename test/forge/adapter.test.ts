/** The adapter with the sandbox forge: real branches, merges and conflicts. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import type { Forge } from "../../src/forge/forge.ts";
import type { BranchInspectionRequest, MergeOrder } from "../../src/forge/pull-requests.ts";
import type { RepositoryRef } from "../../src/forge/values.ts";
import { createGitHubForge } from "../../src/forge/github/connect-github.ts";
import { type Recording, recordForge } from "../support/forge/record-forge.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";

let world: TestForge;
let recording: Recording;
let forge: Forge;
let installationId: number;
let repository: RepositoryRef;
let trunk: string;
let named = 0;

/** The adapter of a process that has no token yet. */
const connected = (): Forge =>
  createGitHubForge({
    appId: world.forge.app.id,
    privateKey: world.forge.app.privateKey,
    webhookSecret: world.forge.app.webhookSecret,
    baseUrl: world.forge.apiUrl,
    log: pino({ level: "silent" }),
  });

beforeAll(async () => {
  world = await startTestForge({ seed: false });
  recording = recordForge(world.forge);
  installationId = world.forge.installApp("acme", "all").id;
  forge = connected();
});
afterAll(() => world.stop());

beforeEach(async () => {
  const name = `shop-${(named += 1)}`;
  const row = await world.forge.createRepository("acme", name, { files: { "README.md": "# Shop\n" } });
  repository = { installationId, forgeId: row.id, fullName: `acme/${name}` };
  trunk = (await forge.branchHead(repository, "main")) ?? "";
});

/** Each request body matches GitHub's description. */
function expectMatchingRequests(): void {
  expect(recording.operations.size).toBeGreaterThan(0);
  expect(recording.mismatches.filter((mismatch) => mismatch.startsWith("request "))).toEqual([]);
}
afterEach(expectMatchingRequests);

const BRANCH = "card/7-login";
const question = (): BranchInspectionRequest => ({ repository, branchName: BRANCH, targetBranch: null });
const draft = {
  title: "Log in",
  body: "",
  headBranch: BRANCH,
  targetBranch: "main",
  isDraft: true,
  isRetry: false,
  highestKnownNumber: 0,
  isReported: () => Promise.resolve(false),
};
const commit = (files: Record<string, string>, branch = BRANCH) =>
  world.forge.commit(repository.fullName, branch, files);

/** A card's branch with a commit and a draft pull request. */
async function openDraft(files: Record<string, string> = { "login.js": "login();\n" }) {
  await forge.createBranch(repository, BRANCH, trunk);
  const headSha = await commit(files);
  const opened = await forge.openPullRequest(repository, draft);
  if (!opened.ok) throw new Error(opened.refusal.message);
  return { ...opened.value, headSha };
}

const orderFor = (pull: { number: number; headSha: string }): MergeOrder => ({
  number: pull.number,
  headSha: pull.headSha,
  method: "merge",
  title: "Log in (#7)",
});

async function inspected() {
  const [response] = await forge.inspect([question()]);
  if (response === undefined || response.refusal !== undefined) throw new Error(response?.refusal?.message);
  return response;
}

describe("the App", () => {
  test("knows its own account and its installation", async () => {
    const { app } = world.forge;
    const identity = { botLogin: `${app.slug}[bot]`, botId: app.botId };
    expect(await forge.identity()).toEqual(identity);
    const installations = await forge.installations();
    expect(installations).toMatchObject([{ installationId, account: { login: "acme" }, suspended: false }]);
    const given = {
      forgeId: repository.forgeId,
      fullName: repository.fullName,
      defaultBranch: "main",
    };
    const { origin: forgeUrl } = new URL(world.forge.rootUrl);
    expect(await forge.repositories(installationId)).toEqual({
      ok: true,
      value: expect.arrayContaining([{ ...given, forgeUrl, nodeId: expect.any(String), isArchived: false }]),
    });
    expect(await forge.repository(repository)).toEqual(given);
  });
});

describe("a ruleset of the target", () => {
  const withRules = async () => {
    const [found] = await forge.inspect([question()], { includesRules: true });
    if (found === undefined || found.refusal !== undefined) throw new Error(found?.refusal?.message);
    return found;
  };
  const merged = async (pull: { number: number; headSha: string }) =>
    (await forge.merge(repository, orderFor(pull), 5_000)).ok;

  test("is shown with what it requires, and whether the App may bypass it decides about a merge", async () => {
    const pull = await openDraft();
    const { webUi } = world.forge;
    const rules = (appBypass: "always" | "never") =>
      webUi.setRuleset(repository.fullName, "main", "main", {
        requiredChecks: [{ context: "ci", appId: 7 }],
        requiredReviews: { count: 1, requiresLastPushApproval: true, requiresResolvedThreads: true },
        appBypass,
      });
    rules("never");
    const thread = webUi.startReviewThread(repository.fullName, pull.number, "login.js");
    await forge.markReady(repository, pull.nodeId);
    expect(await withRules()).toMatchObject({
      requiredChecks: ["ci"],
      rules: {
        requiredApprovals: 1,
        requiresLastPushApproval: true,
        requiresResolvedThreads: true,
        sources: [{ name: "main", canBypass: false, unevaluated: [] }],
      },
      pullRequests: [
        {
          mergeState: "blocked",
          unresolvedThreads: 1,
          reviews: [],
          unmetChecks: ["ci"],
          author: { forgeId: world.forge.app.botId },
        },
      ],
    });
    await webUi.setThreadResolved(thread, true);
    expect((await withRules()).pullRequests).toMatchObject([{ unresolvedThreads: 0 }]);
    expect(await merged(pull)).toBe(false);
    rules("always");
    expect(await merged(pull)).toBe(true);
  });
});

describe("a card's branch", () => {
  test("is created, opened, marked ready and merged, and each step can be repeated", async () => {
    expect(await forge.createBranch(repository, BRANCH, trunk)).toEqual({
      ok: true,
      value: { created: true },
    });
    expect(await forge.createBranch(repository, BRANCH, trunk)).toEqual({
      ok: true,
      value: { created: false },
    });
    const headSha = await commit({ "login.js": "login();\n" });
    expect(await forge.createBranch(repository, BRANCH, trunk)).toEqual({
      ok: true,
      value: { taken: headSha },
    });

    const opened = await forge.openPullRequest(repository, draft);
    expect(opened).toMatchObject({ ok: true, value: { isDraft: true, headSha } });
    expect(await forge.openPullRequest(repository, draft)).toEqual(opened);
    if (!opened.ok) throw new Error(opened.refusal.message);
    const pull = opened.value;
    expect(await inspected()).toMatchObject({
      repository: { forgeId: repository.forgeId, fullName: repository.fullName, defaultBranch: "main" },
      target: { name: "main", sha: trunk },
      headSha,
      aheadBy: 1,
      pullRequests: [
        {
          number: pull.number,
          nodeId: pull.nodeId,
          state: "open",
          isDraft: true,
          targetBranch: "main",
          headSha,
          mergeable: expect.stringMatching(/^(mergeable|unknown)$/),
          reviewDecision: null,
          isInMergeQueue: false,
          mergeSha: null,
          checks: { state: null, failing: [], pending: [] },
        },
      ],
    });

    expect(await forge.markReady(repository, pull.nodeId)).toMatchObject({ ok: true });
    expect(await forge.markReady(repository, pull.nodeId)).toMatchObject({ ok: true });
    const merged = await forge.merge(repository, orderFor(pull), 10_000);
    expect(merged).toMatchObject({ ok: true, value: { state: "merged" } });
    expect(await forge.merge(repository, orderFor(pull), 10_000)).toEqual(merged);
    const { pullRequests, target } = await inspected();
    const sha = merged.ok && merged.value.state === "merged" ? merged.value.sha : "";
    expect(target.sha).toBe(sha);
    expect(pullRequests).toMatchObject([{ state: "merged", isDraft: false, mergeSha: sha }]);
  });

  test("is merged synchronously if the forge has no asynchronous merges", async () => {
    world.forge.settings.hasAsyncMerge = false;
    try {
      const pull = await openDraft();
      await forge.markReady(repository, pull.nodeId);
      const merged = await forge.merge(repository, orderFor(pull), 10_000);
      expect(merged).toMatchObject({ ok: true, value: { state: "merged" } });
      expect(await forge.merge(repository, orderFor(pull), 10_000)).toEqual(merged);
    } finally {
      world.forge.settings.hasAsyncMerge = true;
    }
  });
});

describe("the forge refuses", () => {
  test("a pull request without commits", async () => {
    await forge.createBranch(repository, BRANCH, trunk);
    expect(await forge.openPullRequest(repository, draft)).toEqual({
      ok: false,
      refusal: { reason: "nothing_to_merge", message: `No commits between main and ${BRANCH}` },
    });
    expect(await inspected()).toMatchObject({ aheadBy: 0, headSha: trunk, pullRequests: [] });
  });

  test("a pull request into a branch that is not there", async () => {
    await forge.createBranch(repository, BRANCH, trunk);
    await commit({ a: "a" });
    const opened = await forge.openPullRequest(repository, { ...draft, targetBranch: "next" });
    expect(opened).toMatchObject({ ok: false, refusal: { reason: "branch_missing" } });
  });

  test("to merge conflicts", async () => {
    const pull = await openDraft({ "README.md": "# Login\n" });
    await commit({ "README.md": "# Something else\n" }, "main");
    await forge.markReady(repository, pull.nodeId);
    const merged = await forge.merge(repository, orderFor(pull), 10_000);
    expect(merged).toMatchObject({ ok: false, refusal: { reason: "conflicts" } });
  });

  test("to merge another commit than the pinned one", async () => {
    const pull = await openDraft();
    await forge.markReady(repository, pull.nodeId);
    const merged = await forge.merge(repository, { ...orderFor(pull), headSha: trunk }, 10_000);
    expect(merged).toMatchObject({ ok: false, refusal: { reason: "head_moved" } });
    expect(await inspected()).toMatchObject({ target: { sha: trunk } });
  });

  test("to merge a closed pull request", async () => {
    const pull = await openDraft();
    await forge.markReady(repository, pull.nodeId);
    await world.api("PATCH", `/repos/${repository.fullName}/pulls/${pull.number}`, { state: "closed" });
    const merged = await forge.merge(repository, orderFor(pull), 10_000);
    expect(merged).toMatchObject({ ok: false, refusal: { reason: "pull_request_closed" } });
  });

  test("to create a branch in an empty repository", async () => {
    const row = await world.forge.createRepository("acme", `empty-${named}`, { files: null });
    const empty = { installationId, forgeId: row.id, fullName: `acme/empty-${named}` };
    expect(await forge.branchHead(empty, "main")).toBeNull();
    expect(await forge.createBranch(empty, BRANCH, trunk)).toMatchObject({ ok: false });
    expect(
      await forge.inspect([{ repository: empty, branchName: BRANCH, targetBranch: null }]),
    ).toMatchObject([
      { target: { name: "main", sha: null }, headSha: null, aheadBy: null, pullRequests: [] },
    ]);
  });
});

describe("a repository that is renamed", () => {
  test("is found by its id, and another one with its old name is not used", async () => {
    const [, name = ""] = repository.fullName.split("/");
    await world.api("PATCH", `/repos/${repository.fullName}`, { name: `${name}-renamed` });
    expect(await inspected()).toMatchObject({ repository: { fullName: `acme/${name}-renamed` } });
    const stranger = await world.forge.createRepository("acme", name);
    expect(await inspected()).toMatchObject({
      repository: { forgeId: repository.forgeId, fullName: `acme/${name}-renamed` },
    });
    expect(await forge.createBranch(repository, BRANCH, trunk)).toEqual({
      ok: true,
      value: { created: true },
    });
    const strangers = { installationId, forgeId: stranger.id, fullName: repository.fullName };
    expect(await forge.branchHead(strangers, BRANCH)).toBeNull();
    expect(await forge.branchHead(repository, BRANCH)).toBe(trunk);
  });

  test("or deleted is refused, and others are not affected", async () => {
    const gone = { ...repository, forgeId: 999_999_999, fullName: "acme/gone" };
    const responses = await forge.inspect([{ ...question(), repository: gone }, question()]);
    expect(responses).toMatchObject([{ refusal: { reason: "not_permitted" } }, { target: { sha: trunk } }]);
    expect(await forge.repository(gone)).toBeNull();
    expect(await forge.createBranch(gone, BRANCH, trunk)).toEqual({
      ok: false,
      refusal: { reason: "not_permitted", message: "Not Found" },
    });
  });
});

describe("a lost response", () => {
  test.each(["/repositories/*/git/refs", "/repositories/*/pulls", "/repositories/*/pulls/*/merge-async"])(
    "to %s is followed by a search, and nothing is repeated",
    async (path) => {
      const { faults } = world.forge.control;
      const fault = { kind: "response", status: 502, effect: "after" } as const;
      const method = path.endsWith("merge-async") ? "PUT" : "POST";
      faults.add({ match: { method, path }, fault, times: 1 });
      const pull = await openDraft();
      await forge.markReady(repository, pull.nodeId);
      expect(await forge.merge(repository, orderFor(pull), 10_000)).toMatchObject({
        ok: true,
        value: { state: "merged" },
      });
      expect((await inspected()).pullRequests).toHaveLength(1);
      faults.clear();
    },
  );

  test("with a token that is revoked meanwhile needs a new token only", async () => {
    await forge.branchHead(repository, "main");
    expect(world.forge.control.revokeTokens(installationId)).toBeGreaterThan(0);
    expect(await forge.createBranch(repository, BRANCH, trunk)).toEqual({
      ok: true,
      value: { created: true },
    });
  });
});

// The webhook about the change may reach another process.
test("a permission that is granted after a token was created is used at once", async () => {
  const { permissions } = world.forge.context.state.installations.need(installationId);
  world.forge.webUi.acceptPermissions("acme", { ...permissions, contents: "read" });
  const other = connected();
  expect(await other.branchHead(repository, "main")).toBe(trunk);
  world.forge.webUi.acceptPermissions("acme", permissions);
  expect(await other.createBranch(repository, BRANCH, trunk)).toEqual({ ok: true, value: { created: true } });
});
