import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { findInaccessible, takeScreenshots } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];

let console: ConsoleWorld;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console.stop());

describe("a person", () => {
  it("signs in with one click on GitHub's page and sees the board", async () => {
    const board = await console.board();
    await board.api.card({ title: "Say hello" });
    const { page, ...ada } = await console.signIn(board);
    await page.getByRole("list", { name: "Stages" }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Backlog" }).click();
    await page.getByRole("link", { name: /Say hello/ }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Say hello");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("sees what others change without loading the page again", async () => {
    const board = await console.board();
    const { page, ...ada } = await console.signIn(board);
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["To do"]);
    const stage = (name: string) => page.locator(".column", { has: page.getByRole("heading", { name }) });
    await stage("To do")
      .getByRole("link", { name: /Say hello/ })
      .waitFor();
    await board.api.patch(`/v1/cards/${number}`, { title: "Say goodbye" });
    await stage("To do")
      .getByRole("link", { name: /Say goodbye/ })
      .waitFor();
    await board.api.move(number, board.stages["In progress"]);
    await stage("In progress")
      .getByRole("link", { name: /Say goodbye/ })
      .waitFor();
    expect(await stage("To do").getByRole("link").count()).toBe(0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it.each([
    ["not_a_member", /Ask a maintainer/],
    ["something else", /did not confirm/],
  ])("learns why a sign-in failed: %s", async (problem, sentence) => {
    const visitor = await console.visit();
    await visitor.page.goto(`/sign-in?problem=${encodeURIComponent(problem)}`);
    expect(await visitor.page.getByRole("alert").textContent()).toMatch(sentence);
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  it("keeps the page when the session ends, and is asked to sign in again", async () => {
    const board = await console.board();
    const { page, context, ...ada } = await console.signIn(board);
    await context.clearCookies();
    await page.getByRole("navigation").getByRole("link", { name: "Backlog" }).click();
    const dialog = page.getByRole("dialog", { name: "You are signed out" });
    await dialog.waitFor();
    expect(await dialog.getByRole("link", { name: "Sign in with GitHub" }).getAttribute("href")).toContain(
      encodeURIComponent("/backlog"),
    );
    await ada.close();
  });
});

describe("every screen", () => {
  it.each(["desktop", "phone"] as const)(
    "is accessible and loads nothing from elsewhere, on a %s",
    async (size) => {
      const board = await console.board();
      const { number } = await board.api.card({
        title: `<img src=x onerror="alert(1)"> & "hello"`,
        description: `<script>alert(1)</script> [link](javascript:alert(1)) ![picture](https://example.com/x.png)`,
      });
      await board.api.move(number, board.stages["In progress"]);
      await board.api.move(number, board.stages["Done"]);
      const { page, ...ada } = await console.signIn(board, "ada", { size });
      const base = new URL(page.url()).pathname;
      const screens = {
        board: base,
        card: `${base}/cards/${number}`,
        inbox: `${base}/inbox`,
        backlog: `${base}/backlog`,
        missing: `${base}/nothing-here`,
        "sign-in": "/sign-in?problem=expired",
      };
      for (const [name, path] of Object.entries(screens)) {
        await page.goto(path);
        await page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" });
        expect(await findInaccessible(page)).toEqual([]);
        if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `${name}-${size}`);
      }
      expect(ada.problems()).toEqual([]);
      await ada.close();
    },
  );

  it("is accessible while it has nothing, and with the command menu and the list of shortcuts", async () => {
    const board = await console.board();
    const { page, ...ada } = await console.signIn(board);
    const base = new URL(page.url()).pathname;
    for (const path of [`${base}/inbox`, `${base}/backlog`, base]) {
      await page.goto(path);
      await page.locator(".state").waitFor();
      expect(await findInaccessible(page)).toEqual([]);
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Search and commands" }).waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    await page.keyboard.type("backl");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Backlog" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("fits the window at 200 % zoom, and moves nothing for people who want no motion", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Averylongword".repeat(20) });
    await board.api.move(number, board.stages["To do"]);
    const { page, ...ada } = await console.signIn(board, "ada", { reducedMotion: true });
    await page.setViewportSize({ width: 720, height: 450 });
    const base = new URL(page.url()).pathname;
    for (const path of [base, `${base}/cards/${number}`, `${base}/inbox`, `${base}/backlog`]) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" });
      const beyond: number = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect([path, beyond <= 0]).toEqual([path, true]);
      const slowest: number = await page.evaluate(
        `Math.max(...[...document.querySelectorAll("*")].flatMap((each) => {
          const { transitionDuration, animationDuration } = getComputedStyle(each);
          return [...transitionDuration.split(","), ...animationDuration.split(",")].map(parseFloat);
        }))`,
      );
      expect(slowest).toBeLessThan(0.01);
    }
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
