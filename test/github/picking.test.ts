/** Compares picks through GitHub's API with `git cherry-pick` of the same commits. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ACTIVE_TOKENS } from "../support/forge/active-tokens.ts";
import type { Forge } from "../../src/forge/forge.ts";
import { type Adapter, cherryPick, startAdapter } from "../support/forge/adapter.ts";
import type { TestForge } from "../support/forge/sandbox-forge.ts";
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

async function requireSignatures({ forge: sandbox, api }: TestForge, fullName: string, byRuleset: boolean) {
  if (byRuleset) return sandbox.webUi.requireSignatures(fullName, RELEASE);
  const path = `/repos/${fullName}/branches/${encodeURIComponent(RELEASE)}/protection`;
  const none = { required_status_checks: null, required_pull_request_reviews: null, restrictions: null };
  await api("PUT", path, { enforce_admins: true, ...none });
  await api("POST", `${path}/required_signatures`);
}

const contained = { ok: true, value: { state: "contained" } };

describe("a pick", () => {
  test("of a commit has the result of git cherry-pick, in at most five calls", async () => {
    const { number, sha } = await shop.land([[{ "list.txt": text({ 1: "TWO" }) }, "Shout two\n\nBecause."]]);
    await shop.commit(RELEASE, { "list.txt": text({ 7: "EIGHT" }) });
    const wanted = await shop.order(number);
    adapter.world.forge.control.calls.reset();
    const result = await cherryPick(forge, shop.forgeRef, wanted);
    expect(result).toEqual(picked);
    expect(adapter.world.forge.control.calls.read().total).toBeLessThanOrEqual(5);
    expect(shop.git("show", `${RELEASE}:list.txt`)).toBe(text({ 1: "TWO", 7: "EIGHT" }).trim());
    expect(shop.git("log", "-1", "--format=%P|%an|%B", RELEASE)).toBe(
      `${wanted.expectedTip}|${shop.git("log", "-1", "--format=%an", sha)}|Shout two\n\nBecause.\n\n(cherry picked from commit ${sha})`,
    );
    expect(shop.branches()).not.toContain(TEMP);
  });

  test.each(["merge", "squash", "rebase"] as const)("brings a pull request merged by %s", async (how) => {
    const { number, sha } = await shop.land(
      [
        [{ "list.txt": text({ 6: "SEVEN" }) }, "Shout seven"],
        [{ "new.txt": "new\n" }, "Add new"],
      ],
      how,
    );
    const line = shop.git("rev-list", "--first-parent", "--reverse", `${shop.base}..main`).split("\n");
    expect(line).toHaveLength(how === "rebase" ? 2 : 1);
    const result = await cherryPick(forge, shop.forgeRef, await shop.order(number));
    expect(result).toMatchObject({ value: { state: "picked", commits: line } });
    expect(shop.git("diff", "--name-only", shop.base, RELEASE).split("\n")).toEqual(["list.txt", "new.txt"]);
    expect(shop.git("show", `${RELEASE}:list.txt`)).toBe(text({ 6: "SEVEN" }).trim());
    expect(shop.git("rev-list", `${shop.base}..${RELEASE}`).split("\n")).toHaveLength(line.length);
    expect(shop.git("log", "-1", "--format=%an", RELEASE)).toBe(shop.git("log", "-1", "--format=%an", sha));
  });

  test("has a commit message without mentions, references and tokens that skip CI", async () => {
    const subject = "Shout two for @ada [skip ci] (#9)";
    const { number, sha } = await shop.land([
      [{ "list.txt": text({ 1: "TWO" }) }, `${subject}\n\nCloses #8`],
    ]);
    expect(await cherryPick(forge, shop.forgeRef, await shop.order(number))).toEqual(picked);
    const message = shop.git("log", "-1", "--format=%B", RELEASE);
    for (const token of ACTIVE_TOKENS) expect(message).not.toMatch(token);
    expect(message.replaceAll("\u200D", "")).toBe(
      `${subject}\n\nCloses #8\n\n(cherry picked from commit ${sha})`,
    );
  });

  test.each(["classic protection", "a ruleset"])("is signed where %s requires it", async (how) => {
    const { number, sha } = await shop.land([
      [{ "list.txt": text({ 1: "TWO" }) }, "Shout two\n\nReviewed-by: Grace <grace@x.test>"],
    ]);
    await requireSignatures(adapter.world, shop.forgeRef.fullName, how === "a ruleset");
    expect(await cherryPick(forge, shop.forgeRef, await shop.order(number))).toEqual(picked);
    const author = shop.git("log", "-1", "--format=%an <%ae>", sha);
    expect(shop.git("log", "-1", "--format=%an|%cn|%B", RELEASE)).toBe(
      `trunkline[bot]|GitHub|Shout two\n\nReviewed-by: Grace <grace@x.test>\n` +
        `(cherry picked from commit ${sha})\nCo-authored-by: ${author}`,
    );
    const tip = shop.git("rev-parse", RELEASE);
    const commit = await adapter.world.api("GET", `/repos/${shop.forgeRef.fullName}/git/commits/${tip}`);
    expect(commit.at("verification.verified")).toBe("true");
  });

  test.each([
    ["", 0],
    [", also far apart", 101],
  ])("of several pull requests picks them as they landed and omits others%s", async (_, between) => {
    const first = await shop.land([[{ "a.txt": "a\n" }, "Add a"]]);
    await shop.land([[{ "b.txt": "b\n" }, "Add b"]]);
    if (between > 0)
      shop.import(
        Array.from({ length: between }, (__, at) => ({ message: `Push ${at}`, at: 1_700_000_000 })),
      );
    const third = await shop.land([[{ "a.txt": "A\n" }, "Shout a"]]);
    const order = await shop.order(third.number, first.number);
    expect(await cherryPick(forge, shop.forgeRef, order)).toEqual(picked);
    expect(shop.git("log", "--format=%s", `${shop.base}..${RELEASE}`)).toBe("Shout a\nAdd a");
    expect(shop.git("ls-tree", "--name-only", RELEASE)).toBe("a.txt\nlist.txt");
  });

  // Fault: D15
  test("of commits that the branch has writes nothing", async () => {
    const { number } = await shop.land([[{ "list.txt": text({ 1: "TWO" }) }]]);
    await shop.commit(RELEASE, { "list.txt": text({ 1: "TWO" }) });
    const same = await shop.order(number);
    expect(await cherryPick(forge, shop.forgeRef, same)).toEqual(contained);
    const merged = await shop.land([[{ "early.txt": "early\n" }]], "merge");
    shop.git("update-ref", `refs/heads/${RELEASE}`, "main");
    const itself = await shop.order(merged.number);
    expect(await cherryPick(forge, shop.forgeRef, itself)).toEqual(contained);
    expect(await forge.branchHead(shop.forgeRef, RELEASE)).toBe(itself.expectedTip);
    expect(shop.branches()).not.toContain(TEMP);
  });

  test.each([
    ["as a pick", RELEASE],
    ["itself", "main"],
  ])("of a commit that the branch has %s before many others writes nothing", async (_, branch) => {
    const { number } = await shop.land([[{ "list.txt": text({ 1: "TWO" }) }]]);
    if (branch === RELEASE) await cherryPick(forge, shop.forgeRef, await shop.order(number));
    // Without a revert that names the commit.
    await shop.commit(branch, { "list.txt": text() });
    const at = Math.ceil(Date.now() / 1000);
    shop.import(
      Array.from({ length: 250 }, (__, index) => ({ message: `Push ${index}`, at })),
      branch,
    );
    if (branch !== RELEASE) shop.git("update-ref", `refs/heads/${RELEASE}`, branch);
    const order = await shop.order(number);
    expect(await cherryPick(forge, shop.forgeRef, order)).toEqual(contained);
    expect(await forge.branchHead(shop.forgeRef, RELEASE)).toBe(order.expectedTip);
  });

  test("searches no commits that are older than the picked one", async () => {
    shop.import(
      Array.from({ length: 250 }, (_, index) => ({ message: `Push ${index}`, at: 1_700_000_000 })),
      RELEASE,
    );
    const { number } = await shop.land([[{ "list.txt": text({ 1: "TWO" }) }]]);
    const order = await shop.order(number);
    adapter.world.forge.control.calls.reset();
    expect(await cherryPick(forge, shop.forgeRef, order)).toEqual(picked);
    expect(adapter.world.forge.control.calls.read().total).toBeLessThanOrEqual(5);
  });

  test("is found when it is requested again, and repeated after a revert", async () => {
    const { number } = await shop.land([[{ "list.txt": text({ 1: "TWO" }) }]]);
    const wanted = await shop.order(number);
    const first = await cherryPick(forge, shop.forgeRef, wanted);
    expect(await cherryPick(forge, shop.forgeRef, wanted)).toEqual(first);
    await shop.commit(RELEASE, { "notes.txt": "later\n" });
    expect(await cherryPick(forge, shop.forgeRef, wanted)).toEqual(first);
    expect(await cherryPick(forge, shop.forgeRef, await shop.order(number))).toEqual(contained);
    const pick = first.ok && first.value.state === "picked" ? first.value.sha : "";
    await shop.commit(RELEASE, { "list.txt": text() }, `Revert it\n\nThis reverts commit ${pick}.`);
    expect(await cherryPick(forge, shop.forgeRef, await shop.order(number))).toEqual(picked);
    expect(shop.git("show", `${RELEASE}:list.txt`)).toBe(text({ 1: "TWO" }).trim());
  });

  test("of a pull request that is not merged is refused", async () => {
    await shop.commit("card/open", { "a.txt": "a\n" });
    const opened = await adapter.world.api("POST", `/repos/${shop.forgeRef.fullName}/pulls`, {
      title: "Work",
      head: "card/open",
      base: "main",
    });
    const number = opened.number("number");
    expect(await cherryPick(forge, shop.forgeRef, await shop.order(number))).toEqual({
      ok: false,
      refusal: {
        reason: "unknown",
        message: `GitHub reports no merge of pull request #${number}. Check it on GitHub, then try again.`,
      },
    });
    expect(shop.branches()).not.toContain(TEMP);
  });
});
