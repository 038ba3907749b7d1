import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { setGates } from "../support/flows.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { boardWithCards, onBoard } from "./support/board-page.ts";
import { takeScreenshots } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];

/** How a line of the question before a merge looks: its words, and its icon. */
const LOOK = `(() => {
  const line = document.querySelector(".dialog [data-action=merge]");
  const { display, columnGap, fontWeight } = getComputedStyle(line);
  const { width, height } = getComputedStyle(line.querySelector(".icon"));
  return { display, columnGap, fontWeight, width, height };
})()`;

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

describe("a move without Git", () => {
  it("is made by dragging, shows at once, and can be undone", async () => {
    const board = await boardWithCards(app, 3);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await shown.shows("To do", [3, 2, 1]);
    await page.route("**/cards/3/move", async (route) => {
      await new Promise((done) => setTimeout(done, 1_000));
      await route.continue();
    });
    await shown.drag(3, shown.card(1));
    await shown.shows("To do", [2, 3, 1]);
    await page.getByRole("button", { name: "Undo" }).click();
    await shown.shows("To do", [3, 2, 1]);
    await board.api.cardWhen(3, ({ position }) => position === 0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("the board", () => {
  it("creates cards in its first stage and keeps filters and collapsed columns in the address", async () => {
    const board = await boardWithCards(app, 2);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await page.keyboard.press("c");
    await page.keyboard.type("<b>New</b>");
    await page.keyboard.press("Enter");
    await shown.shows("To do", [2, 1, 3]);
    expect((await board.api.readCard(3)).title).toBe("<b>New</b>");
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox").fill("card 2");
    await shown.shows("To do", [2]);
    await page.getByRole("button", { name: "Collapse In review" }).click();
    await page.reload();
    await shown.shows("To do", [2]);
    await page.getByRole("button", { name: "Show In review" }).waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await shown.shows("To do", [2, 1, 3]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("returns to the place where it was after a card was opened", async () => {
    const board = await boardWithCards(app, 30);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await shown.column("To do").hover();
    await page.mouse.wheel(0, 5_000);
    await shown.card(1).getByRole("link").click();
    await page.getByRole("heading", { name: "Card 1" }).waitFor();
    await page.goBack();
    await shown.card(1).waitFor();
    expect(await page.evaluate("document.querySelector('.column-cards').scrollTop")).toBeGreaterThan(100);
    await ada.close();
  });

  it("never begins a line of a stage's notes with a separator", async () => {
    const board = await app.board();
    await setGates(board, "Done", { humanOnly: true, secondPerson: true });
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    const notes = shown.column("Done").locator(".column-notes");
    await notes.getByText("needs a second person").waitFor();
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "board-notes");
    const each = (what: string) =>
      page.evaluate<unknown[]>(
        `[...document.querySelectorAll('[data-rule="merge"] .column-notes > *')].map((note) => ${what})`,
      );
    const tops = await each("note.getBoundingClientRect().top");
    expect(new Set(tops).size).toBeGreaterThan(1);
    expect(await each('getComputedStyle(note, "::before").content')).toEqual(["none", "none", "none"]);
    expect(await each('getComputedStyle(note, "::after").content')).toEqual(['" ·"', '" ·"', "none"]);
    await ada.close();
  });

  it("shows a viewer the cards, and why none can be moved", async () => {
    const board = await boardWithCards(app, 1);
    const { page, ...ada } = await app.signIn(board, "ada", { role: "viewer" });
    const shown = await onBoard(page);
    await page.getByText("You are a viewer").waitFor();
    await shown.drag(1, shown.column("In progress").locator(".column-head"));
    expect(await shown.numbersIn("To do")).toEqual([1]);
    expect(await page.getByRole("button", { name: "Move card 1" }).count()).toBe(0);
    await ada.close();
  });
});

describe("a move with Git", () => {
  it("says what it will do while the card is dragged, is pending, and creates the branch", async () => {
    const board = await boardWithCards(app, 2);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await shown.hold(2, "In progress");
    await shown.column("In progress").getByText("create card/2-card-2").waitFor();
    const held = holdCalls(app.world, {}, "before");
    await page.mouse.up();
    await shown.cardIn("In progress", 2).getByText("Moving to In progress … It was in To do.").waitFor();
    held.resume();
    await shown.card(2).getByText("Moving to").waitFor({ state: "detached" });
    expect(await shown.numbersIn("In progress")).toEqual([2]);
    const made = "Moved card #2 to In progress. Its branch is card/2-card-2.";
    await eventually(
      () => shown.announced(),
      (sentences) => sentences.at(-1) === made,
    );
    const notice = page.getByRole("region", { name: "Notices" });
    await notice.getByText("Its branch is card/2-card-2.").waitFor();
    expect(await notice.getByRole("button", { name: "Undo" }).count()).toBe(0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("asks before it merges, and never offers to undo that", async () => {
    const board = await app.board();
    const { number } = await cardWithCommit(board);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await shown.drag(number, shown.column("Done").locator(".column-head"));
    const question = page.getByRole("dialog", { name: `Move #${number} to Done?` });
    await question.getByText(/merge pull request #\d+ into main/).waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(await shown.numbersIn("In review")).toEqual([number]);
    await shown.drag(number, shown.column("Done").locator(".column-head"));
    await question.getByRole("button", { name: "Merge and move" }).click();
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages["Done"]);
    await shown.cardIn("Done", number).waitFor();
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("asks before it takes back a card whose work is merged", async () => {
    const board = await app.board();
    const { number } = await cardWithCommit(board);
    await board.api.move(number, board.stages.Done);
    await board.api.cardWhen(number, ({ repositories: [link] }) => link?.prState === "merged");
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await shown.drag(number, shown.column("To do").locator(".column-head"));
    const question = page.getByRole("dialog", { name: `Move #${number} to To do?` });
    await question.getByText("Moving the card back undoes nothing on GitHub.").waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(await shown.numbersIn("Done")).toEqual([number]);
    await shown.drag(number, shown.column("To do").locator(".column-head"));
    await question.getByRole("button", { name: "Move back" }).click();
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages["To do"]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("asks on the card's page with the same look", async () => {
    const board = await app.board();
    const { number } = await cardWithCommit(board);
    const { page, ...ada } = await app.signIn(board);
    const lookOf = async (name: string): Promise<unknown> => {
      const question = page.getByRole("dialog", { name: `Move #${number} to Done?` });
      await question.getByText(/merge pull request #\d+ into main/).waitFor();
      if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, name);
      return page.evaluate(LOOK);
    };
    const shown = await onBoard(page);
    await shown.drag(number, shown.column("Done").locator(".column-head"));
    const onTheBoard = await lookOf("question-board");
    // Loaded without the board.
    await page.goto(`${new URL(page.url()).pathname}/cards/${number}`);
    await page.getByRole("button", { name: "Move to Done", exact: true }).click();
    expect(await lookOf("question-card")).toEqual(onTheBoard);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
