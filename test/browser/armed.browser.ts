import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { armedCard, passCi, requireCi } from "../armed/support/armed-cards.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import type { TestBoard } from "../support/world.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

async function openCard(
  board: TestBoard,
  number: number,
  options: Parameters<ConsoleWorld["signIn"]>[2] = {},
): Promise<Visitor> {
  const visitor = await app.signIn(board, "ada", options);
  await visitor.page.goto(`${new URL(visitor.page.url()).pathname}/cards/${number}`);
  return visitor;
}

describe("a move that waits", () => {
  it("is shown with what it waits for, and can be cancelled", async () => {
    const board = await app.board();
    const { number, sha } = await armedCard(board);
    const { page, ...ada } = await openCard(board, number);
    const waiting = page.getByRole("region", { name: "Waiting move to Done" });
    await waiting.waitFor();
    const text = await waiting.textContent();
    expect(text).toContain("ci");
    expect(text).toContain(sha.slice(0, 7));
    expect(await findInaccessible(page)).toEqual([]);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "card-armed");
    await waiting.getByRole("button", { name: "Cancel the waiting move" }).click();
    await waiting.waitFor({ state: "detached" });
    await page.locator(".timeline-event", { hasText: "asked to move the card to Done" }).waitFor();
    await page.locator(".timeline-event", { hasText: "ended the waiting move to Done" }).waitFor();
    expect("armed" in (await board.api.readCard(number))).toBe(false);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is asked for on the card, and made when the check passes", async () => {
    const board = await app.board();
    await requireCi(board);
    const { number, sha } = await cardWithCommit(board);
    const { page, ...ada } = await openCard(board, number);
    await page.getByRole("button", { name: "Move to Done when ready" }).click();
    await page.getByText("merges these commits by itself as soon as they are ready").waitFor();
    expect("armed" in (await board.api.readCard(number))).toBe(false);
    await page.getByRole("button", { name: "Merge when ready" }).click();
    await page.getByRole("region", { name: "Waiting move to Done" }).waitFor();
    await passCi(board, sha);
    await page.getByText("The card is in the last stage.").waitFor();
    expect((await board.api.readCard(number)).statusId).toBe(board.stages.Done);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is not offered to a card that nothing blocks", async () => {
    const board = await app.board();
    const { number } = await cardWithCommit(board);
    const { page, ...ada } = await openCard(board, number);
    await page.getByRole("button", { name: "Move to Done", exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Move to Done when ready" }).count()).toBe(0);
    await ada.close();
  });

  it("cannot be cancelled by a viewer", async () => {
    const board = await app.board();
    const { number } = await armedCard(board);
    const { page, ...ada } = await openCard(board, number, { role: "viewer" });
    const waiting = page.getByRole("region", { name: "Waiting move to Done" });
    await waiting.waitFor();
    expect(await waiting.getByRole("button").count()).toBe(0);
    await ada.close();
  });
});
