import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { addOperator } from "../../src/actions/installations/operators.ts";
import { removeOperator } from "../../src/store/tenancy/operators.ts";
import { eventually } from "../support/api.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];
const HOSTILE = `<img src=x onerror="alert(1)">`;

type Board = Awaited<ReturnType<ConsoleWorld["board"]>>;

let console: ConsoleWorld;
let board: Board;
beforeAll(async () => {
  console = await startConsole();
  board = await console.board();
  await addOperator(console.world.service.deps, board.logins.ada);
});
afterEach(async () => {
  await board.db("deliveries").where({ event: "star" }).delete();
});
afterAll(() => console.stop());

async function openOperations(options: Parameters<ConsoleWorld["signIn"]>[2] = {}): Promise<Visitor> {
  const visitor = await console.signIn(board, "ada", options);
  await visitor.page.goto("/operations");
  await visitor.page.getByRole("heading", { name: "Operations", level: 1 }).waitFor();
  return visitor;
}

/** A parked delivery of an event that Trunkline ignores. */
async function park(error: string): Promise<string> {
  const guid = randomUUID();
  const { forge_id: forgeId } = await board
    .db("repositories")
    .where("full_name", `${board.owner}/web`)
    .first("forge_id");
  const lane = `repository:${forgeId}`;
  await board
    .db("deliveries")
    .insert({ guid, event: "star", lane, payload: "{}", state: "parked", attempts: 8, error });
  return guid;
}

const isDone = (guid: string) =>
  eventually(
    async (): Promise<string> => (await board.db("deliveries").where({ guid }).first("state")).state,
    (state) => state === "done",
  );

describe("the operations page", () => {
  it("is reached from the board by its menu, and from the command menu", async () => {
    const { page, ...ada } = await console.signIn(board, "ada");
    await page.getByRole("button", { name: /settings and sign-out/ }).click();
    await page.getByRole("menuitem", { name: "Operations" }).click();
    await page.getByRole("heading", { name: "Operations", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Boards" }).press("Enter");
    await page.getByRole("navigation", { name: "Screens" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search cards and pages" }).fill("operations");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Operations", level: 1 }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is not there for other people", async () => {
    const { page, ...grace } = await console.signIn(board, "grace", { role: "maintainer" });
    await page.getByRole("button", { name: /settings and sign-out/ }).click();
    await page.getByRole("menuitem", { name: "Keyboard shortcuts" }).waitFor();
    expect(await page.getByRole("menuitem", { name: "Operations" }).count()).toBe(0);
    await page.goto("/operations");
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await grace.close();
  });

  it("shows checks, lag, processes and installations", async () => {
    const { page, ...ada } = await openOperations();
    const checks = page.getByRole("region", { name: "Checks" });
    await checks.getByText(/checks without a problem/).click();
    await checks.getByText(/GitHub accepts the key of the App/).waitFor();
    await page.getByRole("region", { name: "Lag" }).getByText("Event feed").waitFor();
    await page.getByRole("region", { name: "Processes and database" }).getByText("alive").waitFor();
    const row = page.getByRole("row", { name: new RegExp(board.owner) });
    await row.getByText("active").waitFor();
    console.world.forge.webUi.setSuspended(board.owner, true);
    await row.getByText("suspended").waitFor({ timeout: 30_000 });
    await checks.getByRole("button", { name: "Check again" }).click();
    await checks.getByRole("list", { name: "Problems and warnings" }).getByText("It is suspended.").waitFor();
    console.world.forge.webUi.setSuspended(board.owner, false);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("retries a parked delivery by keyboard, and then all", async () => {
    const guid = await park(`Failed on ${HOSTILE}`);
    const others = [await park("One"), await park("Two")];
    const { page, ...ada } = await openOperations();
    const parked = page.getByRole("region", { name: /Parked deliveries/ });
    await parked.getByText(`Failed on ${HOSTILE}`).waitFor();
    await parked.getByRole("button", { name: `Retry delivery ${guid}` }).press("Enter");
    await page.getByTestId("announcer").getByText("1 is retried").waitFor({ state: "attached" });
    await isDone(guid);
    expect(await page.locator(":focus").textContent()).toMatch(/^Parked deliveries/);
    await parked.getByRole("button", { name: `Retry delivery ${guid}` }).waitFor({ state: "detached" });
    await parked.getByRole("button", { name: "Retry all parked deliveries" }).click();
    for (const other of others) await isDone(other);
    await parked.getByText(/^None\./).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("says why a retry failed, and keeps the delivery", async () => {
    const guid = await park("It failed.");
    const { page, context, ...ada } = await openOperations();
    await context.route("**/console/operations/deliveries/*/retry", (route) => route.abort());
    await page.getByRole("button", { name: `Retry delivery ${guid}` }).click();
    await page
      .getByRole("alert")
      .getByText(/Trunkline cannot be reached/)
      .waitFor();
    await page.getByText(guid).waitFor();
    expect(await page.getByRole("button", { name: `Retry delivery ${guid}` }).count()).toBe(1);
    await ada.close();
  });

  it("shows that the rights have ended", async () => {
    const { page, ...ada } = await openOperations();
    await page.getByRole("region", { name: "Lag" }).waitFor();
    await removeOperator(board.db, board.logins.ada);
    await page.getByText("The numbers below are old").waitFor({ timeout: 15_000 });
    await page.reload();
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await addOperator(console.world.service.deps, board.logins.ada);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe.each(["desktop", "phone"] as const)("on a %s", (size) => {
  it("the operations page has no serious accessibility problem and fits the width", async () => {
    await park(`GitHub returned 502 to GET /repos/${board.owner}/web/pulls`);
    const { page, ...ada } = await openOperations({ size });
    await page.getByText(/checks without a problem/).waitFor();
    await page
      .getByRole("region", { name: /Parked deliveries/ })
      .getByRole("listitem")
      .first()
      .waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `operations-${size}`);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
