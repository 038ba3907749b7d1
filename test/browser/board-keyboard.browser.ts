import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { findInaccessible } from "./support/browser.ts";
import { addCard, boardWithCards, onBoard } from "./support/board-page.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

describe("the board by keyboard alone", () => {
  it("moves the focus, moves cards without and with Git, and merges", async () => {
    const board = await app.board();
    const { number } = await cardWithCommit(board);
    const second = await addCard(board, "Second");
    const first = await addCard(board, "First");
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    const { keyboard } = page;
    const focusIs = (wanted: number) =>
      eventually(
        () => shown.focused(),
        (focused) => focused === wanted,
      );
    const pick = async (entry: string): Promise<void> => {
      await keyboard.press("m");
      const item = page.getByRole("menuitem", { name: new RegExp(`^${entry}`) });
      await item.waitFor();
      await eventually(
        async () => {
          await keyboard.press("ArrowDown");
          return item.getAttribute("data-highlighted");
        },
        (highlighted) => highlighted !== null,
      );
      await keyboard.press("Enter");
      await page.getByRole("menu").waitFor({ state: "detached" });
    };
    await keyboard.press("j");
    await focusIs(first);
    await keyboard.press("ArrowDown");
    await focusIs(second);
    await keyboard.press("l");
    await focusIs(number);
    await keyboard.press("h");
    await focusIs(first);
    await keyboard.press("m");
    await page.getByRole("menu").waitFor();
    await keyboard.press("Escape");
    await focusIs(first);
    await pick("Down");
    await shown.shows("To do", [second, first]);
    await focusIs(first);
    await pick("In progress");
    await shown.cardIn("In progress", first).waitFor();
    await focusIs(first);
    await keyboard.press("l");
    await focusIs(number);
    await pick("Done");
    const question = page.getByRole("dialog", { name: `Move #${number} to Done?` });
    await question.waitFor();
    await keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    await focusIs(number);
    await pick("Done");
    await question.waitFor();
    await page.getByRole("button", { name: "Merge and move" }).focus();
    await keyboard.press("Enter");
    await shown.cardIn("Done", number).waitFor();
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages["Done"]);
    await focusIs(number);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("gives keys that are pressed while the menu opens to the menu", async () => {
    const board = await boardWithCards(app, 2);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    const { keyboard } = page;
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: 6 });
    await keyboard.press("j");
    await eventually(
      () => shown.focused(),
      (focused) => focused === 2,
    );
    // The menu names the stages "Backlog", "In progress" and "Done".
    for (const key of ["m", "ArrowDown", "Enter"]) await keyboard.press(key);
    await shown.cardIn("In progress", 2).waitFor();
    for (const key of ["m", "Escape", "ArrowDown"]) await keyboard.press(key);
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).not.toContain("/cards/");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("goes to the next card after a menu is closed with Escape", async () => {
    const board = await boardWithCards(app, 2);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    for (const key of ["j", "m"]) await page.keyboard.press(key);
    await eventually(
      () => page.evaluate("document.activeElement.role"),
      (role) => role === "menuitem",
    );
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    await eventually(
      () => shown.focused(),
      (focused) => focused === 2,
    );
    await page.keyboard.press("ArrowDown");
    await eventually(
      () => shown.focused(),
      (focused) => focused === 1,
    );
    expect(await page.getByRole("menu").count()).toBe(0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("asks for the title of a new card, and returns the focus to the button", async () => {
    const board = await boardWithCards(app, 1);
    const { page, ...ada } = await app.signIn(board);
    await onBoard(page);
    await page.keyboard.press("c");
    const title = page.getByRole("textbox", { name: "Title of the new card in To do" });
    await title.press("Enter");
    await page.getByText("A card needs a title.").waitFor();
    await title.press("Escape");
    await title.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.textContent.trim()")).toBe("New card");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("lists its shortcuts in their order, with arrows that have names", async () => {
    const board = await boardWithCards(app, 1);
    const { page, ...ada } = await app.signIn(board);
    await onBoard(page);
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await dialog.getByText("Next card").waitFor();
    const labels = await dialog.locator("dt").allTextContents();
    expect([labels[0], labels.at(-1)]).toEqual(["Next card", "Go to the settings"]);
    expect(await dialog.locator("kbd", { hasText: "arrow down" }).textContent()).toBe("↓arrow down");
    expect(await findInaccessible(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is accessible while it shows filters, refusals and a question", async () => {
    const board = await boardWithCards(app, 2);
    await board.api.card({ title: "Out of the way" });
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await shown.choose(1, "In progress");
    await shown.cardIn("In progress", 1).getByText("Moving").waitFor({ state: "detached" });
    await board.api.move(1, board.stages["Done"]);
    await shown.card(1).getByText("Not moved to Done").waitFor();
    await page.getByRole("heading", { name: "To do 1 card", exact: true }).waitFor();
    await page.getByRole("button", { name: "Collapse To do" }).click();
    await page.getByRole("button", { name: "Blocked" }).click();
    await page.getByText("1 of 2 cards").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
