import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { addCard, boardWithCards, onBoard } from "./support/board-page.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

const HOSTILE = [
  `<img src=x onerror="document.title='owned'">`,
  `<script>document.title="owned"</script>`,
  "javascript:document.title='owned'",
  "\u202Edlrow olleh",
  "Averylongword".repeat(30),
];

describe("a board of 5,000 cards", () => {
  it("has only the cards in view on the page, and reaches the last one", async () => {
    const board = await boardWithCards(app, 1);
    // The API would need minutes for as many.
    await board.db.raw(
      `insert into cards (id, workspace_id, project_id, number, title, stage_id, rank, created_by)
       select gen_random_uuid(), workspace_id, project_id, 1 + n, 'Card ' || (1 + n), stage_id,
              'b' || lpad(n::text, 5, '0') || '1', created_by
         from cards, generate_series(1, 4999) n where number = 1 and workspace_id = :workspaceId`,
      { workspaceId: board.workspaceId },
    );
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await page.getByRole("heading", { name: "To do 5000" }).waitFor();
    const inView = (await shown.numbersIn("To do")).length;
    expect(inView).toBeGreaterThan(5);
    expect(inView).toBeLessThan(60);
    await page.evaluate("document.querySelector('.column-cards').scrollTo(0, 10_000_000)");
    await eventually(
      () => shown.numbersIn("To do"),
      (numbers) => numbers.includes(5_000),
    );
    expect((await shown.numbersIn("To do")).length).toBeLessThan(60);
    await page.getByRole("searchbox").fill("#4711");
    await shown.shows("To do", [4_711]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("text that others wrote", () => {
  it("stays text in titles, menus and announcements", async () => {
    const board = await app.board();
    const numbers: number[] = [];
    for (const title of HOSTILE) numbers.unshift(await addCard(board, title));
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await shown.shows("To do", numbers);
    for (const [at, title] of HOSTILE.entries()) {
      expect(
        await shown
          .card(at + 1)
          .locator(".card-chip-title")
          .textContent(),
      ).toBe(title);
    }
    await shown.choose(1, "To the bottom");
    await shown.choose(2, "In progress");
    await shown.cardIn("In progress", 2).waitFor();
    expect(await page.title()).not.toContain("owned");
    expect(await page.locator("main img[src='x'], main script").count()).toBe(0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
