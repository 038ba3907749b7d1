import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { boardWithCards, onBoard } from "./support/board-page.ts";
import { findInaccessible, takeScreenshots } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];

let console: ConsoleWorld;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console.stop());

/** The parts of the bar that are not wholly inside the window. */
const OUTSIDE = `[...document.querySelectorAll(".top-bar > *, .top-bar-tab")]
  .filter((part) => getComputedStyle(part).display !== "none")
  .filter((part) => {
    const { left, right, bottom } = part.getBoundingClientRect();
    return left < 0 || right > window.innerWidth || bottom > window.innerHeight;
  })
  .map((part) => part.textContent)`;

/** Parts that lie on each other. */
const OVERLAPPING = `(() => {
  const boxes = [...document.querySelectorAll(".top-bar > :not(nav), .top-bar-tab")].map((part) => [
    part.textContent,
    part.getBoundingClientRect(),
  ]);
  return boxes.flatMap(([name, one], at) =>
    boxes
      .slice(at + 1)
      .filter(
        ([, other]) =>
          Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
          Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1,
      )
      .map(([other]) => name + " / " + other),
  );
})()`;

it("shows all screens at every width, with a board and a project of long names", async () => {
  const board = await console.board();
  const { number } = await board.api.card();
  await board.api.move(number, board.stages.Done);
  await board.db("workspaces").where({ id: board.workspaceId }).update({ name: "A board with a long name" });
  await board.api.post("/v1/projects", { name: "A project with a long name" });
  const { page, ...ada } = await console.signIn(board);
  await page.locator(".top-bar-count").waitFor();
  for (const width of [1600, 1280, 1249, 1247, 1024, 900, 800, 720, 641, 639, 480, 390, 360, 320]) {
    await page.setViewportSize({ width, height: 700 });
    expect([width, await page.evaluate(OUTSIDE)]).toEqual([width, []]);
    expect([width, await page.evaluate(OVERLAPPING)]).toEqual([width, []]);
    expect(await page.getByRole("navigation", { name: "Screens" }).getByRole("link").count()).toBe(7);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `top-bar-${width}`);
  }
  await page.getByRole("link", { name: "Trunk", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Trunk" }).waitFor();
  expect(await findInaccessible(page)).toEqual([]);
  expect(ada.problems()).toEqual([]);
  await ada.close();
});

it("shows the project of a card that is opened by its address, and keeps it in links and titles", async () => {
  const board = await console.board();
  const { body: second } = await board.api.post<{ id: string; slug: string }>("/v1/projects", {
    name: "Mobile",
  });
  const { number } = await board.api.card({ title: "Login", projectId: second.id });
  const { page, ...ada } = await console.signIn(board, "ada", { role: "maintainer" });
  const board1 = new URL(page.url()).pathname;
  await page.goto(`${board1}/cards/${number}`);
  await page.getByRole("button", { name: "Project: Mobile" }).click();
  await page
    .getByRole("menuitem")
    .filter({ hasNotText: /Mobile|New project/ })
    .click();
  await page.waitForURL(({ pathname, search }) => pathname === board1 && !search.endsWith(second.slug));
  await page.goto(`${board1}/cards/${number}`);
  await page.getByRole("button", { name: "Project: Mobile" }).waitFor();
  await page.getByRole("link", { name: "Backlog", exact: true }).first().click();
  await page.getByRole("link", { name: /Login/ }).waitFor();
  for (const [keys, screen] of [
    ["gr", "Releases"],
    ["gs", "Flow"],
  ] as const) {
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForURL(({ search }) => search === `?project=${second.slug}`);
    await eventually(
      () => page.title(),
      (title) => title.startsWith(`${screen} · Mobile · `),
    );
  }
  await page.goto(`${board1}/pages?new=1`);
  await page.getByRole("button", { name: "Project: Mobile" }).waitFor();
  // From another screen, and from the settings themselves.
  for (const _ of [1, 2]) {
    await page.getByRole("button", { name: "Project: Mobile" }).click();
    await page.getByRole("menuitem", { name: "New project" }).click();
    const name = page.getByRole("textbox", { name: "Name of the new project" });
    await name.and(page.locator(":focus")).waitFor();
    await page.getByRole("button", { name: "Create the project" }).focus();
  }
  expect(ada.problems()).toEqual([]);
  await ada.close();
});

it("follows the project whose slug changes, and does not show another one for an unknown slug", async () => {
  const board = await console.board();
  const { body: second } = await board.api.post<{ id: string; slug: string }>("/v1/projects", {
    name: "Mobile",
  });
  const { page, ...ada } = await console.signIn(board, "ada", { role: "maintainer" });
  const { pathname } = new URL(page.url());
  await page.goto(`${pathname}/settings/flow?project=${second.slug}`);
  await page.getByText("The stages of Mobile in order").waitFor();
  await board.api.patch(`/v1/projects/${second.id}`, { slug: "apps" });
  await page.waitForURL(({ search }) => search === "?project=apps");
  await page.getByText("The stages of Mobile in order").waitFor();
  await page.goto(`${pathname}?project=${second.slug}`);
  await page.getByText(`This board has no project with the slug ${second.slug}`).waitFor();
  expect(await page.locator("[data-stage]").count()).toBe(0);
  await page.getByRole("button", { name: "Project: unknown" }).click();
  await page.getByRole("menuitem", { name: "Mobile" }).click();
  await page.waitForURL(({ search }) => search === "?project=apps");
  await page.getByRole("heading", { name: "Mobile" }).waitFor();
  expect(ada.problems()).toEqual([]);
  await ada.close();
});

/** Runs in the page, before its own scripts. */
const FORBID_STORAGE = `for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, {
    get: () => {
      throw new DOMException("Access is denied", "SecurityError");
    },
  });
}`;

it("shows the board and changes its colors in a browser that forbids storage", async () => {
  const board = await boardWithCards(console, 1);
  const { page, ...ada } = await console.signIn(board);
  await page.addInitScript(FORBID_STORAGE);
  await page.reload();
  const shown = await onBoard(page);
  await shown.shows("To do", [1]);
  await page.getByRole("button", { name: "settings and sign-out" }).click();
  await page.getByRole("menuitem", { name: "Dark" }).click();
  await page.locator('html[data-theme="dark"]').waitFor();
  expect(ada.problems()).toEqual([]);
  await ada.close();
});
