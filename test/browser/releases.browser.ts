import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { cardInReview, mergedCard } from "../support/stories/merged-card.ts";
import { protect } from "../support/stories/repairing.ts";
import {
  complete,
  freeze,
  frozenRelease,
  makeRelease,
  readRelease,
  setCards,
  tagOf,
} from "../support/stories/releases.ts";
import { twoTargets } from "../support/stories/two-targets.ts";
import type { TestBoard } from "../support/world.ts";
import type { Role } from "../../src/flow/roles.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];
const HOSTILE = `<img src=x onerror="alert(1)"> & "quoted"`;

let console: ConsoleWorld;
beforeAll(async () => {
  console = await startConsole();
});
afterEach(() => console.world.forge.control.faults.clear());
afterAll(() => console.stop());

/** Signs in and opens the releases, or one of them. */
async function openAs(
  board: TestBoard,
  id = "",
  options: {
    readonly role?: Role;
    readonly person?: "ada" | "grace";
    readonly size?: "desktop" | "phone";
  } = {},
): Promise<Visitor> {
  const { role = "maintainer", person = "ada", size = "desktop" } = options;
  const visitor = await console.signIn(board, person, { role, size });
  await visitor.page.goto(`${new URL(visitor.page.url()).pathname}/releases/${id}`.replace(/\/$/, ""));
  await visitor.page.getByRole("heading", { level: 1 }).waitFor();
  return visitor;
}

const announced = (page: Visitor["page"], text: string | RegExp) =>
  page.getByTestId("announcer").getByText(text, { exact: true }).waitFor({ state: "attached" });
/** The actions on the whole release in their order, with the one that is emphasized. */
const actionsOn = (page: Visitor["page"]): Promise<string[]> =>
  page.locator(".release-actions > button").evaluateAll((buttons) =>
    buttons.map((button) => {
      const { textContent, className, disabled } = button as unknown as Record<string, string>;
      return `${textContent}${className?.includes("primary") ? " (next)" : ""}${disabled ? " (off)" : ""}`;
    }),
  );
const isFlat = (page: Visitor["page"]) =>
  page.evaluate("document.documentElement.scrollWidth <= window.innerWidth");
const shoot = async (page: Visitor["page"], name: string): Promise<void> => {
  if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, name);
};

describe("a release", () => {
  it("goes from its cards to a tag, with a pick that GitHub refuses on the way", async () => {
    const board = await console.board();
    const { world } = console;
    const first = await mergedCard(world, board, { web: { "first.txt": "1\n" } }, `First ${HOSTILE}`);
    const early = await mergedCard(world, board, { web: { "early.txt": "1\n" } }, "Early");
    const { number: waiting } = await board.api.card({ title: "Waiting" });
    const { page, ...ada } = await openAs(board);
    await page.getByText("There are no releases yet").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    await page.keyboard.press("c");
    await page.getByRole("textbox", { name: "Name of the new release" }).fill("1.4");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "1.4" }).waitFor();

    // The scope is chosen by searching.
    await announced(page, "The release 1.4 was created");
    await page.getByText("No card is in the release yet.").waitFor();
    await page.getByText("The release is empty, so there is nothing to promote.").waitFor();
    expect(await actionsOn(page)).toEqual(["Freeze", "Promote cards (off)", "Complete", "Delete"]);
    await page.keyboard.press("/");
    await page.getByRole("searchbox", { name: "Search cards to add" }).fill("First");
    await page.getByRole("checkbox", { name: new RegExp(`^#${first} `) }).check();
    await page.getByRole("button", { name: "Add 1 card" }).click();
    await page.locator(`[data-scope="${first}"]`).waitFor();
    await announced(page, `Card ${first} was added to the release`);
    expect(await actionsOn(page)).toEqual(["Freeze (next)", "Promote cards (off)", "Complete", "Delete"]);
    await page.getByText("All cards are in the last stage, so there is nothing to promote.").waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    expect((await readRelease(board.api, id)).cards).toMatchObject([{ number: first }]);
    expect(await findInaccessible(page)).toEqual([]);
    await shoot(page, "release-open");

    await page.keyboard.press("f");
    const freezing = page.getByRole("dialog", { name: "Freeze 1.4?" });
    await freezing.getByText("unfreeze the release as long as nothing was picked or pushed").waitFor();
    await freezing.getByText(`release/1-4 from main in ${board.owner}/web`).waitFor();
    const outside = freezing.getByRole("group", { name: "Cards outside the release" });
    await outside.getByText(/their work is merged, so the release branches contain it/).waitFor();
    expect(await outside.getByRole("listitem").allTextContents()).toEqual([`#${early} Early`]);
    await shoot(page, "release-freeze");
    await freezing.getByRole("button", { name: "Freeze", exact: true }).click();
    await announced(page, "The release 1.4 is frozen");
    await page.getByRole("heading", { name: "Pick cards" }).waitFor();
    expect(await actionsOn(page)).toEqual(["Promote cards (off)", "Complete (next)", "Unfreeze"]);
    expect((await readRelease(board.api, id)).repositories).toMatchObject([{ branchName: "release/1-4" }]);

    // The branch has the work of both cards. Cards of all stages are listed, those that can be picked first.
    const listed = page.locator("[data-candidate]");
    await listed.nth(1).getByText("not merged yet").waitFor();
    expect(await listed.allTextContents()).toEqual([
      `#${early} EarlyDone`,
      `#${waiting} Waitingnot merged yet`,
    ]);
    await page.getByRole("checkbox", { name: new RegExp(`^#${early} Early`) }).check();
    await page.getByRole("button", { name: "Pick 1 card" }).click();
    await announced(
      page,
      `Card ${early} was added to the release. The release branch already contained its commits`,
    );
    await page.locator(`[data-scope="${early}"]`).waitFor();
    expect(await page.getByRole("button", { name: "onto the release branch" }).count()).toBe(0);

    // The release branch and the card have changed the same line.
    await world.forge.commit(`${board.owner}/web`, "release/1-4", { "app.txt": "eins\n" });
    const second = await mergedCard(world, board, { web: { "app.txt": "uno\n" } }, "Second");
    await page.getByRole("searchbox", { name: "Search cards to pick" }).fill("Second");
    await page.getByRole("checkbox", { name: new RegExp(`^#${second} Second`) }).check();
    await page.getByRole("button", { name: "Pick 1 card" }).click();
    const candidate = page.locator(`[data-candidate="${second}"]`);
    await candidate.getByText(`${board.owner}/web: Failed to merge: "Merge conflict" (app.txt)`).waitFor();
    expect(await page.getByRole("checkbox", { name: /Second/ }).isChecked()).toBe(true);
    expect(await findInaccessible(page)).toEqual([]);
    await shoot(page, "release-pick-refused");
    await world.forge.commit(`${board.owner}/web`, "release/1-4", { "app.txt": "one\n" });
    await page.getByRole("button", { name: "Pick 1 card" }).click();
    await announced(page, `Card ${second} was picked`);
    await page.locator(`[data-scope="${second}"]`).getByText("added").waitFor();
    await page
      .getByText(/^The branch release\/1-4 .* picked or pushed .* The release stays frozen\.$/)
      .waitFor();
    expect(await actionsOn(page)).toEqual([
      "Promote cards (off)",
      "Complete (next)",
      "Unfreeze (off)",
      "Delete",
    ]);
    await page.keyboard.press("f");
    expect(await page.getByRole("dialog").count()).toBe(0);

    // The notes are shown before they are written, and a taken tag keeps what was typed.
    const main = await world.forge.commit(`${board.owner}/web`, "main", { "later.txt": "x\n" });
    await board.person("ada", "POST", `/repos/${board.owner}/web/git/refs`, {
      ref: "refs/tags/v1",
      sha: main,
    });
    await page.keyboard.press("t");
    const completing = page.getByRole("dialog", { name: "Complete 1.4" });
    const tag = completing.getByRole("textbox", { name: `Tag in ${board.owner}/web` });
    // The version after the highest tag.
    await eventually(
      () => tag.inputValue(),
      (value) => value === "v2",
    );
    await tag.fill("");
    await completing.getByText(`Enter a tag for ${board.owner}/web, which holds cards`).waitFor();
    await completing
      .getByText("Commits were picked or pushed onto it, which main may not contain.")
      .waitFor();
    const complete = completing.getByRole("button", { name: "Complete", exact: true });
    expect(await complete.isDisabled()).toBe(true);
    await completing.getByRole("group", { name: `Notes in ${board.owner}/web` }).waitFor();
    await tag.fill("v 1");
    await complete.click();
    await completing
      .getByRole("alert")
      .getByText("Use letters, digits and . - _ / without spaces, for example v1.4.0.")
      .waitFor();
    expect(await completing.getByText("valid Git tag name").count()).toBe(1);
    expect(await completing.getByText("body.versions").count()).toBe(0);
    await tag.fill("v1");
    const notes = completing.getByRole("group", { name: `Notes of v1 in ${board.owner}/web` });
    await notes.getByText(`Card ${second}: Second (#3)`).waitFor();
    const shown = await notes.textContent();
    await shoot(page, "release-complete");
    expect(await findInaccessible(page)).toEqual([]);
    await completing.getByRole("button", { name: "Complete", exact: true }).click();
    await completing.getByRole("alert").getByText("has a tag v1 already, at another commit").waitFor();
    expect(await tag.inputValue()).toBe("v1");
    await tag.fill("v1.4-rc1");
    await eventually(
      () => completing.getByLabel("Prerelease").isChecked(),
      (isChecked) => isChecked,
    );
    await tag.fill("v1.4");
    await completing.getByLabel("Latest release on GitHub").uncheck();
    await completing.getByRole("button", { name: "Edit the notes" }).click();
    const text = completing.getByRole("textbox", { name: /^Notes of v1.4 in/ });
    await text.fill(`${await text.inputValue()}\nFaster, too.`);
    await completing.getByRole("button", { name: "Complete", exact: true }).click();
    await announced(page, "The release 1.4 is completed");
    await page.getByRole("link", { name: "Release notes of v1.4 on GitHub" }).waitFor();
    expect(await page.getByText("in the last stage now").count()).toBe(0);
    const head = (await readRelease(board.api, id)).repositories[0]?.headSha;
    expect(await tagOf(board, "web", "v1.4")).toBe(head);
    const path = `/repos/${board.owner}/web/releases/tags/v1.4`;
    const published = String((await board.person("ada", "GET", path)).body["body"]);
    expect(published.split("\n")).toHaveLength(4);
    expect(published).toContain("Faster, too.");
    expect(shown).toContain(`Card ${first}: First`);
    expect(published).toContain(`Card ${second}: Second (#3)`);
    expect(await page.getByRole("button", { name: /^(Freeze|Complete|Promote)/ }).count()).toBe(0);
    expect(await page.locator("main img").count()).toBe(0);
    await shoot(page, "release-completed");

    await page.getByRole("article").getByRole("link", { name: "Releases" }).click();
    await page.getByRole("link", { name: "1.4", exact: true }).waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is changed by one page and shown by another, and a removed card can be added again", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const id = await makeRelease(board.api, "Live", [number]);
    const other = await board.api.card({ title: "Elsewhere" });
    await makeRelease(board.api, "Other", [other.number]);
    const { page, ...ada } = await openAs(board, id);
    const { page: list, ...grace } = await openAs(board, "", { person: "grace" });
    await list.getByText("0 of 1 card done").first().waitFor();
    await shoot(list, "releases");
    await page.locator(`[data-candidate="${other.number}"]`).getByText("in the release Other").waitFor();
    expect(await page.getByRole("checkbox", { name: /Elsewhere/ }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: `Remove card ${number} from the release` }).click();
    await page.getByText("No card is in the release yet.").waitFor();
    await list.getByText("0 cards").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(`[data-scope="${number}"]`).waitFor();
    await board.api.move(number, board.stages["To do"]);
    await page.locator(`[data-scope="${number}"]`).getByText("To do").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await announced(page, "The release Live was deleted");
    await list.getByRole("link", { name: "Live", exact: true }).waitFor({ state: "detached" });
    expect([...ada.problems(), ...grace.problems()]).toEqual([]);
    await ada.close();
    await grace.close();
  });

  it("is unfrozen unless something was pushed onto its branch", async () => {
    const board = await console.board();
    const id = await frozenRelease(board.api, "2.0");
    await console.world.forge.commit(`${board.owner}/web`, "release/2-0", { "a.txt": "a\n" });
    const { page, ...ada } = await openAs(board, id);
    await page.keyboard.press("f");
    const dialog = page.getByRole("dialog", { name: "Unfreeze 2.0?" });
    await dialog.getByRole("button", { name: "Unfreeze", exact: true }).click();
    await dialog
      .getByRole("alert")
      .getByText(/commits that were picked or pushed onto it/)
      .waitFor();
    await board.person("ada", "PATCH", `/repos/${board.owner}/web/git/refs/heads/release%2F2-0`, {
      sha: (await readRelease(board.api, id)).repositories[0]?.headSha,
      force: true,
    });
    await dialog.getByRole("button", { name: "Unfreeze", exact: true }).click();
    await announced(page, "The release 2.0 is open again");
    expect((await readRelease(board.api, id)).frozenAt).toBeNull();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("a release with unmerged work", () => {
  it("names the cards before it is frozen and before it is completed", async () => {
    const board = await console.board();
    const merged = await mergedCard(console.world, board, { web: { "a.txt": "a\n" } }, "Merged");
    const open = await cardInReview(console.world, board, { web: { "b.txt": "b\n" } }, "Open");
    const id = await makeRelease(board.api, "3.1", [merged, open]);
    const { page, ...ada } = await openAs(board, id);
    await page.getByRole("button", { name: "Freeze", exact: true }).click();
    const warning = page.getByRole("group", { name: "Cards without their work" });
    await warning.getByText(/is not merged yet\. It will not be in the release/).waitFor();
    expect(await warning.getByRole("listitem").allTextContents()).toEqual([`#${open} Open`]);
    await shoot(page, "release-freeze-unmerged");
    expect(await findInaccessible(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Freeze", exact: true }).click();
    await announced(page, "The release 3.1 is frozen");
    const row = page.locator(`[data-scope="${open}"]`);
    await row.getByText("not merged yet").waitFor();
    expect(await row.getByRole("button").count()).toBe(0);
    expect(await page.getByText("not on the release branch", { exact: true }).count()).toBe(0);
    await page.getByText("will not be in the release, unless it is picked after its merge.").waitFor();

    // Neither a promotion nor the completion brings the card into the release.
    expect(await actionsOn(page)).toEqual(["Promote cards", "Complete", "Unfreeze"]);
    await protect(board, { required_pull_request_reviews: { required_approving_review_count: 1 } });
    expect((await board.api.move(open, board.stages.Done)).status).toBe(409);
    await page.getByText("Not moved to Done").waitFor();
    await page.getByRole("button", { name: "Complete", exact: true }).click();
    await warning.getByText(/is not on the release branch/).waitFor();
    expect(await warning.getByRole("listitem").allTextContents()).toEqual([`#${open} Open`]);
    expect(await page.getByRole("group", { name: "Cards outside the last stage" }).count()).toBe(0);
    await page.getByRole("textbox", { name: /^Tag in/ }).fill("v3.1");
    await shoot(page, "release-complete-unmerged");
    await page.getByRole("button", { name: "Complete without 1 card" }).click();
    await announced(page, "The release 3.1 is completed");

    // What happens to the card later is not part of the release.
    await page.getByText("1 of 2 cards in this release").waitFor();
    await page.getByText("1 of 2 cards is in the last stage now.").waitFor();
    const left = page.locator(`[data-scope="${open}"]`);
    await left.getByText("not in this release").waitFor();
    expect(await page.getByText("not in this release").count()).toBe(1);
    expect(await page.locator("[data-scope] .refusal").count()).toBe(0);
    expect(await left.getByText("In review").count()).toBe(0);
    await shoot(page, "release-completed-without-a-card");
    await page.getByRole("article").getByRole("link", { name: "Releases" }).click();
    await page.getByText("1 of 2 cards", { exact: true }).waitFor();
    await page.goto(new URL(page.url()).pathname.replace("releases", `cards/${open}`));
    await page.getByText("without this card", { exact: true }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

it("a release lists cards that have shipped after the others, and an empty project leads to its board", async () => {
  const board = await console.board();
  const id = await makeRelease(board.api, "1.0", []);
  const { page, ...ada } = await openAs(board, id);
  await page.getByText("The project has no cards yet.").waitFor();
  expect(await page.getByRole("link", { name: "Create one on the board" }).count()).toBe(1);
  const shipped = await mergedCard(console.world, board, { web: { "a.txt": "a\n" } }, "Shipped");
  await page.locator(`[data-candidate="${shipped}"]`).getByText("Done").waitFor();
  await setCards(board.api, id, [shipped]);
  expect((await freeze(board.api, id)).status).toBe(200);
  const versions = [{ repositoryId: board.repositories["web"], tagName: "v1.0" }];
  expect((await complete(board.api, id, versions)).status).toBe(200);
  const { number } = await board.api.card({ title: "Not yet" });
  const next = await makeRelease(board.api, "1.1", [number]);
  const open = await board.api.card({ title: "Next" });
  await board.api.patch(`/v1/cards/${shipped}`, { title: "Shipped, changed last" });
  await page.goto(new URL(page.url()).pathname.replace(id, next));
  const listed = page.locator("[data-candidate]");
  await listed.nth(1).getByText("shipped in 1.0").waitFor();
  expect(await listed.nth(0).getAttribute("data-candidate")).toBe(String(open.number));
  expect(await listed.nth(1).getByRole("checkbox").isEnabled()).toBe(true);
  await page.getByText("A freeze takes merged work only.").waitFor();
  expect(ada.problems()).toEqual([]);
  await ada.close();
});

it("a release shows why a card was not picked until a move may have removed the cause", async () => {
  const board = await console.board({ repositories: ["web", "api"] });
  const half = { web: { "a.txt": "a\n" }, api: { "b.txt": "b\n" } };
  const number = await cardInReview(console.world, board, half, "Half merged");
  const id = await frozenRelease(board.api, "3.2", [number]);
  const { page, ...ada } = await openAs(board, id);
  const row = page.locator(`[data-scope="${number}"]`);
  await row.getByText("not merged yet").waitFor();
  await board.person("ada", "PUT", `/repos/${board.owner}/api/pulls/1/merge`, {});
  await row.getByText("not on the release branch").waitFor();
  await row.getByRole("button", { name: `Pick card ${number} onto the release branch` }).click();
  const refused = row.getByText(/is not merged yet .* Merge its work, then pick the card/);
  await refused.waitFor();
  await protect(board, { required_pull_request_reviews: { required_approving_review_count: 1 } });
  expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
  await row.getByText("Not moved to Done").waitFor();
  const sizes = await page.evaluate<string[]>(
    "[...document.querySelectorAll('.release-card .refusal-words')].map((each) => getComputedStyle(each).fontSize)",
  );
  expect([sizes.length, new Set(sizes).size]).toEqual([2, 1]);
  await shoot(page, "release-refusals");
  expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
  await refused.waitFor({ state: "detached" });
  expect(ada.problems()).toEqual([]);
  await ada.close();
});

describe("a release with cards outside the last stage", () => {
  it("names them if the tagged branch lacks their work, but not if a freeze would include it", async () => {
    const { board, staging } = await twoTargets(console.world);
    const number = await cardInReview(console.world, board, { web: { "a.txt": "a\n" } }, "Half way");
    expect((await board.api.move(number, staging)).status).toBe(200);
    const { page, ...ada } = await openAs(board, await makeRelease(board.api, "3.1", [number]));
    const warning = page.getByRole("group", { name: "Cards without their work" });
    await page.getByRole("button", { name: "Freeze", exact: true }).click();
    await page.getByText("from develop in").waitFor();
    expect(await warning.count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Complete", exact: true }).click();
    await warning.getByText("not merged into main").waitFor();
    expect(await warning.getByRole("listitem").allTextContents()).toEqual([`#${number} Half way`]);
    await page.getByRole("button", { name: "Complete without 1 card" }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("warns that a merge into a later target brings the work of other cards, too", async () => {
    const { board, staging } = await twoTargets(console.world);
    const early = await cardInReview(console.world, board, { web: { "a.txt": "a\n" } }, "Early");
    expect((await board.api.move(early, staging)).status).toBe(200);
    const late = await cardInReview(console.world, board, { web: { "b.txt": "b\n" } }, "Late");
    const id = await makeRelease(board.api, "3.3", [late]);
    const { page, ...ada } = await openAs(board, id);
    await page.getByRole("button", { name: "Promote cards" }).click();
    const dialog = page.getByRole("dialog", { name: "Promote 3.3" });
    const note = /^A card's branch starts from develop\. Its merge into the default branch also brings/;
    await dialog.getByRole("radio", { name: /^Done/ }).check();
    await dialog.getByText(note).waitFor();
    await dialog.getByRole("radio", { name: /^Staging/ }).check();
    expect(await dialog.getByText(note).count()).toBe(0);
    await dialog.getByRole("button", { name: "Promote 1 card to Staging" }).click();
    await announced(page, "1 promoted");

    const cards = page.url().replace(/releases\/.*/, "cards");
    await page.goto(`${cards}/${late}`);
    await page.getByText(note).waitFor();
    expect((await board.api.move(late, board.stages.Done)).status).toBe(200);
    await page.goto(`${cards}/${early}`);
    await page
      .getByText("Nothing is left to merge: the default branch already contains the card's commits.")
      .waitFor();
    expect(await page.getByText(note).count()).toBe(0);
    expect(await findInaccessible(page)).toEqual([]);

    expect((await freeze(board.api, id)).status).toBe(200);
    await page.goto(page.url().replace(/cards\/.*/, `releases/${id}`));
    await page.getByRole("button", { name: "Complete", exact: true }).click();
    const tagged =
      "release branch, which started from develop. Merges into the default branch make new commits";
    await page.getByText(tagged).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("names them before it is completed", async () => {
    const board = await console.board();
    const done = await mergedCard(console.world, board, { web: { "a.txt": "a\n" } }, "Merged");
    const back = await mergedCard(console.world, board, { web: { "b.txt": "b\n" } }, "Moved back");
    await board.api.move(back, board.stages["In review"]);
    const id = await makeRelease(board.api, "3.2", [done, back]);
    const { page, ...ada } = await openAs(board, id);
    await page.getByRole("button", { name: "Complete", exact: true }).click();
    const warning = page.getByRole("group", { name: "Cards outside the last stage" });
    await warning.getByText("Completing the release does not move them:").waitFor();
    await page
      .getByText("a tag points to the newest commit of main, which may contain other cards")
      .waitFor();
    expect(await warning.getByRole("listitem").allTextContents()).toEqual([`#${back} Moved back`]);
    expect(await findInaccessible(page)).toEqual([]);
    await page.keyboard.press("Escape");
    const versions = [{ repositoryId: board.repositories["web"], tagName: "v3.2" }];
    expect((await complete(board.api, id, versions)).status).toBe(200);
    await page.getByText("1 of 2 cards is in the last stage now.").waitFor();
    await board.api.move(done, board.stages["In review"]);
    await page.getByText("None of the 2 cards is in the last stage now.").waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("an empty release", () => {
  it("is frozen and completed only after a question that says so", async () => {
    const board = await console.board();
    const id = await makeRelease(board.api, "0.1");
    const { page, ...ada } = await openAs(board, id);
    await page.getByRole("button", { name: "Freeze", exact: true }).click();
    await page.getByText("The release is empty: no card has been added to it.").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    await shoot(page, "release-freeze-empty");
    await page.getByRole("button", { name: "Freeze the empty release" }).click();
    await announced(page, "The release 0.1 is frozen");
    await page.getByRole("button", { name: "Complete", exact: true }).click();
    await page.getByText("To cancel it, delete it after unfreezing it.").waitFor();
    await page.getByText(/release branch, which started from main\.$/).waitFor();
    expect((await readRelease(board.api, id)).status).toBe("open");
    await page.getByRole("button", { name: "Complete the empty release" }).click();
    await announced(page, "The release 0.1 is completed");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("a promotion", () => {
  it("shows each card's result, and GitHub's words on a refused one", async () => {
    const board = await console.board();
    const merged = await cardInReview(console.world, board, { web: { "a.txt": "a\n" } }, "Good");
    const { number: draft } = await board.api.card({ title: "Nothing to show" });
    const id = await makeRelease(board.api, "1.5", [merged, draft]);
    const { page, ...ada } = await openAs(board, id, { role: "member" });
    await page.getByText("Maintainers freeze, complete and delete releases.").waitFor();
    expect(await page.getByRole("button", { name: "Freeze" }).count()).toBe(0);
    await page.keyboard.press("p");
    const dialog = page.getByRole("dialog", { name: "Promote 1.5" });
    // The first stage after those of all cards is chosen, and stages that no card has before it are missing.
    expect(await dialog.getByRole("radio", { name: /^Done/ }).isChecked()).toBe(true);
    expect(await dialog.getByRole("radio").count()).toBe(4);
    await dialog.getByRole("checkbox", { name: /Good/ }).uncheck();
    await dialog.getByRole("checkbox", { name: /Nothing/ }).uncheck();
    await dialog.getByText("Choose a card.").waitFor();
    expect(await dialog.getByRole("button", { name: /^Promote 0 cards/ }).isDisabled()).toBe(true);
    await dialog.getByRole("checkbox", { name: /Good/ }).check();
    await dialog.getByRole("checkbox", { name: /Nothing/ }).check();
    expect(await dialog.getByText("Choose a card.").count()).toBe(0);
    await dialog.getByText("A merge changes a shared branch and cannot be undone.").waitFor();
    expect(await dialog.getByText("would move back").count()).toBe(0);
    // A card that would move back is chosen only by the user, for the stage that is chosen then.
    await dialog.getByRole("radio", { name: /^To do/ }).check();
    await dialog.locator("label", { hasText: "Good" }).getByText("In review would move back").waitFor();
    expect(await dialog.getByRole("checkbox", { name: /Good/ }).isChecked()).toBe(false);
    await dialog.getByRole("button", { name: "Promote 1 card to To do" }).waitFor();
    await dialog.getByRole("checkbox", { name: /Good/ }).check();
    await dialog.getByRole("button", { name: "Promote 2 cards to To do" }).waitFor();
    await dialog.getByRole("radio", { name: /^In progress/ }).check();
    expect(await dialog.getByRole("checkbox", { name: /Good/ }).isChecked()).toBe(false);
    await dialog.getByRole("radio", { name: /^Done/ }).check();
    await dialog.getByText(/^Would be refused now: The card has no commits in /).waitFor();
    expect(await dialog.getByText(/^Would be refused now/).count()).toBe(1);
    await shoot(page, "release-promote");
    expect(await findInaccessible(page)).toEqual([]);
    await dialog.getByText("A card that is refused stays in its stage").waitFor();
    await dialog.getByRole("button", { name: "Promote 2 cards to Done" }).click();
    await announced(page, "1 promoted, 1 refused");
    const panel = page.getByRole("region", { name: "Promotion to Done" });
    await panel.locator(`[data-result="${merged}"]`).getByText("merged #1 into main").waitFor();
    const message = (await board.api.readCard(draft)).blocked?.message ?? "";
    expect(message).not.toBe("");
    await panel.locator(`[data-result="${draft}"]`).getByText(message).waitFor();
    await page.locator(`[data-scope="${draft}"]`).getByText(message).waitFor();
    await page.locator(`[data-scope="${merged}"]`).getByText("Done").waitFor();
    await page.getByText("1 of 2 cards done").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    await shoot(page, "release-promoted");
    await page.getByRole("button", { name: "Promote cards" }).click();
    await dialog.getByRole("radio", { name: /^To do/ }).check();
    await dialog.getByRole("checkbox", { name: /Good/ }).check();
    await dialog.getByRole("button", { name: "Promote 2 cards to To do" }).waitFor();
    await board.api.move(merged, board.stages["To do"]);
    await dialog.locator("label", { hasText: "Good" }).getByText("To do", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Promote 2 cards to To do" }).click();
    await announced(page, "1 promoted, 1 already there");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("shows a refusal as long as the card has it, and nothing after the completion", async () => {
    const board = await console.board();
    const number = await cardInReview(console.world, board, { web: { "a.txt": "a\n" } }, "Late");
    const id = await makeRelease(board.api, "1.7", [number]);
    const { page, ...ada } = await openAs(board, id);
    await protect(board, { required_pull_request_reviews: { required_approving_review_count: 1 } });
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Promote 1 card to Done" }).click();
    await announced(page, "0 promoted, 1 refused");
    const panel = page.getByRole("region", { name: "Promotion to Done" });
    await panel.getByText("Not moved to Done").waitFor();
    await protect(board, {});
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    await panel.getByText("refused then, now in Done").waitFor();
    expect(await page.getByText("Not moved to Done").count()).toBe(0);
    await shoot(page, "release-refused-then");
    const versions = [{ repositoryId: board.repositories["web"], tagName: "v1.7" }];
    expect((await complete(board.api, id, versions)).status).toBe(200);
    await panel.waitFor({ state: "detached" });
    await board.api.move(number, board.stages["In review"]);
    await page.getByText("The card is not in the last stage now.").waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is cancelled while it runs: the card that is being moved finishes, the others stay", async () => {
    const board = await console.board();
    const numbers: number[] = [];
    for (const at of [1, 2, 3])
      numbers.push(
        await cardInReview(console.world, board, { web: { [`${at}.txt`]: "work\n" } }, `Card ${at}`),
      );
    const [first = 0, second = 0] = numbers;
    const id = await makeRelease(board.api, "1.6", numbers);
    const { page, ...ada } = await openAs(board, id);
    const merges = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };
    const gate = holdCalls(console.world, merges, "before");
    await page.keyboard.press("p");
    await page.getByRole("dialog").getByRole("radio", { name: /^Done/ }).check();
    await page.getByRole("dialog").getByRole("button", { name: "Promote 3 cards to Done" }).click();
    await gate.arrived();
    await page.getByText("0 of 3 cards", { exact: true }).waitFor();
    // A page that is opened now shows the same promotion.
    const { page: late, ...grace } = await openAs(board, id, { person: "grace", role: "viewer" });
    await late.getByText("0 of 3 cards", { exact: true }).waitFor();
    expect(await late.getByRole("button", { name: "Cancel the rest" }).count()).toBe(0);
    await shoot(page, "release-promoting");
    await page.getByRole("button", { name: "Cancel the rest" }).click();
    await page.getByText("The card that is being moved now still finishes.").waitFor();
    gate.resume();
    await announced(page, "1 promoted, 2 cancelled");
    const panel = page.getByRole("region", { name: "Promotion to Done" });
    await panel.locator(`[data-result="${first}"]`).getByText("merged").waitFor();
    await panel.locator(`[data-result="${second}"]`).getByText("the promotion was cancelled").waitFor();
    await late.locator(`[data-result="${second}"]`).getByText("the promotion was cancelled").waitFor();
    const stages = (await readRelease(board.api, id)).cards.map(({ statusId }) => statusId);
    const review = board.stages["In review"];
    expect(stages).toEqual([board.stages.Done, review, review]);
    expect([...ada.problems(), ...grace.problems()]).toEqual([]);
    await ada.close();
    await grace.close();
  });
});

describe("the releases screens", () => {
  it("let a viewer see everything and change nothing", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const id = await makeRelease(board.api, "Seen", [number]);
    const { page, ...ada } = await openAs(board, "", { role: "viewer" });
    await page.getByText("You are a viewer of this board. Members create releases.").waitFor();
    await page.getByRole("link", { name: "Seen" }).click();
    await page.locator(`[data-scope="${number}"]`).waitFor();
    await page.getByText(/Members choose and promote cards; maintainers freeze and complete\./).waitFor();
    for (const key of ["p", "f", "t"]) await page.keyboard.press(key);
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.locator("main button, main input").count()).toBe(0);
    expect(await findInaccessible(page)).toEqual([]);
    await page.goto(page.url().replace(id, "019a0000-0000-7000-8000-000000000000"));
    await page.getByRole("heading", { name: "There is no such release" }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("say that releases are turned off in the flow, and change nothing", async () => {
    const board = await console.board();
    const id = await makeRelease(board.api, "Before");
    const flow = await readFlow(board);
    expect((await putFlow(board, { ...flow, releases: false })).status).toBe(200);
    const { page, ...ada } = await openAs(board);
    await page.getByRole("link", { name: "Turn them on in its flow" }).waitFor();
    expect(await page.getByRole("textbox").count()).toBe(0);
    await page.locator(`a[href$="${id}"]`).click();
    await page.getByText("Releases are turned off in this project.").waitFor();
    expect(await page.locator("main button, main input").count()).toBe(0);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("keep a name that could not be sent", async () => {
    const board = await console.board();
    const { page, ...ada } = await openAs(board);
    await page.route("**/console/v1/releases?*", (route) =>
      route.request().method() === "POST" ? route.abort() : route.continue(),
    );
    const field = page.getByRole("textbox", { name: "Name of the new release" });
    const create = page.getByRole("button", { name: "Create" });
    expect((await create.boundingBox())?.height).toBe((await field.boundingBox())?.height);
    await field.press("Enter");
    await page.getByText("A release needs a name.").waitFor();
    await field.fill("Spring");
    expect(await page.getByText("A release needs a name.").count()).toBe(0);
    await field.press("Enter");
    await page.getByText("Trunkline cannot be reached.", { exact: false }).waitFor();
    expect(await field.inputValue()).toBe("Spring");
    await page.unroute("**/console/v1/releases?*");
    await page.reload();
    expect(await field.inputValue()).toBe("Spring");
    await field.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Spring" }).waitFor();
    await page.goBack();
    await field.fill("Spring");
    await field.press("Enter");
    await page.getByText("The project has a release Spring already.").waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("fit a phone, with long words", async () => {
    const board = await console.board();
    const word = "averyveryverylongword".repeat(5);
    const { number } = await board.api.card({ title: `A title ${word}` });
    await board.api.card({ title: `Another ${word}` });
    await board.api.move(number, board.stages["In progress"]);
    await board.api.move(number, board.stages.Done);
    const id = await makeRelease(board.api, word.slice(0, 80), [number]);
    const { page, ...ada } = await openAs(board, "", { size: "phone" });
    await page.getByText("0 of 1 card done").waitFor();
    expect(await isFlat(page)).toBe(true);
    await shoot(page, "releases-phone");
    await page.locator(`a[href$="${id}"]`).click();
    await page.locator(`[data-scope="${number}"]`).waitFor();
    expect(await isFlat(page)).toBe(true);
    expect(await findInaccessible(page)).toEqual([]);
    await shoot(page, "release-phone");
    await page.getByRole("button", { name: "Complete" }).click();
    await page.getByRole("dialog").getByRole("textbox").first().fill("v1");
    expect(await isFlat(page)).toBe(true);
    await shoot(page, "release-complete-phone");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
