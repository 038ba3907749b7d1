import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { onBoard, type BoardPage } from "./support/board-page.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

type Board = Awaited<ReturnType<ConsoleWorld["board"]>>;

/** A board whose backlog has `count` drafts: Draft 1 is on top. */
async function boardWithDrafts(count: number): Promise<Board> {
  const board = await app.board();
  for (let nth = 1; nth <= count; nth++) await board.api.card({ title: `Draft ${nth}` });
  return board;
}

/** Signs in and opens the backlog. */
async function openBacklog(
  board: Board,
  options: Parameters<ConsoleWorld["signIn"]>[2] = {},
): Promise<Visitor & { readonly shown: BoardPage }> {
  const visitor = await app.signIn(board, "ada", options);
  const shown = await onBoard(visitor.page);
  await visitor.page.getByRole("navigation").getByRole("link", { name: "Backlog" }).click();
  await visitor.page.getByRole("heading", { level: 1, name: "Backlog" }).waitFor();
  return { ...visitor, shown };
}

const drafts = (page: Visitor["page"]): Promise<number[]> =>
  page
    .locator(".backlog-drafts [data-card]")
    .evaluateAll((cards) =>
      (cards as unknown as { dataset: Record<string, string> }[]).map(({ dataset }) =>
        Number(dataset["card"]),
      ),
    );

const shows = (page: Visitor["page"], numbers: readonly number[]): Promise<number[]> =>
  eventually(
    () => drafts(page),
    (shown) => shown.join() === numbers.join(),
  );

/** The numbers in the backlog as the service has them. */
const stored = async (board: Board): Promise<number[]> =>
  (await board.api.get<{ number: number }[]>("/v1/backlog")).body.map(({ number }) => number);

describe("the backlog", () => {
  it("takes one draft after the other by keyboard, and keeps the text of a failed save", async () => {
    const board = await app.board();
    const { page, context, ...ada } = await openBacklog(board);
    await page.getByText("The backlog is empty").waitFor();
    const { keyboard } = page;
    await keyboard.press("c");
    await keyboard.type("First <b>idea</b>");
    await keyboard.press("Enter");
    await shows(page, [1]);
    await context.route("**/console/v1/cards", (route) => route.abort());
    await keyboard.type("Second idea");
    await keyboard.press("Enter");
    await page.getByText("Trunkline cannot be reached").waitFor();
    const field = page.getByRole("textbox", { name: "Title of the new card in Backlog" });
    const notCreated = page.locator(".quick-add-failed li");
    await notCreated.waitFor();
    expect(await notCreated.allTextContents()).toEqual(["Second idea"]);
    await page.reload();
    await notCreated.waitFor();
    expect(await notCreated.allTextContents()).toEqual(["Second idea"]);
    await context.unroute("**/console/v1/cards");
    await page.getByRole("button", { name: "Try again" }).click();
    await shows(page, [1, 2]);
    await field.fill("Clicked");
    await page.getByRole("button", { name: "Create" }).click();
    await shows(page, [1, 2, 3]);
    expect(await field.inputValue()).toBe("");
    // A click on the button leads back to the field, too: letters would be shortcuts elsewhere.
    await keyboard.type("move");
    expect(await field.inputValue()).toBe("move");
    await field.fill("");
    expect((await board.api.readCard(1)).title).toBe("First <b>idea</b>");
    await board.api.card({ title: "From elsewhere" });
    await shows(page, [1, 2, 3, 4]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is put in order by dragging, keys and menu, for everybody", async () => {
    const board = await boardWithDrafts(4);
    const { page, shown, ...ada } = await openBacklog(board);
    await shows(page, [1, 2, 3, 4]);
    await shown.drag(3, shown.card(1));
    await shows(page, [3, 1, 2, 4]);
    const moved = page.locator(".toast", { hasText: "Moved card #3 within Backlog" });
    await moved.first().waitFor();
    expect(await shown.focused()).toBe(3);
    await page.keyboard.press("Shift+J");
    await shows(page, [1, 3, 2, 4]);
    await moved.nth(1).waitFor();
    await page.keyboard.press("Shift+K");
    await shows(page, [3, 1, 2, 4]);
    await shown.choose(2, "To the top");
    await shows(page, [2, 3, 1, 4]);
    await eventually(
      () => stored(board),
      (numbers) => numbers.join() === "2,3,1,4",
    );
    await page.reload();
    await shows(page, [2, 3, 1, 4]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("sends a draft to a stage, offers to undo it, and passes the focus on", async () => {
    const board = await boardWithDrafts(3);
    const { page, shown, ...ada } = await openBacklog(board);
    await shown.choose(2, "To do");
    await shows(page, [1, 3]);
    await board.api.cardWhen(2, ({ statusId }) => statusId === board.stages["To do"]);
    await eventually(
      () => shown.focused(),
      (number) => number === 3,
    );
    await page.getByRole("button", { name: "Undo" }).click();
    await shows(page, [1, 2, 3]);
    await shown.choose(1, "In progress");
    await shows(page, [2, 3]);
    const { repositories } = await board.api.cardWhen(
      1,
      ({ statusId }) => statusId === board.stages["In progress"],
    );
    expect(repositories[0]?.branchName).toBe("card/1-draft-1");
    await eventually(
      () => shown.announced(),
      (sentences) => sentences.at(-1) === "Moved card #1 to In progress. Its branch is card/1-draft-1.",
    );
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("keeps a draft that GitHub refuses, with GitHub's words", async () => {
    const board = await boardWithDrafts(2);
    const { page, shown, ...ada } = await openBacklog(board);
    await page.route("**/move-plan*", (route) => route.abort());
    await shown.choose(1, "In review");
    await shown.card(1).getByText("Not moved to In review").waitFor();
    await shown.card(1).getByText("has no commits").waitFor();
    expect(await drafts(page)).toEqual([1, 2]);
    expect(await shown.focused()).toBe(1);
    expect((await shown.announced()).at(-1)).toContain("Card #1 was not moved to In review.");
    await ada.close();
  });

  it("is filtered by its address and shows a viewer why nothing can be changed", async () => {
    const board = await boardWithDrafts(3);
    const { page, ...ada } = await openBacklog(board, { role: "viewer" });
    await page.getByText("You are a viewer").waitFor();
    expect(await page.getByRole("button", { name: "Create" }).count()).toBe(0);
    await page.keyboard.press("/");
    await page.keyboard.type("draft 2");
    await shows(page, [2]);
    await page.reload();
    await shows(page, [2]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("says that the filter hides a new draft, and clears the filter on request", async () => {
    const board = await boardWithDrafts(1);
    const { page, ...ada } = await openBacklog(board);
    await page.keyboard.press("/");
    await page.keyboard.type("draft");
    await page.getByRole("textbox", { name: "Title of the new card in Backlog" }).fill("Another idea");
    await page.keyboard.press("Enter");
    const notices = page.getByRole("region", { name: "Notices" });
    await notices.getByText("Created card 2, which the filters hide").waitFor();
    await shows(page, [1]);
    await notices.getByRole("button", { name: "Clear the filters" }).click();
    await shows(page, [1, 2]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it.each(["desktop", "phone"] as const)("is accessible on a %s", async (size) => {
    const board = await boardWithDrafts(12);
    await board.api.patch("/v1/cards/2", { priority: "high", title: "Averylongword".repeat(20) });
    await board.api.move(3, board.stages["In review"]);
    const { page, shown, ...ada } = await openBacklog(board, { size });
    await shown.card(3).getByText("Not moved to In review").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    const width: number = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(width).toBeLessThanOrEqual(0);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `backlog-${size}`);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
