import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Adapter, cherryPick, startAdapter } from "../support/forge/adapter.ts";
import { picked, pickShop, RELEASE } from "../support/stories/picks.ts";

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
