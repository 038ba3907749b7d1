import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Page } from "playwright-core";
import { eventually } from "../support/api.ts";
import { boardWithCards, onBoard } from "./support/board-page.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

interface ShownBoard {
  readonly columns: readonly { readonly tasks: readonly { readonly number: number }[] }[];
}

/** How long the second tab is away, in milliseconds. */
const AWAY_MS = 30_000;

describe("cards that somebody else adds quickly", () => {
  it("are in the order that the service has", async () => {
    const board = await boardWithCards(app, 1);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    const added = await Promise.all(
      Array.from({ length: 11 }, (_, nth) => board.api.card({ title: `Added ${nth}` })),
    );
    for (const { number } of added) void board.api.move(number, board.stages["To do"]);
    await page.getByRole("heading", { name: "To do 12" }).waitFor();
    const { columns } = (await board.api.get<ShownBoard>("/v1/board")).body;
    await shown.shows("To do", columns[0]?.tasks.map(({ number }) => number) ?? []);
    for (const { number } of added) await shown.card(number).getByText("Added").waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

const setHidden = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);

describe("a tab in the background", () => {
  it("has no connection, and shows what happened when somebody returns to it", async () => {
    const board = await boardWithCards(app, 2);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await page.getByText("Live", { exact: true }).first().waitFor();
    const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/events/stream"));
    await setHidden(page, true);
    await ended;
    await board.api.move(1, board.stages["Backlog"]);
    await shown.shows("To do", [2, 1]);
    await setHidden(page, false);
    await shown.shows("To do", [2]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("two tabs, one of which is disconnected for 30 seconds", () => {
  it("never undo each other's moves, and agree afterwards", async () => {
    const board = await boardWithCards(app, 4);
    const ada = await app.signIn(board);
    const grace = await app.signIn(board, "grace");
    const first = await onBoard(ada.page);
    const leftAt = Date.now();
    // Only the feed is away: a move of this tab still reaches the service.
    await grace.page.route("**/events/stream", (route) => route.abort());
    await grace.page.reload();
    const second = await onBoard(grace.page);
    // The banner pushes the board down: a drag before it would end beside its target.
    await grace.page.getByText("No connection to Trunkline").waitFor();
    await second.shows("To do", [4, 3, 2, 1]);
    await first.drag(4, first.column("In progress").locator(".column-head"));
    await board.api.cardWhen(4, ({ statusId }) => statusId === board.stages["In progress"]);
    await board.api.move(3, board.stages["Backlog"]);
    await second.shows("To do", [4, 3, 2, 1]);
    await second.drag(4, second.card(1));
    await second.cardIn("In progress", 4).getByText("Somebody else has moved card 4").waitFor();
    await second.drag(1, second.card(3));
    await first.shows("To do", [1, 2]);
    // Card 3 is grabbed where it is after that move, which has to end first: it renders the column again.
    await second.shows("To do", [1, 3, 2]);
    await grace.page.locator(".toast", { hasText: "Moved card #1 within To do" }).first().waitFor();
    await second.drag(3, second.column("In progress").locator(".column-head"));
    await second.shows("To do", [1, 2]);
    await eventually(
      () => second.announced(),
      (texts) => texts.at(-1)?.includes("Somebody else has moved card 3") === true,
    );
    await grace.context.setOffline(true);
    await new Promise((done) => setTimeout(done, Math.max(0, AWAY_MS - (Date.now() - leftAt))));
    await grace.page.unroute("**/events/stream");
    await grace.context.setOffline(false);
    for (const tab of [first, second]) {
      await tab.shows("In progress", [4]);
      await tab.shows("To do", [1, 2]);
    }
    expect((await board.api.readCard(4)).statusId).toBe(board.stages["In progress"]);
    expect((await board.api.readCard(3)).statusId).toBe(board.stages["Backlog"]);
    expect([...ada.problems(), ...grace.problems()]).toEqual([]);
    await ada.close();
    await grace.close();
  });
});
