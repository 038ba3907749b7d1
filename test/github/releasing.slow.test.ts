/** Tags, releases, deletions and histories of real Git repositories. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Forge } from "../../src/forge/forge.ts";
import { ForgeUnavailable, type RepositoryRef } from "../../src/forge/values.ts";
import { type Adapter, startAdapter, type TestRepository } from "../support/forge/adapter.ts";
import { holdCalls } from "../support/forge/held-calls.ts";

let adapter: Adapter;
let forge: Forge;
let shop: TestRepository;
let repository: RepositoryRef;

beforeAll(async () => {
  adapter = await startAdapter();
  forge = adapter.forge;
});
afterAll(() => adapter.world.stop());
beforeEach(async () => {
  shop = await adapter.newRepository({ "README.md": "# Shop\n" });
  repository = shop.forgeRef;
});
afterEach(() => adapter.world.forge.control.reset());

const BRANCH = "release/spring";
const loseResponse = (match: { method?: string; path?: string; operation?: string }) =>
  adapter.world.forge.control.faults.add({
    match,
    fault: { kind: "response", status: 502, effect: "after" },
    times: 1,
  });
const api = (method: string, path: string, body?: unknown) =>
  adapter.world.api(method, `/repos/${repository.fullName}${path}`, body);
/** The heads of main and of a tag, or the reason why they are unknown. */
const beforeTagging = async (tagName: string, branchName = "main") =>
  (await forge.inspectTags([{ repository, branchName, tagName }]))[0];
const tagHead = async (tagName: string) => Object(await beforeTagging(tagName)).tagSha;

describe("deleting a branch", () => {
  test("succeeds only at the expected commit", async () => {
    await forge.createBranch(repository, BRANCH, shop.base);
    const sha = await shop.commit(BRANCH, { a: "a" });
    expect(await forge.deleteBranch(repository, BRANCH, shop.base)).toEqual({
      ok: true,
      value: { moved: sha },
    });
    expect(await forge.branchHead(repository, BRANCH)).toBe(sha);
    expect(await forge.deleteBranch(repository, BRANCH, sha)).toEqual({ ok: true, value: { deleted: true } });
    expect(await forge.branchHead(repository, BRANCH)).toBeNull();
    expect(await forge.deleteBranch(repository, BRANCH, sha)).toEqual({
      ok: true,
      value: { deleted: false },
    });
  });

  test("keeps a branch with a concurrent push", async () => {
    await forge.createBranch(repository, BRANCH, shop.base);
    const update = holdCalls(adapter.world, { operation: "UpdateRefs" }, "before");
    const deleting = forge.deleteBranch(repository, BRANCH, shop.base);
    await update.arrived();
    const pushed = await shop.commit(BRANCH, { a: "a" });
    update.resume();
    expect(await deleting).toEqual({ ok: true, value: { moved: pushed } });
    expect(await forge.branchHead(repository, BRANCH)).toBe(pushed);
  });

  test("is known to have succeeded after a lost response", async () => {
    await forge.createBranch(repository, BRANCH, shop.base);
    loseResponse({ operation: "UpdateRefs" });
    expect(await forge.deleteBranch(repository, BRANCH, shop.base)).toEqual({
      ok: true,
      value: { deleted: true },
    });
  });

  test("is refused with GitHub's message", async () => {
    expect(await forge.deleteBranch(repository, "main", shop.base)).toEqual({
      ok: false,
      refusal: { reason: "unknown", message: "Cannot delete the default branch" },
    });
  });
});

describe("a tag", () => {
  // Fault: D14
  test("is created once and never moved", async () => {
    expect(await tagHead("v1.0")).toBeNull();
    loseResponse({ method: "POST", path: "/repositories/*/git/refs" });
    expect(await forge.createTag(repository, "v1.0", shop.base)).toEqual({
      ok: true,
      value: { created: false },
    });
    expect(await forge.createTag(repository, "v1.0", shop.base)).toEqual({
      ok: true,
      value: { created: false },
    });
    const sha = await shop.commit("main", { a: "a" });
    expect(await forge.createTag(repository, "v1.0", sha)).toEqual({ ok: true, value: { taken: shop.base } });
    expect(await forge.createTag(repository, "v1.1", sha)).toEqual({ ok: true, value: { created: true } });
    expect(await tagHead("v1.1")).toBe(sha);
  });

  test("that is annotated resolves to its commit", async () => {
    shop.git(
      "-c",
      "user.name=ada",
      "-c",
      "user.email=ada@example.com",
      "tag",
      "-a",
      "v2",
      "-m",
      "Two",
      "main",
    );
    expect(shop.git("cat-file", "-t", "v2")).toBe("tag");
    expect(await tagHead("v2")).toBe(shop.base);
    expect(await forge.createTag(repository, "v2", shop.base)).toEqual({
      ok: true,
      value: { created: false },
    });
  });
});

/** Adds the repository's GraphQL id. */
async function node(of = repository): Promise<RepositoryRef> {
  const granted = await forge.repositories(of.installationId);
  const found = granted.ok && granted.value.find(({ forgeId }) => forgeId === of.forgeId);
  return { ...of, ...(found && { nodeId: found.nodeId }) };
}

describe("several tags", () => {
  const tagName = "v1.0";
  let other: TestRepository;
  beforeEach(async () => {
    other = await adapter.newRepository({ "README.md": "# Other\n" });
  });
  const both = async () => [
    { repository: await node(), tagName, sha: shop.base },
    { repository: await node(other.forgeRef), tagName, sha: other.base },
  ];
  const heads = async () => {
    const questions = [repository, other.forgeRef].map((each) => ({
      repository: each,
      branchName: "main",
      tagName,
    }));
    return (await forge.inspectTags(questions)).map((response) => Object(response).tagSha);
  };

  test("are created by one call", async () => {
    const tags = await both();
    adapter.world.forge.control.calls.reset();
    expect(await forge.createTags(tags)).toEqual([true, true]);
    expect(adapter.world.forge.control.calls.read()).toMatchObject({ total: 1, writes: 1 });
    expect(await heads()).toEqual([shop.base, other.base]);
  });

  test("are created separately, and none replaces another", async () => {
    const later = await shop.commit("main", { a: "a" });
    await forge.createTag(repository, tagName, later);
    expect(await forge.createTags(await both())).toEqual([false, true]);
    expect(await heads()).toEqual([later, other.base]);
  });

  test.each([
    ["never come", { kind: "response", status: 502, effect: "after" }],
    ["do not name the commit", { kind: "garble", as: "without", fields: ["oid"] }],
    ["are refused as a whole", { kind: "response", status: 403, body: { message: "No" }, effect: "after" }],
  ] as const)("are not considered created if responses %s", async (_, fault) => {
    adapter.world.forge.control.faults.add({ match: { operation: "CreateTags" }, fault, times: 1 });
    const tags = await both();
    expect(await forge.createTags(tags)).toEqual([false, false]);
    for (const { repository: each, sha } of tags)
      expect(await forge.createTag(each, tagName, sha)).toEqual({ ok: true, value: { created: false } });
  });

  test("are omitted in a repository with an unknown id", async () => {
    const [, known] = await both();
    const unknown = { repository, tagName, sha: shop.base };
    expect(await forge.createTags([unknown, known!])).toEqual([false, true]);
    expect(await heads()).toEqual([null, other.base]);
    expect(await forge.createTags([unknown])).toEqual([false]);
  });
});

describe("a tag at the head of a branch", () => {
  const tag = () => ({ branchName: "main", tagName: "v1.0", sha: shop.base });

  // Fault: C2
  test("is created by one call and does not move the branch", async () => {
    const addressed = await node();
    adapter.world.forge.control.calls.reset();
    expect(await forge.tagBranchTip(addressed, tag())).toBe(true);
    expect(adapter.world.forge.control.calls.read().total).toBe(1);
    expect(await beforeTagging("v1.0")).toEqual({ branchSha: shop.base, tagSha: shop.base });
  });

  test("is not created if the branch has moved, nor instead of another", async () => {
    const addressed = await node();
    const sha = await shop.commit("main", { a: "a" });
    expect(await forge.tagBranchTip(addressed, tag())).toBe(false);
    expect(await tagHead("v1.0")).toBeNull();
    await forge.createTag(repository, "v1.0", shop.base);
    expect(await forge.tagBranchTip(addressed, { ...tag(), sha })).toBe(false);
    expect(await tagHead("v1.0")).toBe(shop.base);
    expect(await forge.tagBranchTip(repository, { ...tag(), tagName: "v1.1", sha })).toBe(false);
    expect(await tagHead("v1.1")).toBeNull();
  });

  test("is known to exist after a lost response", async () => {
    const addressed = await node();
    loseResponse({ operation: "UpdateRefs" });
    expect(await forge.tagBranchTip(addressed, tag())).toBe(true);
  });
});

describe("the inspection before tagging", () => {
  test("reads several repositories in one call; missing parts are null", async () => {
    const other = await adapter.newRepository({ "README.md": "# Other\n" });
    await forge.createTag(repository, "v1.0", shop.base);
    adapter.world.forge.control.calls.reset();
    const responses = await forge.inspectTags([
      { repository, branchName: "main", tagName: "v1.0" },
      { repository: other.forgeRef, branchName: "gone", tagName: "v1.0" },
    ]);
    expect(adapter.world.forge.control.calls.read().total).toBe(1);
    expect(responses).toEqual([
      { branchSha: shop.base, tagSha: shop.base },
      { branchSha: null, tagSha: null },
    ]);
  });

  test("is refused for an archived or deleted repository", async () => {
    await api("PATCH", "", { archived: true });
    expect(await beforeTagging("v1.0")).toMatchObject({
      refusal: { message: expect.stringContaining("archived") },
    });
    const gone = { ...repository, forgeId: 999_999_999, fullName: "acme/nowhere" };
    const [response] = await forge.inspectTags([{ repository: gone, branchName: "main", tagName: "v1" }]);
    expect(response).toMatchObject({ refusal: { reason: "not_permitted" } });
  });
});

describe("a release", () => {
  const notes = () => ({
    tagName: "v1.0",
    sha: shop.base,
    name: "Spring",
    body: "- #7 Log in",
    references: [7],
    isPrerelease: false,
    isLatest: true,
  });

  test("links to the given pull requests only", async () => {
    await forge.createTag(repository, "v1.0", shop.base);
    const body = "- #7 Log in, #70 and @ada";
    await forge.publishRelease(repository, { ...notes(), name: "Closes #8", body });
    expect((await api("GET", "/releases")).body).toMatchObject([
      { name: "Closes #\u200D8", body: "- #7 Log in, #\u200D70 and @\u200Dada" },
    ]);
  });

  test("is published for its tag and found by later attempts", async () => {
    await forge.createTag(repository, "v1.0", shop.base);
    await shop.commit("main", { a: "a" });
    adapter.world.forge.control.calls.reset();
    const published = await forge.publishRelease(repository, notes());
    expect(adapter.world.forge.control.calls.read().total).toBe(1);
    expect(published).toEqual({ ok: true, value: { url: expect.stringContaining("/releases/") } });
    expect(await forge.publishRelease(repository, notes())).toEqual(published);
    const listed = await api("GET", "/releases");
    expect(listed.body).toMatchObject([
      { tag_name: "v1.0", name: "Spring", body: notes().body, draft: false },
    ]);
    expect(await tagHead("v1.0")).toBe(shop.base);
  });

  test("creates a missing tag at the given commit and does not move an existing one", async () => {
    const later = await shop.commit("main", { a: "a" });
    expect(await forge.publishRelease(repository, notes())).toMatchObject({ ok: true });
    expect(await tagHead("v1.0")).toBe(shop.base);
    await forge.createTag(repository, "v1.1", later);
    expect(await forge.publishRelease(repository, { ...notes(), tagName: "v1.1" })).toMatchObject({
      ok: true,
    });
    expect(await tagHead("v1.1")).toBe(later);
  });

  test("is known to exist after a lost response", async () => {
    await forge.createTag(repository, "v1.0", shop.base);
    loseResponse({ method: "POST", path: "/repositories/*/releases" });
    expect(await forge.publishRelease(repository, notes())).toMatchObject({ ok: true });
    expect((await api("GET", "/releases")).body).toHaveLength(1);
  });

  // Fault: C11
  test.each([
    ["after a lost response", () => loseResponse({ method: "POST", path: "/repositories/*/releases" })],
    ["after somebody published it", () => forge.publishRelease(repository, notes())],
  ])("is recognized while reads lag, %s", async (_, before) => {
    const { control } = adapter.world.forge;
    control.setStaleReads({ seconds: 40 });
    await forge.createTag(repository, "v1.0", shop.base);
    await before();
    await expect(forge.publishRelease(repository, notes())).rejects.toThrow(ForgeUnavailable);
    control.setStaleReads(null);
    expect(await forge.publishRelease(repository, notes())).toMatchObject({ ok: true });
    expect((await api("GET", "/releases")).body).toHaveLength(1);
  });
});

test("a branch is compared, not a tag of the same name", async () => {
  await forge.createBranch(repository, BRANCH, shop.base);
  const sha = await shop.commit(BRANCH, { "README.md": "# Branch\n" });
  const other = await shop.commit("other", { "README.md": "# Other\n" });
  await forge.createTag(repository, BRANCH, shop.base);
  expect(await forge.contains(repository, BRANCH, sha)).toBe(true);
  await forge.createTag(repository, "other", sha);
  expect(await forge.contains(repository, "other", sha)).toBe(false);
  expect(await forge.branchHead(repository, "other")).toBe(other);
  expect(await forge.changedOnBothSides(repository, BRANCH, other)).toEqual(["README.md"]);
});

describe("a ref that cannot exist beside another one", () => {
  test.each(["trunkline", "trunkline/tmp", "trunkline/tmp/pick-1/x"])(
    "refuses a pick with the name of the branch %s",
    async (theirs) => {
      await shop.commit(theirs, { a: "a" });
      await forge.createBranch(repository, BRANCH, shop.base);
      await shop.commit("card/1", { b: "b" });
      const opened = await api("POST", "/pulls", { title: "Card 1", head: "card/1", base: "main" });
      const number = opened.number("number");
      await api("PUT", `/pulls/${number}/merge`, { merge_method: "squash" });
      const order = { branchName: BRANCH, expectedTip: shop.base, pullRequests: [number] };
      const picked = await forge.preparePick(repository, { ...order, tempBranch: "trunkline/tmp/pick-1" });
      expect(picked).toMatchObject({
        refusal: {
          reason: "branch_missing",
          message: expect.stringContaining(
            `The branch ${theirs} is in the way of a branch trunkline/tmp/pick-1`,
          ),
        },
      });
    },
  );

  test("refuses a tag, also among several, and does not hide other refusals", async () => {
    await forge.createTag(repository, "v1", shop.base);
    const message = expect.stringContaining(
      "The tag v1 is in the way of a tag v1/rc1: Git cannot have both.",
    );
    expect(await forge.createTag(repository, "v1/rc1", shop.base)).toMatchObject({ refusal: { message } });
    expect(await beforeTagging("v1/rc1")).toMatchObject({ refusal: { message } });
    expect(await beforeTagging("v1rc1")).toEqual({ branchSha: shop.base, tagSha: null });
    expect(await forge.createBranch(repository, "v1/rc1", shop.base)).toMatchObject({ ok: true });
    expect(await forge.createBranch(repository, "fix", "f".repeat(40))).toMatchObject({
      refusal: { message: "Object does not exist" },
    });
  });
});

test("a branch contains the commits that are reachable from it", async () => {
  await forge.createBranch(repository, BRANCH, shop.base);
  const sha = await shop.commit(BRANCH, { a: "a" });
  expect(await forge.contains(repository, BRANCH, shop.base)).toBe(true);
  expect(await forge.contains(repository, BRANCH, sha)).toBe(true);
  expect(await forge.contains(repository, "main", sha)).toBe(false);
  expect(await forge.contains(repository, "gone", sha)).toBeNull();
  expect(await forge.contains(repository, "main", "f".repeat(40))).toBeNull();
});

describe("the history of a branch", () => {
  const question = { branchName: "main", from: null, after: null, since: "2020-01-01T00:00:00Z" };

  async function mergeOne(number: number, method: string): Promise<string> {
    const branch = `card/${number}`;
    await forge.createBranch(repository, branch, (await forge.branchHead(repository, "main")) ?? "");
    await shop.commit(branch, { [`${number}-a.txt`]: "a" }, `One of ${number}`);
    await shop.commit(branch, { [`${number}-b.txt`]: "b" }, `Two of ${number}`);
    const opened = await api("POST", "/pulls", { title: `Card ${number}`, head: branch, base: "main" });
    const merged = await api("PUT", `/pulls/${opened.number("number")}/merge`, { merge_method: method });
    return merged.at("sha");
  }

  test("is its first-parent line with the pull request of each commit", async () => {
    const merge = await mergeOne(1, "merge");
    const push = await shop.commit("main", { p: "p" }, "Pushed\n\nAt once.");
    const squash = await mergeOne(2, "squash");
    const rebase = await mergeOne(3, "rebase");
    const history = await forge.landedCommits(repository, question);
    const expected = shop.git("rev-list", "--first-parent", "main").split("\n");
    expect(history).toMatchObject({ next: null, reachesAfter: false });
    expect(history?.commits.map(({ sha }) => sha)).toEqual(expected);
    const numbers = Object.fromEntries(history?.commits.map(({ sha, prNumber }) => [sha, prNumber]) ?? []);
    expect(numbers).toEqual({
      [rebase]: 3,
      [shop.git("rev-parse", `${rebase}^`)]: 3,
      [squash]: 2,
      [push]: null,
      [merge]: 1,
      [shop.base]: null,
    });
    expect(history?.commits.find(({ sha }) => sha === push)).toEqual({
      sha: push,
      mergedCommits: [],
      message: "Pushed\n\nAt once.",
      committedAt: new Date(shop.git("log", "-1", "--format=%cI", push)).toISOString(),
      authorLogin: "ada",
      prNumber: null,
    });
    expect(
      history?.commits.find(({ sha }) => sha === merge)?.mergedCommits?.map(({ message }) => message),
    ).toEqual(["Two of 1", "One of 1"]);
    const since = await forge.landedCommits(repository, { ...question, after: push });
    expect(since?.commits.map(({ sha }) => sha)).toEqual(expected.slice(0, expected.indexOf(push)));
    expect(since?.reachesAfter).toBe(true);
    const earlier = await forge.landedCommits(repository, { ...question, from: push });
    expect(earlier?.commits.map(({ sha }) => sha)).toEqual([push, merge, shop.base]);
    expect(await forge.landedCommits(repository, { ...question, branchName: "gone" })).toBeNull();
  });

  test("is read page by page if it is long", async () => {
    shop.import(
      Array.from({ length: 230 }, (_, index) => ({
        message: `Commit ${index}`,
        at: 1_700_000_000 + index * 60,
      })),
    );
    const history = await forge.landedCommits(repository, { ...question, after: shop.base });
    expect(history?.commits).toHaveLength(230);
    expect(history).toMatchObject({ reachesAfter: true, next: null });
    const since = new Date((1_700_000_000 + 200 * 60) * 1_000).toISOString();
    const some = await forge.landedCommits(repository, { ...question, since });
    expect(some?.commits.map(({ message }) => message)).toEqual(
      Array.from({ length: 30 }, (_, index) => `Commit ${229 - index}`),
    );
  });
});
