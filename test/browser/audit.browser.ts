import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { readAudit } from "../audit/support/read-audit.ts";
import { eventually } from "../support/api.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { makeRelease, setCards } from "../support/stories/releases.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];
const HOSTILE = `<img src=x onerror="alert(1)">`;

type Board = Awaited<ReturnType<ConsoleWorld["board"]>>;

let console: ConsoleWorld;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console.stop());

/** Signs in as a maintainer and opens the audit log. */
async function openAudit(
  board: Board,
  { query = "", ...options }: Parameters<ConsoleWorld["signIn"]>[2] & { readonly query?: string } = {},
): Promise<Visitor> {
  const visitor = await console.signIn(board, "ada", { role: "maintainer", ...options });
  await visitor.page.goto(`${new URL(visitor.page.url()).pathname}/settings/audit${query}`);
  await visitor.page.getByRole("heading", { name: "Audit log", level: 1 }).waitFor();
  return visitor;
}

const rowsOf = (page: Visitor["page"]) => page.getByRole("list", { name: "Attempts" }).locator("> li");
const shows = (page: Visitor["page"], count: number) =>
  eventually(
    () => rowsOf(page).count(),
    (shown) => shown === count,
  );

/** A board with attempts of two keys: cards, a refused one, and a label. */
async function busyBoard() {
  const board = await console.board();
  const agent = await board.as({ role: "member" });
  const { number } = await board.api.card({ title: `Say ${HOSTILE}` });
  await agent.post(`/v1/cards/${number}/comments`, { body: "Done" });
  await agent.post("/v1/webhooks", { url: "https://hooks.example.com/" });
  await board.api.post("/v1/labels", { name: "urgent" }, { headers: { "user-agent": HOSTILE } });
  return { board, number };
}

describe("the audit log", () => {
  it("shows who did what, and leads to the card and the events", async () => {
    const { board, number } = await busyBoard();
    const { page, ...ada } = await openAudit(board);
    await shows(page, 4);
    const sentences = await rowsOf(page).locator(".attempt-sentence").allTextContents();
    expect(sentences).toEqual([
      "maintainer agent API key created the label urgent",
      "member agent API key was not allowed to create a webhook",
      `member agent API key commented on card ${number} Say ${HOSTILE}`,
      `maintainer agent API key created card ${number} Say ${HOSTILE}`,
    ]);
    const comment = rowsOf(page).filter({ hasText: "commented" });
    await comment.getByRole("button", { name: /^Details/ }).press("Enter");
    const event = comment.getByRole("list", { name: "Events" }).getByRole("listitem");
    await event.getByText(/A comment was written/).waitFor();
    await comment.getByText("POST /v1/cards/{number}/comments", { exact: true }).waitFor();
    await comment.getByText("201", { exact: true }).waitFor();
    expect(await comment.getByText("Request id").count()).toBe(1);
    await event.getByRole("link", { name: `#${number} Say ${HOSTILE}` }).waitFor();
    const label = rowsOf(page).filter({ hasText: "the label" });
    await label.getByRole("button", { name: /^Details/ }).click();
    await label.getByText(HOSTILE).waitFor();
    await comment.getByRole("link", { name: `card ${number} Say ${HOSTILE}` }).click();
    await page.getByRole("heading", { name: /Say/, level: 1 }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("shows what an event changed, with the values before and after", async () => {
    const board = await console.board();
    const flow = await readFlow(board);
    const stages = flow.stages.map((stage) =>
      stage.kind === "done"
        ? { ...stage, gates: { wipLimit: 2, humanOnly: true, secondPerson: false } }
        : stage,
    );
    await putFlow(board, { ...flow, stages: stages.filter(({ name }) => name !== "To do") });
    const { number } = await board.api.card();
    await setCards(board.api, await makeRelease(board.api, "1.0"), [number]);
    const { page, ...ada } = await openAudit(board);
    const changesOf = async (sentence: string): Promise<string[]> => {
      const row = rowsOf(page).filter({ hasText: sentence });
      await row.getByRole("button", { name: /^Details/ }).click();
      await row.locator(".attempt-changes").first().waitFor();
      return row.locator(".attempt-changes li").allTextContents();
    };
    expect(await changesOf("changed the flow")).toEqual([
      "To do removed",
      "Done: gates: none → limit of cards 2, people only",
    ]);
    expect(await changesOf("changed the cards of the release")).toEqual([`cards: none → ${number}`]);
    expect(await findInaccessible(page)).toEqual([]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is filtered by the address, by typing and by a row", async () => {
    const { board } = await busyBoard();
    const { page, ...ada } = await openAudit(board, { query: "?outcome=failure" });
    await shows(page, 1);
    await rowsOf(page).getByText("Refused: forbidden").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await shows(page, 4);
    const action = page.getByRole("combobox", { name: "Action" });
    await action.selectOption("created a label");
    await shows(page, 1);
    expect(new URL(page.url()).searchParams.get("action")).toBe("POST /v1/labels");
    await page.reload();
    await shows(page, 1);
    await action.selectOption("created a card");
    await shows(page, 1);
    await page.goto(`${new URL(page.url()).pathname}?action=LABELS`);
    await shows(page, 1);
    expect(await action.locator("option:checked").textContent()).toBe("contains LABELS");
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("button", { name: "Person" }).click();
    await page.getByRole("menuitem", { name: "member agent" }).click();
    await shows(page, 2);
    await page.getByRole("button", { name: "Clear" }).click();
    await shows(page, 4);
    await rowsOf(page)
      .first()
      .getByRole("button", { name: /^Details/ })
      .click();
    await page.getByRole("button", { name: "this key or session" }).click();
    await shows(page, 2);
    await page.getByRole("searchbox", { name: "Key or session" }).fill("unknown");
    await page.getByText("Press Enter to apply.").waitFor();
    await page.getByRole("searchbox", { name: "Key or session" }).press("Enter");
    await page.getByText("No attempt fits the filter").waitFor();
    await page.getByRole("button", { name: "Clear" }).first().click();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
    await page.getByLabel("From").fill(tomorrow);
    await page.getByText("No attempt fits the filter").waitFor();
    await page.getByLabel("To").fill(tomorrow);
    await page.getByText("Choose a time after From.").waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is read page by page", async () => {
    const board = await console.board();
    for (let at = 0; at < 60; at++) await board.api.delete("/v1/cards/4711");
    const { page, context, ...ada } = await openAudit(board);
    await shows(page, 50);
    const calls: string[] = [];
    context.on("request", (request) => {
      if (request.url().includes("/v1/audit/attempts")) calls.push(request.url());
    });
    await page.getByRole("button", { name: "Show earlier attempts" }).click();
    await shows(page, 60);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toContain("cursor=");
    await page.getByRole("button", { name: "Show earlier attempts" }).waitFor({ state: "detached" });
    await ada.close();
  });

  it("is exported as it is filtered", async () => {
    const { board } = await busyBoard();
    const { page, ...ada } = await openAudit(board, { query: "?outcome=success" });
    await shows(page, 3);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export as JSON Lines" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^audit-.*\.jsonl$/);
    const saved = (await readFile((await download.path()) ?? "", "utf8")).trim().split("\n");
    const expected = await readAudit(board.api, "?outcome=success");
    expect(saved.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(
      expected.map(({ id }) => id),
    );
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("says why an export failed", async () => {
    const { board } = await busyBoard();
    const { page, context, ...ada } = await openAudit(board);
    await shows(page, 4);
    await context.route("**/console/v1/audit*", (route) => route.abort());
    await page.getByRole("button", { name: "Export as JSON Lines" }).click();
    await page
      .getByRole("alert")
      .getByText(/Not exported. Trunkline cannot be reached/)
      .waitFor();
    expect(await rowsOf(page).count()).toBe(4);
    await ada.close();
  });

  it("is for maintainers only", async () => {
    const { board } = await busyBoard();
    const { page, ...grace } = await console.signIn(board, "grace");
    await page.goto(`${new URL(page.url()).pathname}/settings/audit`);
    await page.getByText("Only maintainers see the audit log.").waitFor();
    expect(await rowsOf(page).count()).toBe(0);
    await grace.close();
  });
});

describe.each(["desktop", "phone"] as const)("on a %s", (size) => {
  it("the audit log has no serious accessibility problem and fits the width", async () => {
    const { board } = await busyBoard();
    const { page, ...ada } = await openAudit(board, { size });
    await shows(page, 4);
    await rowsOf(page)
      .first()
      .getByRole("button", { name: /^Details/ })
      .click();
    await rowsOf(page)
      .nth(2)
      .getByRole("button", { name: /^Details/ })
      .click();
    await page.getByRole("list", { name: "Events" }).first().getByRole("listitem").first().waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `audit-${size}`);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
