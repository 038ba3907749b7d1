/** Cherry-picks through GitHub's calls, against what git makes of the same commits. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Forge, RepositoryRef } from "../../src/forge/forge.ts";
import type { PickOrder } from "../../src/forge/releasing.ts";
import { type Adapter, cherryPick, startAdapter, type TestRepository } from "../support/adapter.ts";

let adapter: Adapter;
let forge: Forge;
let shop: TestRepository;
let repository: RepositoryRef;

beforeAll(async () => {
  adapter = await startAdapter();
  forge = adapter.forge;
});
afterAll(() => adapter.world.stop());

const RELEASE = "release/spring";
const TEMP = "trunkline/tmp/pick-1";
const LINES = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
const text = (changes: Readonly<Record<number, string>> = {}) =>
  `${LINES.map((line, index) => changes[index] ?? line).join("\n")}\n`;

beforeEach(async () => {
  shop = await adapter.newRepository({ "list.txt": text() });
  repository = shop.ref;
  await forge.createBranch(repository, RELEASE, shop.base);
});

async function order(...commits: string[]): Promise<PickOrder> {
  const expectedTip = (await forge.branchHead(repository, RELEASE)) ?? "";
  return { branchName: RELEASE, expectedTip, commits, tempBranch: TEMP };
}
const picked = { ok: true, value: { state: "picked", sha: expect.stringMatching(/^[0-9a-f]{40}$/) } };
const branches = () => shop.git("for-each-ref", "--format=%(refname:short)", "refs/heads/").split("\n");

async function mergedPull(method: "merge" | "squash" | "rebase") {
  const branch = "card/1";
  await forge.createBranch(repository, branch, shop.base);
  await shop.commit(branch, { "list.txt": text({ 6: "SEVEN" }) }, "Shout seven");
  await shop.commit(branch, { "new.txt": "new\n" }, "Add new");
  await shop.commit("main", { "other.txt": "other\n" }, "Something else");
  const { api } = adapter.world;
  const pulls = `/repos/${repository.fullName}/pulls`;
  const opened = await api("POST", pulls, { title: "Shout", head: branch, base: "main" });
  const number = opened.number("number");
  const merge = await api("PUT", `${pulls}/${number}/merge`, { merge_method: method });
  return { number, sha: merge.at("sha") };
}

describe("a pick", () => {
  test("of a commit leaves what git cherry-pick leaves, in at most five calls", async () => {
    const sha = await shop.commit("main", { "list.txt": text({ 1: "TWO" }) }, "Shout two\n\nBecause.");
    await shop.commit(RELEASE, { "list.txt": text({ 7: "EIGHT" }) });
    const wanted = await order(sha);
    await forge.branchHead(repository, "main");
    adapter.world.forge.control.calls.reset();
    const result = await cherryPick(forge, repository, wanted);
    expect(result).toEqual(picked);
    expect(adapter.world.forge.control.calls.read().total).toBeLessThanOrEqual(5);
    expect(shop.git("show", `${RELEASE}:list.txt`)).toBe(text({ 1: "TWO", 7: "EIGHT" }).trim());
    expect(shop.git("log", "-1", "--format=%P|%an|%B", RELEASE)).toBe(
      `${wanted.expectedTip}|${shop.git("log", "-1", "--format=%an", sha)}|Shout two\n\nBecause.\n\n(cherry picked from commit ${sha})`,
    );
    expect(branches()).not.toContain(TEMP);
  });

  test.each(["merge", "squash", "rebase"] as const)("brings a pull request merged by %s", async (method) => {
    const pull = await mergedPull(method);
    const merged = await forge.commitsOf(repository, pull.number);
    if (!merged.ok) throw new Error(merged.refusal.message);
    expect(merged.value.method).toBe(method);
    expect(merged.value.shas).toHaveLength(method === "rebase" ? 2 : 1);
    expect(merged.value.shas.at(-1)).toBe(pull.sha);
    const wanted = await order(...merged.value.shas);
    expect(await cherryPick(forge, repository, wanted)).toEqual(picked);
    expect(shop.git("diff", "--name-only", shop.base, RELEASE).split("\n")).toEqual(["list.txt", "new.txt"]);
    expect(shop.git("show", `${RELEASE}:list.txt`)).toBe(text({ 6: "SEVEN" }).trim());
    expect(shop.git("rev-list", `${shop.base}..${RELEASE}`).split("\n")).toHaveLength(
      merged.value.shas.length,
    );
    expect(shop.git("log", "-1", "--format=%an", RELEASE)).toBe(
      shop.git("log", "-1", "--format=%an", pull.sha),
    );
  });

  test("of commits far apart keeps their order", async () => {
    const first = await shop.commit("main", { "a.txt": "a\n" }, "Add a");
    await shop.commit("main", { "b.txt": "b\n" }, "Add b");
    const third = await shop.commit("main", { "a.txt": "A\n" }, "Shout a");
    expect(await cherryPick(forge, repository, await order(first, third))).toEqual(picked);
    expect(shop.git("log", "--format=%s", `${shop.base}..${RELEASE}`)).toBe("Shout a\nAdd a");
    expect(shop.git("ls-tree", "--name-only", RELEASE)).toBe("a.txt\nlist.txt");
  });

  test("of what the branch has already writes nothing", async () => {
    const sha = await shop.commit("main", { "list.txt": text({ 1: "TWO" }) });
    await shop.commit(RELEASE, { "list.txt": text({ 1: "TWO" }) });
    const same = await order(sha);
    expect(await cherryPick(forge, repository, same)).toEqual({ ok: true, value: { state: "contained" } });
    expect(await cherryPick(forge, repository, await order(shop.base))).toEqual({
      ok: true,
      value: { state: "contained" },
    });
    expect(await forge.branchHead(repository, RELEASE)).toBe(same.expectedTip);
    expect(branches()).not.toContain(TEMP);
  });

  test("done once is found when it is asked for again, and a reverted one can be picked anew", async () => {
    const sha = await shop.commit("main", { "list.txt": text({ 1: "TWO" }) });
    const wanted = await order(sha);
    const first = await cherryPick(forge, repository, wanted);
    expect(await cherryPick(forge, repository, wanted)).toEqual(first);
    await shop.commit(RELEASE, { "notes.txt": "later\n" });
    expect(await cherryPick(forge, repository, wanted)).toEqual(first);
    expect(await cherryPick(forge, repository, await order(sha))).toMatchObject({
      value: { state: "contained" },
    });
    const pick = first.ok && first.value.state === "picked" ? first.value.sha : "";
    await shop.commit(RELEASE, { "list.txt": text() }, `Revert it\n\nThis reverts commit ${pick}.`);
    expect(await cherryPick(forge, repository, await order(sha))).toEqual(picked);
    expect(shop.git("show", `${RELEASE}:list.txt`)).toBe(text({ 1: "TWO" }).trim());
  });
});
