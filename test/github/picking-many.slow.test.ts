import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Adapter, cherryPick, startAdapter } from "../support/forge/adapter.ts";
import { picked, pickShop, RELEASE, TEMP } from "../support/stories/picks.ts";

let adapter: Adapter;
beforeAll(async () => {
  adapter = await startAdapter();
});
afterAll(() => adapter.world.stop());

// Fault: D15
test("a pick of more commits than one call merges has all of them in order", async () => {
  const shop = await pickShop(adapter);
  const lines = Array.from({ length: 11 }, (_, index) => `Line ${index}`);
  const { number } = await shop.land(
    lines.map((line, index) => [{ "log.txt": `${lines.slice(0, index + 1).join("\n")}\n` }, line]),
  );
  expect(await cherryPick(adapter.forge, shop.forgeRef, await shop.order(number))).toEqual(picked);
  expect(shop.git("log", "--reverse", "--format=%s", `${shop.base}..${RELEASE}`).split("\n")).toEqual(lines);
  expect(shop.git("show", `${RELEASE}:log.txt`).split("\n")).toEqual(lines);
});

test("a pull request that was merged by rebase is picked with 100 commits, and refused with 101", async () => {
  const shop = await pickShop(adapter);
  const commitsOf = (count: number) =>
    Array.from({ length: count }, (_, at) => [{ [`${count}.txt`]: `${at}\n` }, `Step ${at}`] as const);
  const tooLarge = await shop.land(commitsOf(101));
  const refused = await adapter.forge.preparePick(shop.forgeRef, await shop.order(tooLarge.number));
  expect(refused).toEqual({
    ok: false,
    refusal: {
      reason: "unknown",
      message: expect.stringContaining("merged by rebase with more than 100 commits"),
    },
  });
  expect(shop.branches()).not.toContain(TEMP);
  const { number } = await shop.land(commitsOf(100));
  expect(await cherryPick(adapter.forge, shop.forgeRef, await shop.order(number))).toEqual(picked);
  expect(shop.git("rev-list", `${shop.base}..${RELEASE}`).split("\n")).toHaveLength(100);
  expect(shop.git("show", `${RELEASE}:100.txt`)).toBe("99");
  const squashed = await shop.land(commitsOf(102), "squash");
  expect(await cherryPick(adapter.forge, shop.forgeRef, await shop.order(squashed.number))).toMatchObject({
    value: { state: "picked", commits: [squashed.sha] },
  });
});
