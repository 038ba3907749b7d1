import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Page } from "playwright-core";
import { eventually } from "../support/api.ts";
import type { Role } from "../../src/flow/roles.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];
const HOSTILE = `<img src=x onerror="alert(1)"> & "quoted"`;

type Board = Awaited<ReturnType<ConsoleWorld["board"]>>;
interface Created {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly body: string;
  readonly parentId: string | null;
  readonly position: number;
}

let console: ConsoleWorld;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console.stop());

const write = async (
  board: Board,
  title: string,
  body = "",
  parentId: string | null = null,
): Promise<Created> => (await board.api.post<Created>("/v1/docs", { title, body, parentId })).body;
const readPage = async (board: Board, id: string): Promise<Created> =>
  (await board.api.get<Created>(`/v1/docs/${id}`)).body;

async function openPages(
  board: Board,
  slug = "",
  options: {
    readonly role?: Role;
    readonly size?: "desktop" | "phone";
    readonly person?: "ada" | "grace";
  } = {},
): Promise<Visitor & { readonly base: string }> {
  const visitor = await console.signIn(board, options.person ?? "ada", options);
  const base = new URL(visitor.page.url()).pathname;
  await visitor.page.goto(`${base}/pages/${slug}`);
  await visitor.page.getByRole("navigation", { name: "Pages" }).waitFor({ state: "attached" });
  return { ...visitor, base };
}

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true });
const announced = (page: Page, text: string | RegExp) =>
  page.getByTestId("announcer").getByText(text, { exact: true }).waitFor({ state: "attached" });
const tree = (page: Page) => page.getByRole("navigation", { name: "Pages", exact: true });
/** The titles of the tree, indented by their depth. */
const shownTree = (page: Page): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll(".page-tree a")].map((link) => {
       let depth = -1;
       for (let each = link; each.className !== "page-tree"; each = each.parentElement) if (each.tagName === "UL") depth++;
       return "  ".repeat(depth) + link.textContent;
     })`,
  );

describe("a page", () => {
  it("is created with a preview from the keyboard, and is found by search", async () => {
    const board = await console.board();
    await write(board, "Runbook");
    const { page, ...ada } = await openPages(board);
    await page.keyboard.press("c");
    await page.getByRole("textbox", { name: "Title" }).fill("How we ship");
    await page.getByRole("textbox", { name: "Text" }).fill("Read the [[Runbook]] **first**.");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.locator(".markdown-editor strong", { hasText: "first" }).waitFor();
    expect(await page.locator(".markdown-editor a", { hasText: "Runbook" }).getAttribute("href")).toMatch(
      /\/pages\/Runbook$/,
    );
    await page.getByRole("button", { name: "Create the page" }).click();
    await announced(page, "Page How we ship created");
    await page.getByRole("region", { name: "Notices" }).getByText("Page How we ship created").waitFor();
    await heading(page, "How we ship").waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/pages\/how-we-ship$/);
    await page.locator("article").getByRole("link", { name: "Runbook" }).click();
    await heading(page, "Runbook").waitFor();
    await page.getByRole("region", { name: "Pages that link here" }).getByRole("link").click();
    await heading(page, "How we ship").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("runbook");
    await page
      .getByRole("option", { name: /Runbook/ })
      .first()
      .click();
    await heading(page, "Runbook").waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is created by one click on a link that leads nowhere, which then leads there", async () => {
    const board = await console.board();
    const { slug } = await write(board, "Start", "See [[Release & train|the train]].");
    const { page, ...ada } = await openPages(board, slug);
    await page.getByRole("button", { name: "the train (no such page: create it)" }).click();
    await heading(page, "Release & train").waitFor();
    await tree(page).getByRole("link", { name: "Start" }).click();
    await page.locator("article").getByRole("link", { name: "the train" }).click();
    await heading(page, "Release & train").waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/pages\/release-train$/);
    await page.goto(page.url().replace("release-train", "never-written"));
    await page.getByRole("link", { name: "Create this page" }).click();
    expect(await page.getByRole("textbox", { name: "Title" }).inputValue()).toBe("never written");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("keeps its old addresses after a new title, also for somebody who reads it", async () => {
    const board = await console.board();
    const { slug, id } = await write(board, "Old name", "Text");
    const { page, base, ...ada } = await openPages(board, slug);
    const { page: other, ...grace } = await openPages(board, slug, { person: "grace" });
    await heading(page, "Old name").waitFor();
    await page.keyboard.press("e");
    await page.getByRole("textbox", { name: "Title" }).fill("New name");
    await page.getByRole("textbox", { name: "Title" }).press("Control+Enter");
    await announced(page, "Saved");
    await page.waitForURL(`**${base}/pages/new-name`);
    await heading(other, "New name").waitFor();
    await other.waitForURL(`**${base}/pages/new-name`);
    await page.goto(`${base}/pages/old-name`);
    await heading(page, "New name").waitFor();
    await page.waitForURL(`**${base}/pages/new-name`);
    expect(await readPage(board, id)).toMatchObject({ title: "New name", body: "Text" });
    await ada.close();
    await grace.close();
  });

  it("shows both texts when somebody else changed it meanwhile, and overwrites nothing unasked", async () => {
    const board = await console.board();
    const { slug, id } = await write(board, "Shared", "Start");
    const { page, ...ada } = await openPages(board, slug);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Text" }).fill("Mine");
    await board.api.patch(`/v1/docs/${id}`, { body: "Theirs" });
    await page.locator(".conflict-theirs", { hasText: "Theirs" }).waitFor();
    await page.getByText("Choose which text to keep before you save.").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await announced(page, /somebody changed the page/);
    expect(await readPage(board, id)).toMatchObject({ body: "Theirs" });
    await page.getByRole("button", { name: "Keep my text" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await announced(page, "Saved");
    expect(await readPage(board, id)).toMatchObject({ body: "Mine" });
    await page.locator("article", { hasText: "Mine" }).waitFor();
    await ada.close();
  });

  it("keeps what was typed when it cannot be saved or was deleted meanwhile", async () => {
    const board = await console.board();
    const { slug, id } = await write(board, "Fragile", "Start");
    const { page, context, ...ada } = await openPages(board, slug);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Text" }).fill("Long work");
    await context.route("**/console/v1/docs/*", (route) => route.abort());
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .getByText(/Not saved/)
      .waitFor();
    await context.unroute("**/console/v1/docs/*");
    await page.reload();
    expect(await page.getByRole("textbox", { name: "Text" }).inputValue()).toBe("Long work");
    await board.api.delete(`/v1/docs/${id}`);
    await page
      .getByRole("alert")
      .getByText(/deleted this page/)
      .waitFor();
    expect(await page.getByRole("textbox", { name: "Text" }).inputValue()).toBe("Long work");
    await ada.close();
  });

  it("moves in the tree with the pages below it, which move up when it is deleted", async () => {
    const board = await console.board();
    const top = await write(board, "Top");
    const middle = await write(board, "Middle");
    await write(board, "Leaf", "", middle.id);
    const { page, ...ada } = await openPages(board, middle.slug);
    expect(await shownTree(page)).toEqual(["Top", "Middle", "  Leaf"]);
    await page.getByRole("button", { name: "Move" }).click();
    const dialog = page.getByRole("dialog", { name: "Move Middle" });
    await dialog.waitFor();
    const parents = await dialog
      .getByRole("combobox", { name: "Below" })
      .getByRole("option")
      .allTextContents();
    expect(parents).toEqual(["(top level)", "Top"]);
    await dialog.getByRole("combobox", { name: "Below" }).selectOption({ label: "Top" });
    await dialog.getByRole("button", { name: "Move the page" }).click();
    await announced(page, "Page moved");
    await eventually(
      () => shownTree(page),
      (shown) => shown.join() === ["Top", "  Middle", "    Leaf"].join(),
    );
    expect(await readPage(board, middle.id)).toMatchObject({ parentId: top.id });
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText(/The page below it move/).waitFor();
    await page.getByRole("button", { name: "Delete the page" }).click();
    await announced(page, "Page Middle deleted");
    await eventually(
      () => shownTree(page),
      (shown) => shown.join() === ["Top", "  Leaf"].join(),
    );
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("the pages of a board", () => {
  it("are linked from the text of a card", async () => {
    const board = await console.board();
    const { slug } = await write(board, "How we ship");
    const { number } = await board.api.card({
      title: "Ship it",
      description: "As in [[how we SHIP?|the page]]",
    });
    const { page, base, ...ada } = await openPages(board, slug);
    await page
      .getByRole("region", { name: "Cards" })
      .getByRole("link", { name: /Ship it/ })
      .click();
    await page
      .getByRole("article", { name: `Card #${number}` })
      .getByRole("link", { name: "the page" })
      .click();
    await heading(page, "How we ship").waitFor();
    await page.waitForURL(`**${base}/pages/${slug}`);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("appear and change while others read them", async () => {
    const board = await console.board();
    const { page, ...ada } = await openPages(board);
    await page.getByText("The board has no pages yet.").waitFor();
    const { slug, id } = await write(board, "Fresh", "First");
    await tree(page).getByRole("link", { name: "Fresh" }).click();
    await page.locator("article", { hasText: "First" }).waitFor();
    await board.api.patch(`/v1/docs/${id}`, { body: "Second" });
    await page.locator("article", { hasText: "Second" }).waitFor();
    await write(board, "Other", `[[${slug}]]`);
    await page.getByRole("region", { name: "Pages that link here" }).getByText("Other").waitFor();
    expect(await shownTree(page)).toEqual(["Fresh", "Other"]);
    await ada.close();
  });

  it("are read by a viewer, who cannot change them", async () => {
    const board = await console.board();
    const { slug } = await write(board, "Rules", "A [[Missing]] page");
    const { page, ...ada } = await openPages(board, slug, { role: "viewer" });
    await heading(page, "Rules").waitFor();
    await page.locator("article .page-dangling", { hasText: "Missing" }).waitFor();
    await page.keyboard.press("e");
    await page.keyboard.press("c");
    expect(await page.locator("main").getByRole("button").count()).toBe(0);
    expect(await page.getByRole("link", { name: "New page" }).count()).toBe(0);
    expect(await page.getByRole("textbox").count()).toBe(0);
    await ada.close();
  });

  it.each(["desktop", "phone"] as const)("are accessible and inert on a %s", async (size) => {
    const board = await console.board();
    const parent = await write(board, "Handbook", "# Welcome\n\nStart with [[How we ship]].");
    await write(board, `Title ${HOSTILE}`, "", parent.id);
    const body = `${HOSTILE}\n\n[[${HOSTILE.replaceAll(/[[\]]/g, "")}]] [[Handbook|javascript:alert(1)]] [x](javascript:alert(1))\n\n| a | b |\n|---|---|\n| [[Handbook\\|the book]] | \`[[code]]\` |`;
    const { slug } = await write(board, "How we ship", body, parent.id);
    await board.api.card({ title: `Card ${HOSTILE}`, description: `[[${slug}]]` });
    const { page, ...ada } = await openPages(board, slug, { size });
    await page.getByRole("link", { name: "the book" }).waitFor();
    expect(await page.locator("article img").count()).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.locator("article code").textContent()).toBe("[[code]]");
    expect(await findInaccessible(page)).toEqual([]);
    const folder = SCREENSHOTS;
    if (folder !== undefined) await takeScreenshots(page, folder, `page-${size}`);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Text" }).waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    if (folder !== undefined) await takeScreenshots(page, folder, `page-edit-${size}`);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Move" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    const width = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    expect(width).toBeLessThanOrEqual(0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
