import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { addMember } from "../../src/actions/members/forge-accounts.ts";
import { removeMembersWithLogin } from "../../src/actions/members/members.ts";
import { addCard, boardWithCards, onBoard } from "./support/board-page.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

/** A removed member sees nothing new after this time, in milliseconds. */
const STOPPED_MS = 30_000;

describe("the tab of a removed member", () => {
  it("stops within 30 seconds and asks for another sign-in, which is refused", async () => {
    const board = await boardWithCards(app, 1);
    const { page, ...ada } = await app.signIn(board);
    const shown = await onBoard(page);
    await shown.shows("To do", [1]);
    await removeMembersWithLogin(board.db, board.workspaceId, board.logins.ada);
    const dialog = page.getByRole("dialog", { name: "You are signed out" });
    await dialog.waitFor({ timeout: STOPPED_MS });
    await addCard(board, "Not for removed members");
    await dialog.getByRole("link", { name: "Sign in with GitHub" }).click();
    await page.getByRole("button", { name: `Sign in as ${board.logins.ada}` }).click();
    await page.getByRole("alert").getByText("is not a member of any board").waitFor();
    expect(await page.getByText("Not for removed members").count()).toBe(0);
    await ada.close();
  });

  it("leaves the board within 30 seconds if the person has another one", async () => {
    const board = await boardWithCards(app, 1);
    const other = await app.board();
    const login = board.logins.ada;
    await addMember(app.world.service.deps, { workspaceId: other.workspaceId, login, role: "member" });
    const { page, ...ada } = await app.signIn(board, "ada", { path: `/b/${board.workspaceId}` });
    const shown = await onBoard(page);
    await shown.shows("To do", [1]);
    await removeMembersWithLogin(board.db, board.workspaceId, login);
    await page.getByRole("heading", { name: "There is no such board" }).waitFor({ timeout: STOPPED_MS });
    expect(await page.locator("[data-card]").count()).toBe(0);
    await page.getByRole("link", { name: "Go to your board" }).click();
    await page.getByRole("list", { name: "Stages" }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
