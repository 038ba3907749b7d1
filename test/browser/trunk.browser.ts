import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { putFlow, readFlow, withStage } from "../support/flows.ts";
import { mergedCard } from "../support/stories/merged-card.ts";
import { openCard } from "../support/stories/open-card.ts";
import { complete, makeRelease } from "../support/stories/releases.ts";
import { trunkWhenLanded, type TrunkReport } from "../support/stories/trunk.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];
const HOSTILE = `<img src=x onerror="alert(1)">`;

type Board = Awaited<ReturnType<ConsoleWorld["board"]>>;
type Page = Visitor["page"];

let console: ConsoleWorld;
let board: Board;
let report: TrunkReport;
beforeAll(async () => {
  console = await startConsole();
  board = await console.board();
  report = await aBusyTrunk();
});
afterAll(() => console.stop());

const fullName = () => `${board.owner}/web`;

/** Merges by Trunkline and by a person, a push, refused moves, and releases with owed cards. */
async function aBusyTrunk(): Promise<TrunkReport> {
  const { world } = console;
  const shipped = await mergedCard(world, board, { web: { "a.txt": "a\n" } }, `Shipped ${HOSTILE}`);
  const second = await mergedCard(world, board, { web: { "b.txt": "b\n" } }, "Shipped too");
  const outside = await openCard(world, board);
  const pull = (await board.api.readCard(outside.number)).repositories[0]?.prNumber;
  await board.person("grace", "PUT", `/repos/${fullName()}/pulls/${pull}/merge`, { merge_method: "squash" });
  const clone = await board.clone("grace");
  await clone.commit("Fix at once", { "fix.txt": "fix\n" });
  await clone.push("origin", "HEAD:main");
  await clone.remove();
  const owed = await board.api.card({ title: "Owed" });
  await board.api.move(owed.number, board.stages.Done);
  const spring = await makeRelease(board.api, "Spring", [shipped]);
  const versions = [{ repositoryId: board.repositories["web"], tagName: "v1" }];
  expect((await complete(board.api, spring, versions)).status).toBe(200);
  await makeRelease(board.api, "Summer", [second, owed.number]);
  return trunkWhenLanded(board.api, 5);
}

async function openTrunk(
  query = "",
  options: Parameters<ConsoleWorld["signIn"]>[2] = {},
  on = board,
): Promise<Visitor> {
  const visitor = await console.signIn(on, "ada", { role: "viewer", ...options });
  await visitor.page.goto(`${new URL(visitor.page.url()).pathname}/trunk${query}`);
  await visitor.page.getByRole("heading", { level: 1, name: "Trunk" }).waitFor();
  return visitor;
}

/** The rows of a chart's table: name and values. */
async function tableOf(page: Page, id: string): Promise<string[][]> {
  const chart = page.locator(`#${id}`);
  if (!(await chart.locator("table").isVisible())) await chart.locator("summary").click();
  await chart.locator("tbody").waitFor();
  const rows = await chart.locator("tbody tr").all();
  return Promise.all(rows.map((row) => row.locator("th, td.trunk-number").allTextContents()));
}

/** The landings, with those from before the project marked. */
async function withEarlier({ landings }: TrunkReport): Promise<TrunkReport["landings"]> {
  const [project] = (await board.api.get<{ createdAt: string }[]>("/v1/projects")).body;
  const start = Math.floor(Date.parse(project?.createdAt ?? "") / 1_000) * 1_000;
  return landings.map((landing) =>
    landing.via === "outside" && Date.parse(landing.at) < start ? { ...landing, via: "earlier" } : landing,
  );
}

const countOf = (landings: TrunkReport["landings"], fits: (landing: (typeof landings)[number]) => boolean) =>
  String(landings.filter(fits).length);

/** How many pixels of a chart have a color of tokens.css as the page shows it now. */
const paintedWith = (page: Page, id: string, token: string): Promise<number> =>
  page.evaluate(
    `(() => {
      const canvas = document.querySelector("#${id} canvas");
      const probe = document.body.appendChild(document.createElement("i"));
      probe.style.color = "var(${token})";
      const color = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
      probe.remove();
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] === 255 && color.every((value, part) => data[at + part] === value)) count += 1;
      return count;
    })()`,
  );

describe("the trunk report", () => {
  it("shows the numbers of GET /v1/trunk, in charts with tables, each with its cards and commits", async () => {
    const { page, ...ada } = await openTrunk();
    await page.locator("#landings canvas").waitFor();
    const tile = (name: string) => page.locator(`[data-number="${name}"] strong`).textContent();
    const { delivered, promised, numbers } = report;
    const landings = await withEarlier(report);
    expect(numbers.landed).toBe(landings.length);
    expect(await tile("landed")).toBe(countOf(landings, ({ via }) => via !== "earlier"));
    expect(await Promise.all(["not delivered", "refused moves", "reverts", "delivered"].map(tile))).toEqual(
      [numbers.owed, numbers.refusals, numbers.reverts, delivered.length].map(String),
    );
    expect(numbers.leadTimeDays).toBeLessThan(0.02);
    expect(await tile("median lead time")).toMatch(/^(?:under a minute|\d+ minutes?)$/);
    expect(await tile("outside")).toBe(countOf(landings, ({ via }) => via === "outside"));
    await page.getByText("Moves that GitHub or a rule of the flow refused.").waitFor();

    const days = [...new Set(landings.map(({ at }) => at.slice(0, 10)))].toSorted();
    expect(await tableOf(page, "landings")).toEqual(
      days.map((day) => [
        day,
        countOf(landings, ({ at, via }) => at.startsWith(day) && via === "service"),
        countOf(landings, ({ at, via }) => at.startsWith(day) && via === "outside"),
        ...(landings.some(({ via }) => via === "earlier")
          ? [countOf(landings, ({ at, via }) => at.startsWith(day) && via === "earlier")]
          : []),
      ]),
    );
    const shas = await page
      .locator("#landings [data-landing]")
      .evaluateAll((items) =>
        items.map((item) => (item as unknown as { dataset: Record<string, string> }).dataset["landing"]),
      );
    expect(new Set(shas)).toEqual(new Set(landings.map(({ sha }) => sha)));
    expect(
      await page
        .locator("#landings")
        .getByRole("link", { name: /Shipped too/ })
        .getAttribute("href"),
    ).toMatch(/\/cards\/\d+$/);
    expect(await tableOf(page, "outside")).toEqual(
      days.map((day) => [
        day,
        countOf(
          landings,
          ({ at, via, prNumber }) => at.startsWith(day) && via === "outside" && prNumber !== null,
        ),
        countOf(
          landings,
          ({ at, via, prNumber }) => at.startsWith(day) && via === "outside" && prNumber === null,
        ),
      ]),
    );
    expect(await tableOf(page, "lead-time")).toEqual(
      delivered
        .toReversed()
        .map((card) => [
          `${card.deliveredAt.slice(0, 10)} #${card.number}`,
          String(Math.round(card.leadTimeDays * 14_400) / 10),
        ]),
    );
    expect(await tableOf(page, "promises")).toEqual([
      ["Spring", "1", "0"],
      ["Summer", "1", String(promised.length)],
    ]);
    expect(await findInaccessible(page)).toEqual([]);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "trunk-table");
    await page.locator('[data-number="refused moves"]').click();
    const refused = page.locator("#refusals [data-refusal]");
    await refused.first().waitFor();
    expect(await refused.count()).toBe(numbers.refusals);
    await page.locator("#refusals").getByText("no commits").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(await findInaccessible(page)).toEqual([]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("does not count what landed before the project existed as outside, and counts it on each branch", async () => {
    const young = await console.board();
    const clone = await young.clone("grace");
    await clone.commit("Begin", { "begin.txt": "begin\n" });
    await clone.push("origin", "HEAD:main");
    await clone.push("origin", "HEAD:develop");
    await clone.remove();
    // The two commits are on two branches that the flow merges into.
    const develop = { rule: { type: "merge", into: "develop" } };
    expect((await putFlow(young, withStage(await readFlow(young), "In review", develop))).status).toBe(200);
    await trunkWhenLanded(young.api, 4);
    const tomorrow = new Date(Date.now() + 86_400_000);
    await young.db("projects").where({ id: young.projectId }).update({ created_at: tomorrow });
    const { page, ...ada } = await openTrunk("", {}, young);
    const tile = (name: string) => page.locator(`[data-number="${name}"]`);
    await tile("landed").getByText("Work that reached several of these counts once on each.").waitFor();
    await tile("landed").getByText("+4 before this project.").waitFor();
    expect(await tile("outside").locator("strong").textContent()).toBe("0");
    expect(await tile("landed").locator("strong").textContent()).toBe("0");
    await page.getByText("Nothing landed outside of Trunkline in these days.").waitFor();
    await tile("landed").click();
    await page.locator("#landings").getByText("before this project", { exact: true }).nth(2).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("draws with the colors of the scheme, and opens what is behind a bar", async () => {
    const { page, ...ada } = await openTrunk();
    await page.locator("#landings canvas").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expectPainted(page, "landings", "--accent");
      await expectPainted(page, "landings", "--warning");
      await expectPainted(page, "lead-time", "--accent");
      await expectPainted(page, "promises", "--success");
      await expectPainted(page, "outside", "--ink-faint");
    }
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "trunk");
    // Today is the last bar.
    const over = page.locator("#landings .u-over");
    const box = await over.boundingBox();
    if (!box) throw new Error("the chart is not on the page");
    await page.mouse.move(box.x + box.width - 5, box.y + box.height - 10);
    const today = report.landings[0]?.at.slice(0, 10) ?? "";
    await page.locator("#landings .trunk-pointed").getByText(today, { exact: false }).waitFor();
    await page.mouse.down();
    await page.mouse.up();
    await page.locator(`#landings tr[data-picked][data-row="${today}"]:focus`).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("keeps days and repository in the address, and shows the service's words on wrong ones", async () => {
    const { page, ...ada } = await openTrunk("?from=2020-01-01&to=2020-01-31");
    await page.getByText("Nothing landed in these days.").waitFor();
    await page.getByText("No card was delivered in these days.").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    await page.getByLabel("To", { exact: true }).fill("2019-12-31");
    await page.getByRole("alert").getByText("the window ends before it starts").waitFor();
    await page.getByRole("button", { name: "7 days" }).click();
    await page.locator("#landings canvas").waitFor();
    expect(new URL(page.url()).searchParams.get("from")).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(new URL(page.url()).searchParams.get("to")).toBeNull();
    await page.getByRole("combobox", { name: /^Repository/ }).selectOption(fullName());
    expect(new URL(page.url()).searchParams.get("repository")).toBe(fullName());
    const shown = await page.locator('[data-number="landed"] strong').textContent();
    expect(shown).toBe(countOf(await withEarlier(report), ({ via }) => via !== "earlier"));
    await page.goto(page.url().replace(encodeURIComponent(fullName()), "acme%2Fother"));
    await page.locator('[data-number="landed"]', { hasText: "0" }).waitFor();
    await page.locator('[data-number="not delivered"]', { hasText: "all repositories" }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("fits a phone", async () => {
    const { page, ...ada } = await openTrunk("", { size: "phone" });
    await page.locator("#outside canvas").waitFor();
    for (const id of ["landings", "lead-time", "promises", "outside"]) await tableOf(page, id);
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    expect(await findInaccessible(page)).toEqual([]);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "trunk-phone");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

/** Waits until a chart has pixels of a color. */
async function expectPainted(page: Page, id: string, token: string): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    if ((await paintedWith(page, id, token)) > 20) return;
    await page.evaluate("new Promise(requestAnimationFrame)");
  }
  throw new Error(`the chart ${id} shows no ${token}`);
}
