import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import type { TestBoard } from "../support/world.ts";
import { findInaccessible } from "./support/browser.ts";
import { onBoard } from "./support/board-page.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

/** The titles of all cards, in the order in which they were created. */
async function titlesOf({ api }: TestBoard): Promise<string[]> {
  const { body } = await api.get<{ title: string }[]>("/v1/cards?sort=number");
  return body.map(({ title }) => title);
}
const TITLES = Array.from({ length: 10 }, (_, at) => `Title number ${at + 1}`);

describe("titles of new cards", () => {
  it("that are typed quickly become exactly these cards, in this order", async () => {
    const board = await app.board();
    const { page, ...ada } = await app.signIn(board);
    await onBoard(page);
    await page.keyboard.press("c");
    await page.getByPlaceholder("Title of the new card").waitFor();
    for (const title of TITLES) {
      await page.keyboard.type(title, { delay: 30 });
      await page.keyboard.press("Enter");
    }
    await page.keyboard.type("Not finished", { delay: 30 });
    await eventually(
      () => titlesOf(board),
      (titles) => titles.length >= TITLES.length,
    );
    await page.locator(".quick-add-pending").waitFor({ state: "detached" });
    expect(await titlesOf(board)).toEqual(TITLES);
    expect(await page.getByPlaceholder("Title of the new card").inputValue()).toBe("Not finished");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("that could not be saved stay, and are created once in their order by another try", async () => {
    const board = await app.board();
    const { page, ...ada } = await app.signIn(board);
    await onBoard(page);
    await page.keyboard.press("c");
    const field = page.getByPlaceholder("Title of the new card");
    await field.waitFor();
    // The first call arrives, and its response does not.
    await page.route("**/console/v1/cards", async (route) => {
      if ((await titlesOf(board)).length === 0) await route.fetch();
      await route.abort();
    });
    for (const title of ["One", "Two", "Three"]) {
      await page.keyboard.type(title);
      await page.keyboard.press("Enter");
    }
    await page.getByRole("alert").getByText("Three").waitFor();
    expect(await page.locator(".quick-add-failed li").allTextContents()).toEqual(["One", "Two", "Three"]);
    expect(await findInaccessible(page)).toEqual([]);
    await page.unroute("**/console/v1/cards");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".quick-add-failed").waitFor({ state: "detached" });
    await page.locator(".quick-add-pending").waitFor({ state: "detached" });
    expect(await titlesOf(board)).toEqual(["One", "Two", "Three"]);
    await ada.close();
  });

  it("that are pasted as lines become one card per line, if the user wants", async () => {
    const board = await app.board();
    const { page, context, ...ada } = await app.signIn(board);
    await onBoard(page);
    await page.keyboard.press("c");
    const field = page.getByPlaceholder("Title of the new card");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const paste = async (text: string): Promise<void> => {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await field.press("Control+V");
    };
    await paste("First\n\n  Second \r\nThird\n");
    await page.getByRole("button", { name: "Create 3 cards, one per line" }).click();
    await eventually(
      () => titlesOf(board),
      (titles) => titles.length === 3,
    );
    await paste("one\ntitle");
    await page.getByRole("button", { name: "Paste as one title" }).click();
    expect(await field.inputValue()).toBe("one title");
    expect(await titlesOf(board)).toEqual(["First", "Second", "Third"]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
