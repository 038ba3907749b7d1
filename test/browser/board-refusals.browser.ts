import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { Page, Route } from "playwright-core";
import { eventually } from "../support/api.ts";
import { setGates } from "../support/flows.ts";
import { protect } from "../support/stories/repairing.ts";
import { twoTargets } from "../support/stories/two-targets.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import type { TestBoard } from "../support/world.ts";
import { addCard, boardWithCards, onBoard, type BoardPage } from "./support/board-page.ts";
import { findInaccessible } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterEach(() => app.world.forge.control.reset());
afterAll(() => app.stop());

const MOVE = "**/console/v1/cards/*/move";
const REVIEW_REQUIRED = "Pull request #1 needs an approving review. Ask for one.";

const refuseMerges = (board: TestBoard) =>
  protect(board, {
    enforce_admins: false,
    required_pull_request_reviews: { required_approving_review_count: 1 },
  });

const head = (shown: BoardPage, name: string) => shown.column(name).locator(".column-head");

/** Records when the response to a move arrives, and when the card is back in a stage. */
const watchReturn = (page: Page, number: number, statusId: string): Promise<unknown> =>
  page.evaluate(`
    const fetched = globalThis.fetch;
    globalThis.fetch = async (...call) => {
      const ended = () => { if (String(call[0]).endsWith("/move")) globalThis.respondedAt = performance.now(); };
      try { const response = await fetched(...call); ended(); return response; } catch (error) { ended(); throw error; }
    };
    new MutationObserver(() => {
      const back = document.querySelector('[data-stage="${statusId}"] [data-card="${number}"]');
      if (back && globalThis.respondedAt) globalThis.returnedAt ??= performance.now();
    }).observe(document.querySelector(".board"), { childList: true, subtree: true, attributes: true });
  `);

const returnTime = (page: Page): Promise<number> =>
  page.evaluate("globalThis.returnedAt - globalThis.respondedAt");

async function cardToMerge(): Promise<{ board: TestBoard; number: number; other: number }> {
  const board = await app.board();
  const { number } = await cardWithCommit(board);
  return { board, number, other: await addCard(board, "Another card") };
}

describe("a move that GitHub refuses", () => {
  it("returns only its own card, with GitHub's words, the focus and an announcement", async () => {
    const { board, number, other } = await cardToMerge();
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await refuseMerges(board);
    let respond: (() => void) | undefined;
    await page.route(MOVE, async (route) => {
      if (!route.request().url().includes(`/cards/${number}/`)) return route.continue();
      const response = await route.fetch();
      await new Promise<void>((done) => {
        respond = done;
      });
      return route.fulfill({ response });
    });
    await watchReturn(page, number, board.stages["In review"]);
    await shown.drag(number, head(shown, "Done"));
    await page.getByText("This move would be refused now.").waitFor();
    await page.getByRole("button", { name: "Try anyway" }).click();
    await shown.cardIn("Done", number).getByText("Moving to Done").waitFor();
    await shown.drag(other, head(shown, "In progress"));
    await shown.cardIn("In progress", other).waitFor();
    await eventually(
      () => Promise.resolve(respond),
      (isThere) => isThere !== undefined,
    );
    respond?.();
    await shown.cardIn("In review", number).getByText(REVIEW_REQUIRED).waitFor();
    expect(await returnTime(page)).toBeLessThan(300);
    expect(await shown.focused()).toBe(number);
    // The notice about the other card names its branch, so it may come later.
    expect(await shown.announced()).toContain(`Card #${number} was not moved to Done. ${REVIEW_REQUIRED}`);
    expect(await shown.numbersIn("In progress")).toEqual([other]);
    await shown.card(number).getByRole("link", { name: "Decide in the inbox" }).click();
    await page.getByText(REVIEW_REQUIRED).first().waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("a move whose plan refuses it", () => {
  it("is sent, after a confirmation if the stage merges, so that the inbox shows the refusal", async () => {
    const board = await boardWithCards(app, 2);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await shown.hold(1, "In review");
    await shown.column("In review").getByText("has no commits").first().waitFor();
    await page.mouse.up();
    await shown.card(1).getByRole("link", { name: "Decide in the inbox" }).waitFor();
    expect((await board.api.readCard(1)).blocked?.message).toContain("has no commits");
    const question = page.getByRole("dialog", { name: "Move #2 to Done?" });
    for (const choice of ["Cancel", "Try anyway"]) {
      await shown.drag(2, head(shown, "Done"));
      await question.getByText("This move would be refused now.").waitFor();
      await question.getByText("has no commits").waitFor();
      expect((await board.api.readCard(2)).blocked).toBeNull();
      await question.getByRole("button", { name: choice }).click();
      await question.waitFor({ state: "detached" });
    }
    await shown.card(2).getByRole("link", { name: "Decide in the inbox" }).waitFor();
    expect((await board.api.readCard(2)).blocked?.message).toContain("has no commits");
    await ada.close();
  });
});

describe("a new card whose stage is full", () => {
  it("is in the backlog, as a notice with the reason says", async () => {
    const board = await boardWithCards(app, 1);
    await setGates(board, "To do", { wipLimit: 1 });
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await page.getByRole("heading", { name: "To do 1 / 1 card, the limit is last, full" }).waitFor();
    await page.keyboard.press("c");
    await page.keyboard.type("Too many");
    await page.keyboard.press("Enter");
    const notice = page.locator(".toast", { hasText: "Card #2 was created in the backlog" });
    await notice.getByText("It was not moved to To do: To do has room for 1 card").waitFor();
    expect((await shown.announced()).at(-1)).toContain(
      "Card #2 was created in the backlog. It was not moved",
    );
    expect(await shown.numbersIn("To do")).toEqual([1]);
    expect(await findInaccessible(page)).toEqual([]);
    await notice.getByRole("button", { name: "Open the card" }).click();
    await page.getByRole("heading", { level: 1, name: "Too many" }).waitFor();
    await page.getByText("Not moved to To do", { exact: true }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("a move past a stage that merges", () => {
  it("says into which branch it does not merge", async () => {
    const { board } = await twoTargets({ forge: app.world.forge, board: () => app.board() });
    const { number } = await cardWithCommit(board);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await page.locator(".column").count()).toBe(5);
    const isFlat = "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)";
    expect(await page.evaluate(`${isFlat}(document.querySelector(".board"))`)).toBe(true);
    await shown.drag(number, head(shown, "Done"));
    await page.getByText("The move skips Staging, so it does not merge into develop.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect((await board.api.readCard(number)).statusId).toBe(board.stages["In review"]);
    await ada.close();
  });
});

describe("a move without an outcome", () => {
  it("returns the card when the service is unavailable, and is repeated with the same key", async () => {
    const board = await boardWithCards(app, 2);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    const keys: (string | undefined)[] = [];
    let isAway = true;
    await page.route(MOVE, async (route: Route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      const body = { statusCode: 503, error: "Service Unavailable", message: "GitHub could not be reached." };
      await (isAway
        ? route.fulfill({ status: 503, headers: { "Retry-After": "1" }, json: body })
        : route.continue());
    });
    await watchReturn(page, 1, board.stages["To do"]);
    await shown.drag(1, head(shown, "In progress"));
    await shown.cardIn("To do", 1).getByText("GitHub could not be reached.").waitFor();
    expect(await returnTime(page)).toBeLessThan(300);
    expect(await shown.focused()).toBe(1);
    expect((await shown.announced()).at(-1)).toContain("GitHub could not be reached.");
    isAway = false;
    await shown.card(1).getByRole("button", { name: "Try again" }).click();
    await shown.cardIn("In progress", 1).waitFor();
    await board.api.cardWhen(1, ({ statusId }) => statusId === board.stages["In progress"]);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(2);
    await ada.close();
  });

  it("finds out what happened when the response was lost", async () => {
    const board = await boardWithCards(app, 1);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await page.route("**/events/stream", (route) => route.abort());
    await page.reload();
    await page.getByText("No connection to Trunkline").waitFor();
    await page.route(
      MOVE,
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await shown.drag(1, head(shown, "In progress"));
    await shown.cardIn("To do", 1).getByText("Trunkline cannot be reached").waitFor();
    await shown.card(1).getByRole("button", { name: "Try again" }).click();
    await shown.cardIn("In progress", 1).waitFor();
    const moves = (await board.api.timeline(1)).filter(({ kind }) => kind === "status_changed");
    expect(moves).toHaveLength(2);
    await ada.close();
  });

  it("returns the card while the browser is offline", async () => {
    const board = await boardWithCards(app, 2);
    const { page, context, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await context.setOffline(true);
    await shown.drag(1, head(shown, "In progress"));
    await shown.cardIn("To do", 1).getByText("Trunkline cannot be reached").waitFor();
    expect(await shown.focused()).toBe(1);
    await context.setOffline(false);
    await shown.card(1).getByRole("button", { name: "Try again" }).click();
    await shown.cardIn("In progress", 1).waitFor();
    await ada.close();
  });

  it("waits on the card while GitHub's merge queue has it, and follows when it is merged", async () => {
    const { board, number } = await cardToMerge();
    app.world.forge.webUi.setMergeQueue(`${board.owner}/web`, "main", true);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await watchReturn(page, number, board.stages["In review"]);
    await shown.drag(number, head(shown, "Done"));
    await page.getByRole("button", { name: "Merge and move" }).click();
    await shown.cardIn("In review", number).getByText("GitHub has accepted the merge into main").waitFor();
    expect(await returnTime(page)).toBeLessThan(300);
    expect(await shown.focused()).toBe(number);
    expect((await shown.announced()).at(-1)).toContain("GitHub has accepted the merge of card");
    await app.world.forge.webUi.mergeQueued(`${board.owner}/web`, 1);
    await shown.cardIn("Done", number).waitFor();
    expect(await shown.card(number).getByText("has accepted the merge").count()).toBe(0);
    await ada.close();
  });
});
