import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Locator, Page } from "playwright-core";
import type { Role } from "../../src/flow/roles.ts";
import { eventually } from "../support/api.ts";
import { putFlow, readFlow, stageNames, withStage } from "../support/flows.ts";
import { openCard } from "../support/stories/open-card.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { addCard } from "./support/board-page.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];
const HOSTILE = `<img src=x onerror="alert(1)">`;

type Board = Awaited<ReturnType<ConsoleWorld["board"]>>;
interface Options {
  readonly role?: Role;
  readonly size?: "desktop" | "phone";
  readonly person?: "ada" | "grace";
}

let console: ConsoleWorld;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console.stop());

async function openSettings(board: Board, section: string, options: Options = {}) {
  const { person = "ada", role = "maintainer", ...rest } = options;
  const visitor: Visitor = await console.signIn(board, person, { role, ...rest });
  const base = new URL(visitor.page.url()).pathname;
  await visitor.page.goto(`${base}/settings/${section}`);
  await visitor.page.getByRole("heading", { level: 1 }).waitFor();
  return { ...visitor, base };
}

const announced = (page: Page, text: string | RegExp) =>
  page.getByTestId("announcer").getByText(text, { exact: true }).waitFor({ state: "attached" });
const preview = (page: Page): Locator => page.getByRole("region", { name: "What saving changes" });
const stageItem = (page: Page, at: number): Locator => page.locator(".flow-stage").nth(at);
const editFlow = (page: Page) => page.getByRole("button", { name: "Edit the flow" }).click();
const saveFlow = (page: Page) => page.getByRole("button", { name: "Save the flow" }).click();
const shownStages = (page: Page): Promise<string[]> => page.locator(".flow-station h2").allTextContents();

/** The chosen texts of the selects that are too narrow for them. */
const cutOffSelects = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(".flow-stage select")].flatMap((select) => {
    const { font, paddingLeft, paddingRight } = getComputedStyle(select);
    const context = document.createElement("canvas").getContext("2d");
    context.font = font;
    const text = select.selectedOptions[0].text;
    const arrow = 20;
    const room = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow;
    return context.measureText(text).width > room ? [text] : [];
  })`);

async function expectAccessible(page: Page, name: string): Promise<void> {
  expect(await findInaccessible(page)).toEqual([]);
  if (SCREENSHOTS !== undefined) await takeScreenshots(page, SCREENSHOTS, name);
  const width = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  expect(width).toBeLessThanOrEqual(0);
}

describe("the flow", () => {
  it("says what a change does to the cards that stand in its stages, and refuses to remove an occupied one", async () => {
    const board = await console.board();
    const numbers = [await addCard(board, "One"), await addCard(board, "Two")];
    const { page, ...ada } = await openSettings(board, "flow");
    expect(await shownStages(page)).toEqual(["Backlog", "To do", "In progress", "In review", "Done"]);
    await editFlow(page);
    await page.getByRole("button", { name: "Remove To do" }).click();
    const effects = preview(page);
    const occupied = "To do cannot be removed yet: it holds 2 cards. Move them to another stage first.";
    await effects.getByText(occupied).waitFor();
    // It is also said where the stage was.
    const place = page.getByRole("list", { name: "Stages" }).getByRole("alert");
    await place.getByText(occupied).waitFor();
    await place.getByRole("button", { name: "Keep it" }).click();
    await place.waitFor({ state: "detached" });
    expect(await page.locator(":focus").inputValue()).toBe("To do");
    await page.getByRole("button", { name: "Remove To do" }).click();
    await page.getByRole("textbox", { name: "Name of stage 2" }).fill("Doing");
    for (const number of numbers) await effects.getByRole("link", { name: `#${number}` }).waitFor();
    await effects.getByText("In progress is renamed to Doing.").waitFor();
    await saveFlow(page);
    const refusal = page.getByRole("alert").getByText(/Not saved. To do still holds 2 cards/);
    await refusal.waitFor();
    expect(await page.getByRole("textbox", { name: "Name of stage 2" }).inputValue()).toBe("Doing");
    expect(stageNames(await readFlow(board))).toContain("To do");

    // The preview follows the cards: after one has left, one is in the way.
    await board.api.move(numbers[0] ?? 0, board.stages.Backlog);
    await effects
      .getByText("To do cannot be removed yet: it holds 1 card. Move it to another stage first.")
      .waitFor();
    await effects.getByRole("button", { name: "Keep it" }).click();
    await refusal.waitFor({ state: "detached" });
    await saveFlow(page);
    await announced(page, "Flow saved");
    await page.getByRole("region", { name: "Notices" }).getByText("Flow saved").waitFor();
    expect(stageNames(await readFlow(board))).toEqual(["Backlog", "To do", "Doing", "In review", "Done"]);
    expect(await page.locator(":focus").textContent()).toBe("Edit the flow");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("says which armed moves are cancelled and where a target is missing, also after the change", async () => {
    const board = await console.board();
    const { number, heads } = await openCard(console.world, board);
    const run = { name: "test", head_sha: heads["web"], status: "in_progress" };
    await board.person("ada", "POST", `/repos/${board.owner}/web/check-runs`, run);
    const whenReady = { expiresInHours: 8, headShas: { [`${board.owner}/web`]: heads["web"] } };
    const order = { statusId: board.stages.Done, index: 0, whenReady };
    const armed = await board.api.post(`/v1/cards/${number}/move`, order);
    expect([armed.status, armed.text]).toEqual([202, armed.text]);
    const { page, base, ...ada } = await openSettings(board, "flow");
    await editFlow(page);
    await stageItem(page, 4).getByRole("textbox", { name: "Merges into" }).fill("stable");
    const effects = preview(page);
    await effects.getByText("A move into Done that waits for checks and reviews is cancelled.").waitFor();
    await effects.getByRole("link", { name: `#${number}` }).waitFor();
    await effects.getByText(`The target branch stable does not exist in ${board.owner}/web.`).waitFor();
    await saveFlow(page);
    await announced(page, "Flow saved");
    expect((await board.api.readCard(number)) as { armed?: object }).not.toHaveProperty("armed");

    // The repository keeps the warning until the branch exists.
    await page.goto(`${base}/settings/repositories`);
    const missing = page.getByText("Target branch missing");
    await missing.waitFor();
    await page.getByText(`If you have no clone of ${board.owner}/web, run:`).waitFor();
    await page.getByText("git push origin main:stable", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Copy the command that creates stable" }).waitFor();
    await expectAccessible(page, "settings-missing-branch");
    await console.world.forge.commit(`${board.owner}/web`, "stable", { "stable.txt": "stable" });
    const response = page.waitForResponse(/branches\?name=stable$/);
    await page.reload();
    await (await response).finished();
    await page.getByText(/^connected/).waitFor();
    expect(await missing.count()).toBe(0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is reordered, extended and limited with the keyboard, and by dragging", async () => {
    const board = await console.board();
    await addCard(board, "One");
    const { page, ...ada } = await openSettings(board, "flow");
    await page.getByRole("button", { name: "Edit the flow" }).press("Enter");
    await page.getByRole("button", { name: "Add a stage before Done" }).press("Enter");
    // The new stage has the focus. Its name is not missed before it was typed.
    await page.getByRole("group", { name: "New stage", exact: true }).getByLabel("Card limit").waitFor();
    expect(await page.locator(":focus").getAttribute("placeholder")).toBe("Name of the stage");
    expect(await page.getByText("A stage needs a name.").count()).toBe(0);
    await page.keyboard.press("Tab");
    await page.getByText("A stage needs a name.").waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.type(`QA ${HOSTILE}`);
    await page.getByRole("button", { name: /^Move QA .* up$/ }).press("Enter");
    await announced(page, /^QA .* is stage 4 of 6\.$/);
    await page.keyboard.press("Enter");
    await announced(page, /^QA .* is stage 3 of 6\.$/);
    const todo = page.getByRole("group", { name: "To do", exact: true });
    expect(await cutOffSelects(page)).toEqual([]);
    const skipped = todo.getByText(/^Cards can skip To do: QA .* Done do not require a person\.$/);
    expect(await skipped.count()).toBe(0);
    await todo.getByRole("spinbutton", { name: "Card limit" }).fill("1");
    await todo.getByRole("checkbox", { name: "Only people may move cards here" }).press("Space");
    await skipped.waitFor();
    await preview(page)
      .getByText(/^Cards can skip To do/)
      .waitFor();
    await preview(page)
      .getByText(
        "To do has room for 1 card and holds 1: no card may enter until one leaves. The cards in it stay.",
      )
      .waitFor();
    await preview(page)
      .getByText(
        "Only members and maintainers who are signed in may move cards into To do; API keys may not.",
      )
      .waitFor();
    // QA opens the pull request, or marks the draft ready like the stage before the last one, which is more than the stage behind it.
    const tooLittle =
      /^In progress comes after QA .*, so it must do at least .* Choose “Opens the pull request, or marks the draft ready” or “Merges”\.$/;
    await stageItem(page, 3).getByText(tooLittle).waitFor();
    await preview(page).getByText(tooLittle).waitFor();
    await saveFlow(page);
    await page
      .getByRole("alert")
      .getByText(/^Not saved\. In progress comes after QA/)
      .waitFor();
    await stageItem(page, 2).getByRole("combobox", { name: "Entering it" }).selectOption("none");
    await saveFlow(page);
    await announced(page, "Flow saved");
    const flow = await readFlow(board);
    expect(stageNames(flow)).toEqual([
      "Backlog",
      "To do",
      `QA ${HOSTILE}`,
      "In progress",
      "In review",
      "Done",
    ]);
    expect(flow.stages[1]?.gates).toEqual({ wipLimit: 1, humanOnly: true, secondPerson: false });
    expect(await page.locator("main img").count()).toBe(0);

    await editFlow(page);
    const [from, to] = [stageItem(page, 2).locator(".flow-handle"), stageItem(page, 1)];
    await from.hover();
    await page.mouse.down();
    const box = await to.boundingBox();
    if (!box) throw new Error("the stage is not on the page");
    await page.mouse.move(box.x + 100, box.y + 12, { steps: 4 });
    await page.mouse.move(box.x + 100, box.y + 6, { steps: 2 });
    await page.mouse.up();
    await preview(page)
      .getByText(/^The new order is Backlog, QA/)
      .waitFor();
    await saveFlow(page);
    await announced(page, "Flow saved");
    expect(stageNames(await readFlow(board)).slice(0, 3)).toEqual(["Backlog", `QA ${HOSTILE}`, "To do"]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("names an invalid value at its field, and scrolls the reason into view when it is not saved", async () => {
    const board = await console.board();
    const { page, ...ada } = await openSettings(board, "flow");
    await page.setViewportSize({ width: 1_000, height: 500 });
    await editFlow(page);
    const limit = stageItem(page, 2).getByRole("spinbutton", { name: "Card limit" });
    await limit.fill("0");
    const text = "The card limit of In progress must be 1 to 10,000. Leave it empty for no limit.";
    await stageItem(page, 2).getByText(text).waitFor();
    expect(await limit.getAttribute("aria-invalid")).toBe("true");
    expect(
      await preview(page)
        .getByText(/has room/)
        .count(),
    ).toBe(0);
    const alert = page.getByRole("alert").getByText(/^Not saved\. The card limit of In progress/);
    const isInView = async () => {
      const box = await alert.boundingBox();
      return box !== null && box.y > 50 && box.y + box.height < 500;
    };
    for (const field of [limit, page.getByRole("textbox", { name: "Name of stage 1" })]) {
      await field.press("Control+Enter");
      await eventually(isInView, (is) => is);
    }
    await expectAccessible(page, "settings-flow-invalid");
    // The browser scrolls a field that gets the focus to the edge of the window.
    await page.evaluate("window.scrollTo(0, document.body.scrollHeight)");
    await limit.focus();
    expect((await limit.boundingBox())?.y).toBeGreaterThan(50);
    await limit.fill("");
    await alert.waitFor({ state: "detached" });
    await preview(page).getByText("Nothing yet.").waitFor();
    expect(stageNames(await readFlow(board))).toHaveLength(5);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("warns that cards can skip a condition, until all later stages have it", async () => {
    const board = await console.board();
    const { page, ...ada } = await openSettings(board, "flow");
    await editFlow(page);
    await stageItem(page, 3).getByRole("checkbox", { name: "A second person must move cards here" }).check();
    const text = "Cards can skip In review: Done does not require a second person.";
    await stageItem(page, 3).getByText(text).waitFor();
    await preview(page).getByText(text).waitFor();
    await expectAccessible(page, "settings-flow-skip");
    await stageItem(page, 3).getByRole("button", { name: "Also require it for Done" }).press("Enter");
    await announced(page, "Also required for Done.");
    expect(await page.getByText(text).count()).toBe(0);
    expect(await page.locator(":focus").getAttribute("type")).toBe("checkbox");
    await saveFlow(page);
    await announced(page, "Flow saved");
    const { stages } = await readFlow(board);
    expect(stages.map(({ gates }) => gates?.secondPerson)).toEqual([
      undefined,
      undefined,
      undefined,
      true,
      true,
    ]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("of two people who edit it at once loses the edits of neither", async () => {
    const board = await console.board();
    const { page, ...ada } = await openSettings(board, "flow");
    const { page: other, ...grace } = await openSettings(board, "flow", { person: "grace" });
    // Ada's page does not learn what Grace does before it saves.
    await page.context().route("**/events/stream", (route) => route.abort());
    await page.reload();
    await editFlow(page);
    await page.getByRole("textbox", { name: "Name of stage 2" }).fill("Ready");
    await editFlow(other);
    await other.getByRole("textbox", { name: "Name of stage 3" }).fill("Doing");
    await saveFlow(other);
    await announced(other, "Flow saved");
    await saveFlow(page);
    await announced(page, /somebody changed the flow meanwhile/);
    await page.getByRole("alert").getByText("In progress is renamed to Doing.").waitFor();
    expect(await page.getByRole("textbox", { name: "Name of stage 2" }).inputValue()).toBe("Ready");
    expect(stageNames(await readFlow(board))).toEqual(["Backlog", "To do", "Doing", "In review", "Done"]);
    await page.getByRole("button", { name: "Combine with my edits" }).click();
    expect(await page.getByRole("textbox", { name: "Name of stage 3" }).inputValue()).toBe("Doing");
    await saveFlow(page);
    await announced(page, "Flow saved");
    expect(stageNames(await readFlow(board))).toEqual(["Backlog", "Ready", "Doing", "In review", "Done"]);
    await ada.close();
    await grace.close();
  });

  it("is not overwritten by a save that somebody else's save precedes by a moment", async () => {
    const board = await console.board();
    const { page, ...ada } = await openSettings(board, "flow");
    await editFlow(page);
    await page.getByRole("textbox", { name: "Name of stage 2" }).fill("Ready");
    await page.context().route("**/events/stream", (route) => route.abort());
    // Grace saves after Ada's page has read the flow, and before its change arrives.
    let isFirst = true;
    await page.route("**/console/v1/projects/*/flow", async (route) => {
      if (isFirst && route.request().method() === "PUT") {
        isFirst = false;
        await putFlow(board, withStage(await readFlow(board), "In progress", { name: "Doing" }));
      }
      await route.continue();
    });
    await saveFlow(page);
    await announced(page, /somebody changed the flow meanwhile/);
    await page.getByRole("alert").getByText("In progress is renamed to Doing.").waitFor();
    expect(await page.getByRole("textbox", { name: "Name of stage 2" }).inputValue()).toBe("Ready");
    expect(stageNames(await readFlow(board))).toEqual(["Backlog", "To do", "Doing", "In review", "Done"]);
    await page.getByRole("button", { name: "Combine with my edits" }).click();
    await saveFlow(page);
    await announced(page, "Flow saved");
    expect(stageNames(await readFlow(board))).toEqual(["Backlog", "Ready", "Doing", "In review", "Done"]);
    await ada.close();
  });

  it("keeps edits that could not be saved, also over a reload, and gives discarded ones back", async () => {
    const board = await console.board();
    const { page, context, ...ada } = await openSettings(board, "flow");
    await editFlow(page);
    await page.getByRole("textbox", { name: "Branch of a card" }).fill("work/{slug}");
    await saveFlow(page);
    await page
      .getByRole("alert")
      .getByText(/must contain \{number\}/)
      .waitFor();
    await context.route("**/console/v1/projects/*/flow", (route) => route.abort());
    await page.getByRole("textbox", { name: "Branch of a card" }).fill("work/{number}");
    await saveFlow(page);
    await page
      .getByRole("alert")
      .getByText(/cannot be reached/)
      .waitFor();
    await context.unroute("**/console/v1/projects/*/flow");
    await page.reload();
    const pattern = page.getByRole("textbox", { name: "Branch of a card" });
    expect(await pattern.inputValue()).toBe("work/{number}");
    await pattern.press("Escape");
    await page.getByRole("button", { name: "Restore" }).click();
    expect(await pattern.inputValue()).toBe("work/{number}");
    await saveFlow(page);
    await announced(page, "Flow saved");
    expect(await readFlow(board)).toMatchObject({ branchPattern: "work/{number}" });
    await ada.close();
  });
});

describe("a second project", () => {
  it("is set up in the console only: with a flow, a repository, labels and a monitor", async () => {
    const board = await console.board();
    const { page, ...ada } = await openSettings(board, "projects");
    await page.getByText(board.projectId, { exact: true }).waitFor();
    await page.getByRole("button", { name: /^Copy the ID of / }).waitFor();
    const warning = page.getByText(/API calls for one project.* are refused without projectId/);
    await warning.waitFor();
    await page.getByRole("textbox", { name: "Name of the new project" }).fill("Mobile app");
    await page.getByRole("button", { name: "Create the project" }).click();
    await announced(page, "Project created");
    await page.waitForURL(/\/settings\/flow\?project=mobile-app$/);
    await editFlow(page);
    await page.getByRole("button", { name: "Remove In review" }).click();
    await page.getByRole("textbox", { name: "Name of stage 3" }).fill("Building");
    await stageItem(page, 3).getByRole("textbox", { name: "Merges into" }).fill("develop");
    await saveFlow(page);
    await announced(page, "Flow saved");
    expect(await shownStages(page)).toEqual(["Backlog", "To do", "Building", "Done"]);

    await page
      .getByRole("navigation", { name: "Settings" })
      .getByRole("link", { name: "Repositories" })
      .click();
    await page.getByText("None yet.").waitFor();
    const web = `${board.owner}/web`;
    await page.getByText(/^In the project .*\. A repository belongs to one project\.$/).waitFor();
    await page.getByRole("button", { name: `Move to Mobile app: ${web}` }).click();
    const question = page.getByRole("dialog", { name: `Move ${web} to Mobile app?` });
    await question.getByRole("button", { name: "Move the repository" }).click();
    await announced(page, `${web} linked`);
    await page.getByRole("button", { name: `Stop using for new cards: ${web}` }).waitFor();

    const { id } = (await board.api.get<{ id: string; slug: string }[]>("/v1/projects")).body.find(
      ({ slug }) => slug === "mobile-app",
    ) ?? { id: "" };
    const { body: linked } = await board.api.get(`/v1/projects/${id}/repositories`);
    expect(linked).toMatchObject([{ fullName: web, linkByDefault: true }]);
    const { body: flow } = await board.api.get(`/v1/projects/${id}/flow`);
    expect(flow).toMatchObject({
      stages: [{}, {}, { name: "Building" }, { rule: { type: "merge", into: "develop" } }],
    });
    expect(stageNames(await readFlow(board))).toHaveLength(5);

    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Monitors" }).click();
    await page.getByRole("textbox", { name: "Name of the new monitor" }).fill("Sentry");
    await page.getByRole("button", { name: "Create the monitor" }).click();
    await page.getByRole("heading", { name: "Sentry is created" }).waitFor();
    const secret = await page.getByText(/^tlm_/).textContent();
    expect(secret).toMatch(/^tlm_\w{20}/);
    await page.getByRole("button", { name: "I have stored the secret" }).click();
    const monitors = page.getByRole("list", { name: "Monitors" });
    await monitors.getByText(/reports to Mobile app/).waitFor();
    await page.reload();
    await monitors.getByText("Sentry").waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole("button", { name: "Remove Sentry" }).click();
    await page.getByRole("button", { name: "Remove the monitor" }).click();
    await announced(page, "Sentry removed");
    await page.getByText("The board has no monitors yet.").waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is renamed, and deleted only without cards", async () => {
    const board = await console.board();
    const created = await board.api.post<{ id: string }>("/v1/projects", { name: `Old ${HOSTILE}` });
    const { number } = await board.api.card({ title: "Left", projectId: created.body.id, repositoryIds: [] });
    const { page, ...ada } = await openSettings(board, "projects");
    await page.getByRole("button", { name: `Edit Old ${HOSTILE}` }).click();
    const [first] = (await board.api.get<{ name: string }[]>("/v1/projects")).body;
    await page.getByRole("textbox", { name: "Name", exact: true }).fill(first?.name ?? "");
    await page.getByText("Another project of this board has this name.").waitFor();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Renamed");
    await page.getByRole("textbox", { name: "Slug" }).fill("Not a slug");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .getByText(/^Not saved\. Slug: must have lower-case letters/)
      .waitFor();
    expect(await page.getByRole("textbox", { name: "Name", exact: true }).inputValue()).toBe("Renamed");
    await page.getByRole("textbox", { name: "Slug" }).fill("renamed");
    await page.getByRole("button", { name: "Save" }).click();
    await announced(page, "Project saved");
    await page.getByRole("button", { name: "Delete Renamed" }).click();
    const question = page.getByRole("dialog", { name: "Delete Renamed?" });
    await question.getByText("It holds 1 card. Delete it first").waitFor();
    expect(await question.getByRole("button", { name: "Delete the project" }).isDisabled()).toBe(true);
    await expectAccessible(page, "settings-project-with-cards");
    await board.api.delete(`/v1/cards/${number}`);
    await question.getByText("Its flow and releases are deleted").waitFor();
    await question.getByRole("button", { name: "Delete the project" }).click();
    await announced(page, "Renamed deleted");
    expect((await board.api.get<object[]>("/v1/projects")).body).toHaveLength(1);
    await page.getByRole("button", { name: "Delete Renamed" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Delete / }).click();
    const last = page.getByRole("dialog");
    await last.getByText("It is the only project of this board.").waitFor();
    expect(await last.getByRole("button", { name: "Delete the project" }).isDisabled()).toBe(true);
    await ada.close();
  });
});

describe("labels and features", () => {
  it("are created, changed, ordered, archived and deleted", async () => {
    const board = await console.board();
    const { page, ...ada } = await openSettings(board, "labels");
    await page.getByRole("button", { name: "New label" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill(HOSTILE);
    await page.getByRole("radio", { name: "teal" }).check({ force: true });
    await page.getByRole("button", { name: "Create the label" }).click();
    await announced(page, `Label ${HOSTILE} created`);
    await page.getByRole("region", { name: "Notices" }).getByText(`Label ${HOSTILE} created`).waitFor();
    const [label] = (await board.api.get<{ id: string; color: string }[]>("/v1/labels")).body;
    expect(label).toMatchObject({ name: HOSTILE, color: "teal" });
    await board.api.card({ title: "Tagged", labelIds: [label?.id ?? ""] });
    await page.getByText("1 card", { exact: true }).waitFor();
    await page.getByRole("button", { name: `Edit ${HOSTILE}` }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Bug");
    await page.getByRole("button", { name: "Save" }).click();
    await announced(page, "Label Bug saved");
    await page.getByRole("button", { name: "New label" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("bug");
    await page.getByRole("button", { name: "Create the label" }).click();
    await page
      .getByRole("alert")
      .getByText(/Not saved\. This board has the label "Bug" .* already; case makes no difference\./)
      .waitFor();
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("bug");
    await page.getByRole("textbox", { name: "Name" }).press("Escape");
    await page.getByRole("button", { name: "Delete Bug" }).click();
    await page.getByText("It is removed from 1 card.").waitFor();
    await page.getByRole("button", { name: "Delete the label" }).click();
    await announced(page, "Label Bug deleted");

    for (const name of ["Checkout", "Search"]) await board.api.post("/v1/features", { name });
    await page.getByRole("button", { name: "Move Search up" }).click();
    await announced(page, "Search moved up");
    const names = async () =>
      (await board.api.get<{ name: string }[]>("/v1/features")).body.map(({ name }) => name);
    expect(await names()).toEqual(["Search", "Checkout"]);
    await page
      .getByRole("listitem")
      .filter({ hasText: "Search" })
      .getByRole("button", { name: "Archive" })
      .click();
    await announced(page, "Search archived");
    expect(await names()).toEqual(["Checkout"]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("a repository whose connection is broken", () => {
  it("says why and what to do", async () => {
    const board = await console.board();
    await board.db("repositories").where({ id: board.repositories["web"] }).update({ archived: true });
    const { page, ...ada } = await openSettings(board, "repositories");
    await page.getByText("Connection broken").waitFor();
    await page.getByText(/Unarchive it there, or unlink it here/).waitFor();
    const help = page.getByRole("link", { name: /Installations of/ });
    expect(await help.getAttribute("href")).toMatch(/\/settings\/installations$/);
    await board.api.put(`/v1/projects/${board.projectId}/repositories`, { repositories: [] });
    await page.getByText(/Unarchive it there before you link it/).waitFor();
    await ada.close();
  });
});

describe("a repository of another project", () => {
  /** Asks whether the repository of the board's first project is moved to a second one. */
  const askToMove = async (board: Board) => {
    const { body } = await board.api.post<{ id: string }>("/v1/projects", { name: "Mobile" });
    const opened = await openSettings(board, "repositories?project=mobile");
    const name = `${board.owner}/web`;
    await opened.page.getByRole("button", { name: `Move to Mobile: ${name}` }).click();
    const question = opened.page.getByRole("dialog", { name: `Move ${name} to Mobile?` });
    return { ...opened, secondId: body.id, question };
  };

  it("stays there while cards have open pull requests in it, with the reason", async () => {
    const board = await console.board();
    const { number } = await openCard(console.world, board);
    const { page, question, ...ada } = await askToMove(board);
    await question.getByText(/ loses the repository\. Its cards are unlinked from it/).waitFor();
    await expectAccessible(page, "settings-repository-move");
    await question.getByRole("button", { name: "Move the repository" }).click();
    await question
      .getByRole("alert")
      .getByText(new RegExp(`^Pull requests are open: .* of card ${number} in `))
      .waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    expect((await board.api.get(`/v1/projects/${board.projectId}/repositories`)).body).toHaveLength(1);
    await ada.close();
  });

  it("that is unlinked there and cannot be linked says so, and is linked by another try", async () => {
    const board = await console.board();
    const { page, secondId, question, ...ada } = await askToMove(board);
    const path = `**/console/v1/projects/${secondId}/repositories`;
    await page.route(path, (route) =>
      route.request().method() === "PUT" ? route.abort() : route.continue(),
    );
    await question.getByRole("button", { name: "Move the repository" }).click();
    await question.getByText(/, but not linked to Mobile yet\./).waitFor();
    await question
      .getByRole("alert")
      .getByText(/cannot be reached/)
      .waitFor();
    await page.unroute(path);
    await question.getByRole("button", { name: "Link the repository" }).click();
    await announced(page, `${board.owner}/web linked`);
    await question.waitFor({ state: "detached" });
    expect((await board.api.get(`/v1/projects/${secondId}/repositories`)).body).toHaveLength(1);
    await ada.close();
  });
});

describe("the only default repository", () => {
  it("is unlinked after a warning, which the page repeats until another one is a default", async () => {
    // The first repository is the default one.
    const board = await console.board({ repositories: ["web", "api"] });
    const { page, ...ada } = await openSettings(board, "repositories");
    const warning = page.getByText("No repository is a default one, so new cards are linked to none.");
    await page
      .getByText(/^connected (No webhook has arrived yet|The last webhook arrived .*)\./)
      .first()
      .waitFor();
    await page.getByRole("button", { name: `Unlink ${board.owner}/api` }).click();
    const question = page.getByRole("dialog");
    await question.waitFor();
    expect(await question.getByText("only default").count()).toBe(0);
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(await warning.count()).toBe(0);
    await page.getByRole("button", { name: `Unlink ${board.owner}/web` }).click();
    await question.getByText(/New cards will be linked to no repository until/).waitFor();
    await expectAccessible(page, "settings-unlink-default");
    await question.getByRole("button", { name: "Unlink the repository" }).click();
    await warning.waitFor();
    await page.getByText("available", { exact: true }).waitFor();
    expect(await page.getByText("connected", { exact: true }).count()).toBe(1);
    await expectAccessible(page, "settings-no-default");
    await page.getByRole("button", { name: `Use for new cards: ${board.owner}/api` }).click();
    await warning.waitFor({ state: "detached" });
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("a project without repositories", () => {
  it("says on its board, flow and cards that moves change nothing on GitHub", async () => {
    const board = await console.board();
    const { page, base, ...ada } = await openSettings(board, "flow");
    await page.locator(".flow-station").first().waitFor();
    const note = page.getByText(/Moves change nothing on GitHub until one is linked in/);
    const link = page.getByRole("link", { name: "Settings, Repositories" });
    expect(await note.count()).toBe(0);
    await board.api.put(`/v1/projects/${board.projectId}/repositories`, { repositories: [] });
    await note.waitFor();
    const [noteBox, stageBox] = [
      await note.boundingBox(),
      await page.locator(".flow-station").first().boundingBox(),
    ];
    expect((stageBox?.y ?? 0) - (noteBox?.y ?? 0) - (noteBox?.height ?? 0)).toBeGreaterThan(8);
    await expectAccessible(page, "settings-flow-no-repository");
    await page.goto(base);
    await note.waitFor();
    await page.getByText("New card creates a card in To do.").waitFor();
    await expectAccessible(page, "board-no-repository");
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["To do"]);
    await page.goto(`${base}/cards/${number}`);
    await note.waitFor();
    // A stage does what its column says.
    await page.getByText("creates the branch; the first push opens a draft pull request").waitFor();
    await link.click();
    await page.getByText("None yet. Without a repository").waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("every section", () => {
  const sections = ["flow", "repositories", "projects", "labels", "monitors"] as const;

  it.each(sections)("%s is shown to a viewer, who cannot change it", async (section) => {
    const board = await console.board();
    await board.api.post("/v1/labels", { name: "Bug" });
    const { page, ...ada } = await openSettings(board, section, { role: "viewer" });
    await page.getByText(/Maintainers of the board can|Members of the board can|maintainers only$/).waitFor();
    const buttons = page.locator(".settings-section").getByRole("button");
    expect(await buttons.filter({ hasNotText: "Copy" }).count()).toBe(0);
    expect(await page.locator(".settings-section").getByRole("textbox").count()).toBe(0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it.each(
    sections.flatMap((section) => (["desktop", "phone"] as const).map((size) => [section, size] as const)),
  )("%s is accessible on a %s", async (section, size) => {
    const board = await console.board();
    await addCard(board, "One");
    await board.api.post("/v1/labels", { name: "Bug", color: "red" });
    await board.api.post("/v1/features", { name: "Checkout", description: "Pay by card" });
    await board.api.post("/v1/projects", { name: `Second ${HOSTILE}` });
    const { page, ...ada } = await openSettings(board, section, { size });
    await page.locator(".settings-section li, .settings-section form").first().waitFor();
    await expectAccessible(page, `settings-${section}-${size}`);
    // On a phone the sections are a row that scrolls to the active one.
    const active = await page.locator('.settings-nav [aria-current="page"]').boundingBox();
    expect(active?.x).toBeGreaterThanOrEqual(0);
    expect((active?.x ?? 0) + (active?.width ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
    const open = { flow: "Edit the flow", projects: /^Edit Second/, labels: "New label" } as const;
    if (section in open) {
      await page.getByRole("button", { name: open[section as keyof typeof open] }).click();
      if (section === "flow") await page.getByRole("button", { name: "Remove To do" }).click();
      await eventually(
        () => page.locator(".settings-section form").count(),
        (count) => count > 0,
      );
      await expectAccessible(page, `settings-${section}-edit-${size}`);
    }
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is two keys and a click away from the board", async () => {
    const board = await console.board();
    const { page, base, ...ada } = await openSettings(board, "projects");
    const groups = page.getByRole("navigation", { name: "Settings" }).getByRole("heading");
    expect(await groups.allTextContents()).toEqual(["This project", "All projects"]);
    for (const [section, title] of [
      ["labels", "Labels and features"],
      ["monitors", "Monitors"],
    ] as const) {
      await page.goto(base);
      await page.locator(".board").waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("s");
      await page.getByRole("link", { name: title, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`${base}/settings/${section}`);
    }
    await ada.close();
  });
});
