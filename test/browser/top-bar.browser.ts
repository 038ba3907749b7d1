import { afterAll, beforeAll, expect, it } from "@jest/globals";
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

it("shows the project of a card that is opened by its address, and keeps it in its links", async () => {
  const board = await console.board();
  const { body: second } = await board.api.post<{ id: string; slug: string }>("/v1/projects", {
    name: "Mobile",
  });
  const { number } = await board.api.card({ title: "Login", projectId: second.id });
  const { page, ...ada } = await console.signIn(board);
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
  await page.goto(`${board1}/pages?new=1`);
  await page.getByRole("button", { name: "Project: Mobile" }).waitFor();
  expect(ada.problems()).toEqual([]);
  await ada.close();
});
