/** Cherry-picks with conflicts, races and lost responses. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Forge } from "../../src/forge/forge.ts";
import { type Adapter, cherryPick, startAdapter } from "../support/forge/adapter.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { picked, type PickShop, pickShop, RELEASE, TEMP, text } from "../support/stories/picks.ts";

let adapter: Adapter;
let forge: Forge;
let shop: PickShop;

beforeAll(async () => {
  adapter = await startAdapter();
  forge = adapter.forge;
});
afterAll(() => adapter.world.stop());
beforeEach(async () => {
  shop = await pickShop(adapter);
});
afterEach(() => adapter.world.forge.control.faults.clear());

describe("a pick", () => {
  // Fault: D15
  test("with a conflict names the files and picks none of its commits", async () => {
    const { number } = await shop.land([
      [{ "fine.txt": "fine\n" }],
      [{ "list.txt": text({ 1: "TWO" }), "also.txt": "also\n" }],
    ]);
    await shop.commit(RELEASE, { "list.txt": text({ 1: "deux" }) });
    const wanted = await shop.order(number);
    expect(await cherryPick(forge, shop.forgeRef, wanted)).toEqual({
      ok: true,
      value: { state: "conflict", files: ["list.txt"], message: 'Failed to merge: "Merge conflict"' },
    });
    expect(await forge.branchHead(shop.forgeRef, RELEASE)).toBe(wanted.expectedTip);
    expect(shop.branches()).not.toContain(TEMP);
  });

  test("onto a branch that moved or was deleted writes nothing", async () => {
    const { number } = await shop.land([[{ "a.txt": "a\n" }]]);
    const wanted = await shop.order(number);
    const tip = await shop.commit(RELEASE, { "b.txt": "b\n" });
    const moved = { ok: true, value: { state: "moved", sha: tip } };
    expect(await cherryPick(forge, shop.forgeRef, wanted)).toEqual(moved);
    const gone = { ...wanted, branchName: "release/gone" };
    expect(await cherryPick(forge, shop.forgeRef, gone)).toEqual({
      ok: true,
      value: { state: "moved", sha: null },
    });
    expect(shop.branches()).not.toContain(TEMP);
  });

  // Fault: D13
  test("does not overwrite a concurrent push", async () => {
    const { number } = await shop.land([[{ "a.txt": "a\n" }]]);
    const wanted = await shop.order(number);
    const update = holdCalls(adapter.world, { operation: "UpdateRefs" }, "before");
    const picking = cherryPick(forge, shop.forgeRef, wanted);
    await update.arrived();
    const pushedSha = await shop.commit(RELEASE, { "b.txt": "b\n" });
    update.resume();
    expect(await picking).toEqual({ ok: true, value: { state: "moved", sha: pushedSha } });
    expect(await forge.branchHead(shop.forgeRef, RELEASE)).toBe(pushedSha);
    expect(shop.branches()).not.toContain(TEMP);
  });

  test("onto a branch that is reset meanwhile does not restore the removed commits", async () => {
    const { number } = await shop.land([[{ "a.txt": "a\n" }]]);
    await shop.commit(RELEASE, { "wrong.txt": "wrong\n" });
    const wanted = await shop.order(number);
    const update = holdCalls(adapter.world, { operation: "UpdateRefs" }, "before");
    const picking = cherryPick(forge, shop.forgeRef, wanted);
    await update.arrived();
    shop.git("update-ref", `refs/heads/${RELEASE}`, shop.base);
    update.resume();
    expect(await picking).toEqual({ ok: true, value: { state: "moved", sha: shop.base } });
    expect(await forge.branchHead(shop.forgeRef, RELEASE)).toBe(shop.base);
  });

  test("that GitHub refuses has its message and leaves no branch", async () => {
    const { number } = await shop.land([[{ "a.txt": "a\n" }]]);
    await adapter.world.api(
      "PUT",
      `/repos/${shop.forgeRef.fullName}/branches/${encodeURIComponent(RELEASE)}/protection`,
      {
        required_status_checks: null,
        enforce_admins: true,
        required_pull_request_reviews: null,
        restrictions: { users: [], teams: [], apps: [] },
      },
    );
    expect(await cherryPick(forge, shop.forgeRef, await shop.order(number))).toEqual({
      ok: false,
      refusal: { reason: "protected", message: "You're not authorized to push to this branch." },
    });
    expect(shop.branches()).not.toContain(TEMP);
  });

  // Fault: C2
  test.each([
    ["the first commit", "/repositories/*/git/commits", undefined],
    ["the merge", "/api/graphql", "PickMerges"],
    ["the move of the branch", "/api/graphql", "UpdateRefs"],
  ])("is done once if the response to %s is lost", async (_, path, operation) => {
    const { number } = await shop.land([[{ "list.txt": text({ 1: "TWO" }) }]]);
    const fault = { kind: "response", status: 502, effect: "after" } as const;
    adapter.world.forge.control.faults.add({
      match: operation === undefined ? { method: "POST", path } : { operation },
      fault,
      times: 1,
    });
    expect(await cherryPick(forge, shop.forgeRef, await shop.order(number))).toEqual(picked);
    expect(shop.git("rev-list", "--count", `${shop.base}..${RELEASE}`)).toBe("1");
    expect(shop.branches()).not.toContain(TEMP);
  });

  test("continues what an earlier attempt left on its temporary branch", async () => {
    const { number } = await shop.land([[{ "list.txt": text({ 1: "TWO" }) }]]);
    await shop.commit(TEMP, { "list.txt": "something else altogether\n" });
    expect(await forge.temporaryBranches(shop.forgeRef)).toEqual([
      { branchName: TEMP, sha: shop.git("rev-parse", TEMP) },
    ]);
    expect(await cherryPick(forge, shop.forgeRef, await shop.order(number))).toEqual(picked);
    expect(shop.git("show", `${RELEASE}:list.txt`)).toBe(text({ 1: "TWO" }).trim());
    expect(await forge.temporaryBranches(shop.forgeRef)).toEqual([]);
  });

  test("is on no branch until it is landed, and can be reverted afterwards", async () => {
    const { number } = await shop.land([[{ "a.txt": "a\n" }]]);
    const wanted = await shop.order(number);
    const prepared = await forge.preparePick(shop.forgeRef, wanted);
    if (!prepared.ok || prepared.value.state !== "prepared") throw new Error("the pick was not prepared");
    expect(await forge.branchHead(shop.forgeRef, RELEASE)).toBe(wanted.expectedTip);
    const back = () => forge.moveBranch(shop.forgeRef, RELEASE, tip, wanted.expectedTip);
    const tip = prepared.value.sha;
    expect(await back()).toEqual({ ok: true, value: { state: "at_target" } });
    await forge.applyPick(shop.forgeRef, wanted, prepared.value);
    expect(await forge.branchHead(shop.forgeRef, RELEASE)).toBe(tip);
    expect(await back()).toEqual({ ok: true, value: { state: "at_target" } });
    expect(await forge.branchHead(shop.forgeRef, RELEASE)).toBe(wanted.expectedTip);
    const pushed = await shop.commit(RELEASE, { "b.txt": "b\n" });
    expect(await back()).toEqual({ ok: true, value: { state: "moved", sha: pushed } });
    expect(shop.branches()).not.toContain(TEMP);
  });
});
