import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { armed, requireCi } from "../armed/support/armed-cards.ts";
import { reportStatus } from "../support/stories/repairing.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { findInaccessible } from "./support/browser.ts";
import { onBoard } from "./support/board-page.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

describe("a card on the board", () => {
  it("shows at a glance what it waits for, and follows it without a reload", async () => {
    const board = await app.board();
    await requireCi(board);
    const { number, sha } = await cardWithCommit(board);
    await board.api.patch(`/v1/cards/${number}`, { dueDate: "2020-01-02" });
    await board.api.card({ title: "A part", parentNumber: number, repositoryIds: [] });
    await armed(board, number);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    const fact = (text: string | RegExp) => shown.card(number).locator(".fact-line li", { hasText: text });
    const web = `${board.owner}/web`;
    await fact(`Pull request #1 in ${web} is open`).waitFor();
    await fact("Moves to Done when ready. Waits for:").waitFor();
    await fact("Overdue since 2020-01-02").waitFor();
    await fact("0 of 1 sub-cards done").waitFor();
    await board.api.delete(`/v1/cards/${number}/armed`);
    await fact("Moves to Done when ready").waitFor({ state: "detached" });
    await reportStatus(board, sha, "failure");
    await fact("Checks failing").waitFor();
    await board.api.post(`/v1/cards/${number}/comments`, { body: "Please have a look" });
    await fact("1 comment").waitFor();
    await board.api.card({ title: "Another part", parentNumber: number, repositoryIds: [] });
    await fact("0 of 2 sub-cards done").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await findInaccessible(page)).toEqual([]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("says what its icons mean when the pointer rests on it or it has the focus, until Escape", async () => {
    const board = await app.board();
    const { number } = await cardWithCommit(board);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    const details = page.locator(".card-details");
    await shown.card(number).hover();
    await details.getByText(`Pull request #1 in ${board.owner}/web is open`).waitFor();
    await page.mouse.move(1, 1);
    await details.waitFor({ state: "hidden" });
    await page.keyboard.press("j");
    await page.keyboard.press("l");
    await details.getByText(`Pull request #1 in ${board.owner}/web is open`).waitFor();
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "hidden" });
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("takes less room on a compact board, which the browser remembers, also on a phone", async () => {
    const board = await app.board();
    const title = "A title that is so long that it needs more than one line in a column of the board";
    const { number } = await board.api.card({ title, statusId: board.stages["To do"], repositoryIds: [] });
    const { page, ...ada } = await app.signIn(board, "ada", { size: "phone" });
    const shown = await onBoard(page);
    const heightOf = async (): Promise<number> => (await shown.card(number).boundingBox())?.height ?? 0;
    const before = await heightOf();
    await page.getByRole("button", { name: "Compact" }).click();
    await page.locator('.board[data-density="compact"]').waitFor();
    expect(await heightOf()).toBeLessThan(before);
    await page.reload();
    await page.locator('.board[data-density="compact"]').waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
