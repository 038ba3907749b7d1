/** Cherry-picks that do not go through, or not at the first try. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
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
afterEach(() => adapter.world.forge.control.faults.clear());

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

describe("a pick", () => {
  test("that conflicts names the files and picks nothing, the commits before it neither", async () => {
    const fine = await shop.commit("main", { "fine.txt": "fine\n" });
    const sha = await shop.commit("main", { "list.txt": text({ 1: "TWO" }), "also.txt": "also\n" });
    await shop.commit(RELEASE, { "list.txt": text({ 1: "deux" }) });
    const wanted = await order(fine, sha);
    expect(await cherryPick(forge, repository, wanted)).toEqual({
      ok: true,
      value: { state: "conflict", files: ["list.txt"], message: "Merge conflict" },
    });
    expect(await forge.branchHead(repository, RELEASE)).toBe(wanted.expectedTip);
    expect(branches()).not.toContain(TEMP);
  });

  test("onto a branch that moved or went away writes nothing", async () => {
    const sha = await shop.commit("main", { "a.txt": "a\n" });
    const wanted = await order(sha);
    const tip = await shop.commit(RELEASE, { "b.txt": "b\n" });
    const moved = { ok: true, value: { state: "moved", sha: tip } };
    expect(await cherryPick(forge, repository, wanted)).toEqual(moved);
    const gone = { ...wanted, branchName: "release/gone" };
    expect(await cherryPick(forge, repository, gone)).toEqual({
      ok: true,
      value: { state: "moved", sha: null },
    });
    expect(branches()).not.toContain(TEMP);
  });

  test("that another push overtakes leaves the push alone", async () => {
    const sha = await shop.commit("main", { "a.txt": "a\n" });
    const wanted = await order(sha);
    let overtaken = "";
    const slow = adapter.connect({
      async fetch(url, init) {
        if (typeof init.body === "string" && init.body.includes("mutation UpdateRefs") && overtaken === "")
          overtaken = await shop.commit(RELEASE, { "b.txt": "b\n" });
        return await fetch(url, init);
      },
    });
    const result = await cherryPick(slow, repository, wanted);
    expect(result).toEqual({ ok: true, value: { state: "moved", sha: overtaken } });
    expect(await forge.branchHead(repository, RELEASE)).toBe(overtaken);
    expect(branches()).not.toContain(TEMP);
  });

  test("onto a branch that is set back meanwhile does not bring back what was taken away", async () => {
    const sha = await shop.commit("main", { "a.txt": "a\n" });
    await shop.commit(RELEASE, { "wrong.txt": "wrong\n" });
    const wanted = await order(sha);
    const slow = adapter.connect({
      async fetch(url, init) {
        if (typeof init.body === "string" && init.body.includes("mutation UpdateRefs"))
          shop.git("update-ref", `refs/heads/${RELEASE}`, shop.base);
        return await fetch(url, init);
      },
    });
    expect(await cherryPick(slow, repository, wanted)).toEqual({
      ok: true,
      value: { state: "moved", sha: shop.base },
    });
    expect(await forge.branchHead(repository, RELEASE)).toBe(shop.base);
  });

  test("the forge does not allow is refused in its words, and leaves no branch behind", async () => {
    const sha = await shop.commit("main", { "a.txt": "a\n" });
    await adapter.world.api(
      "PUT",
      `/repos/${repository.fullName}/branches/${encodeURIComponent(RELEASE)}/protection`,
      {
        required_status_checks: null,
        enforce_admins: true,
        required_pull_request_reviews: null,
        restrictions: { users: [], teams: [], apps: [] },
      },
    );
    expect(await cherryPick(forge, repository, await order(sha))).toEqual({
      ok: false,
      refusal: { reason: "protected", message: "You're not authorized to push to this branch." },
    });
    expect(branches()).not.toContain(TEMP);
  });

  test.each([
    ["the first commit", "/repositories/*/git/commits", undefined],
    ["the merge", "/api/graphql", "PickMerges"],
    ["the move of the branch", "/api/graphql", "UpdateRefs"],
  ])("is done once though the answer to %s is lost", async (_, path, operation) => {
    const sha = await shop.commit("main", { "list.txt": text({ 1: "TWO" }) });
    const fault = { kind: "answer", status: 502, effect: "after" } as const;
    adapter.world.forge.control.faults.add({
      match: operation === undefined ? { method: "POST", path } : { operation },
      fault,
      times: 1,
    });
    expect(await cherryPick(forge, repository, await order(sha))).toEqual(picked);
    expect(shop.git("rev-list", "--count", `${shop.base}..${RELEASE}`)).toBe("1");
    expect(branches()).not.toContain(TEMP);
  });

  test("takes up what an earlier try left on its temporary branch", async () => {
    const sha = await shop.commit("main", { "list.txt": text({ 1: "TWO" }) });
    await shop.commit(TEMP, { "list.txt": "something else altogether\n" });
    expect(await forge.temporaryBranches(repository)).toEqual([
      { branchName: TEMP, sha: shop.git("rev-parse", TEMP) },
    ]);
    expect(await cherryPick(forge, repository, await order(sha))).toEqual(picked);
    expect(shop.git("show", `${RELEASE}:list.txt`)).toBe(text({ 1: "TWO" }).trim());
    expect(await forge.temporaryBranches(repository)).toEqual([]);
  });

  test("that is prepared is on no branch until it is landed, and can be taken back from where it landed", async () => {
    const sha = await shop.commit("main", { "a.txt": "a\n" });
    const wanted = await order(sha);
    const prepared = await forge.preparePick(repository, wanted);
    if (!prepared.ok || prepared.value.state !== "prepared") throw new Error("nothing was prepared");
    expect(await forge.branchHead(repository, RELEASE)).toBe(wanted.expectedTip);
    const back = () => forge.moveBranch(repository, RELEASE, tip, wanted.expectedTip);
    const tip = prepared.value.sha;
    expect(await back()).toEqual({ ok: true, value: { state: "there" } });
    await forge.landPick(repository, wanted, prepared.value);
    expect(await forge.branchHead(repository, RELEASE)).toBe(tip);
    expect(await back()).toEqual({ ok: true, value: { state: "there" } });
    expect(await forge.branchHead(repository, RELEASE)).toBe(wanted.expectedTip);
    const pushed = await shop.commit(RELEASE, { "b.txt": "b\n" });
    expect(await back()).toEqual({ ok: true, value: { state: "moved", sha: pushed } });
    expect(branches()).not.toContain(TEMP);
  });
});
