import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openAgentPull } from "../support/agents.ts";
import { eventually } from "../support/api.ts";
import { makeForgeAccount } from "../support/forge/forge-account.ts";
import { itemWhen } from "../support/inbox.ts";
import { openCard } from "../support/stories/open-card.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];
const shell = promisify(execFile);
const HOSTILE = `<img src=x onerror="alert(1)"> & "quoted"`;

type Board = Awaited<ReturnType<ConsoleWorld["board"]>>;

let console: ConsoleWorld;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console.stop());

/** Signs in and opens a card. */
async function openAs(
  board: Board,
  number: number,
  person: "ada" | "grace" = "ada",
  options: { readonly size?: "desktop" | "phone" } = {},
): Promise<Visitor> {
  const visitor = await console.signIn(board, person, options);
  await visitor.page.goto(`${new URL(visitor.page.url()).pathname}/cards/${number}`);
  await visitor.page.getByRole("heading", { level: 1 }).waitFor();
  return visitor;
}

const announced = (page: Visitor["page"], text: string | RegExp) =>
  page.getByTestId("announcer").getByText(text, { exact: true }).waitFor({ state: "attached" });

describe("the text of a card", () => {
  it("is edited in place, with a preview, and saved by Ctrl and Enter", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello", description: "Old text" });
    const { page, ...ada } = await openAs(board, number);
    await page.keyboard.press("e");
    await page.getByRole("textbox", { name: "Title" }).fill("Say hello twice");
    await page.getByRole("textbox", { name: "Description" }).fill("New **text**");
    await page.getByRole("button", { name: "Preview" }).first().click();
    await page.locator(".markdown-editor strong", { hasText: "text" }).waitFor();
    await page.getByRole("button", { name: "Write" }).first().click();
    await page.getByRole("textbox", { name: "Description" }).press("Control+Enter");
    await announced(page, "Saved");
    await page.getByRole("region", { name: "Notices" }).getByText("Saved").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Say hello twice");
    expect(await board.api.readCard(number)).toMatchObject({
      title: "Say hello twice",
      description: "New **text**",
    });
    const focused = page.locator(":focus");
    expect(await focused.textContent()).toBe("Edit");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("shows both texts when somebody else changed it meanwhile, and overwrites nothing unasked", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello", description: "Start" });
    const { page, ...ada } = await openAs(board, number);
    await page.keyboard.press("e");
    await page.getByRole("textbox", { name: "Description" }).fill("Mine");
    await board.api.patch(`/v1/cards/${number}`, { description: "Theirs", title: "Say goodbye" });
    await page.locator(".conflict-theirs", { hasText: "Theirs" }).waitFor();
    // The title, which ada did not touch, follows.
    expect(await page.getByRole("textbox", { name: "Title" }).inputValue()).toBe("Say goodbye");
    await page.getByRole("button", { name: "Save" }).click();
    await announced(page, /somebody changed the card/);
    expect(await board.api.readCard(number)).toMatchObject({ description: "Theirs" });
    expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Mine");
    await page.getByRole("button", { name: "Keep my description" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await announced(page, "Saved");
    expect(await board.api.readCard(number)).toMatchObject({ title: "Say goodbye", description: "Mine" });
    await ada.close();
  });

  it("is read again before it is saved, so that a page that missed a change overwrites nothing", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello", description: "Start" });
    const { page, context, ...ada } = await openAs(board, number);
    await context.route("**/events/stream", (route) => route.abort());
    await page.reload();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Description" }).fill("Mine");
    await board.api.patch(`/v1/cards/${number}`, { description: "Theirs" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".conflict-theirs", { hasText: "Theirs" }).waitFor();
    expect(await board.api.readCard(number)).toMatchObject({ description: "Theirs" });
    await ada.close();
  });

  it("stays in its fields when saving fails, and is saved once after a repeat", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const { page, context, ...ada } = await openAs(board, number);
    await page.keyboard.press("e");
    await page.getByRole("textbox", { name: "Title" }).fill("Say hello twice");
    const keys: (string | undefined)[] = [];
    await context.route("**/console/v1/cards/*", async (route) => {
      if (route.request().method() !== "PATCH") return route.fallback();
      keys.push(route.request().headers()["idempotency-key"]);
      if (keys.length === 1) {
        await route.fetch();
        return route.abort();
      }
      return route.fallback();
    });
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .getByText(/Not saved/)
      .waitFor();
    expect(await page.getByRole("textbox", { name: "Title" }).inputValue()).toBe("Say hello twice");
    await page.getByRole("button", { name: "Save" }).click();
    await announced(page, "Saved");
    expect(keys).toEqual([expect.any(String), keys[0]]);
    const changes = (await board.api.timeline(number)).filter(({ kind }) => kind === "updated");
    expect(changes).toHaveLength(1);
    await ada.close();
  });

  it("is kept when it is discarded by mistake", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const { page, ...ada } = await openAs(board, number);
    await page.keyboard.press("e");
    await page.getByRole("textbox", { name: "Description" }).fill("A long text");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("button", { name: "Restore" }).click();
    expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("A long text");
    await ada.close();
  });

  it("survives the end of the session and continues after the sign-in", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const { page, context, ...ada } = await openAs(board, number);
    await page.keyboard.press("e");
    await page.getByRole("textbox", { name: "Description" }).fill("Half a sentence");
    await page.getByRole("textbox", { name: "Comment" }).fill("Half a comment");
    await context.clearCookies({ name: "trunkline" });
    await page.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "You are signed out" });
    await dialog.getByRole("link", { name: "Sign in with GitHub" }).click();
    await page.getByRole("button", { name: `Sign in as ${board.logins.ada}` }).click();
    await page.getByRole("textbox", { name: "Description" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Half a sentence");
    expect(await page.getByRole("textbox", { name: "Comment" }).inputValue()).toBe("Half a comment");
    await page.getByRole("button", { name: "Save" }).click();
    await announced(page, "Saved");
    expect(await board.api.readCard(number)).toMatchObject({ description: "Half a sentence" });
    await ada.close();
  });
});

describe("a comment", () => {
  it("is written, appears in another tab, and is edited by its author only", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello", statusId: board.stages["To do"] });
    const { page, ...ada } = await openAs(board, number);
    const creation = page.locator(".timeline-event");
    await creation.getByText("created the card in To do").waitFor();
    expect(await creation.count()).toBe(1);
    const { page: other, ...grace } = await openAs(board, number, "grace");
    await page.keyboard.press("c");
    await page.keyboard.type("Looks **good**");
    await page.keyboard.press("Control+Enter");
    await announced(page, "Comment added");
    expect(await page.getByRole("textbox", { name: "Comment", exact: true }).inputValue()).toBe("");
    await other.locator(".comment strong", { hasText: "good" }).waitFor();
    expect(await other.locator(".comment").getByRole("button", { name: "Edit" }).count()).toBe(0);
    await page.locator(".comment").getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Edit the comment" }).fill("Looks great");
    await page.getByRole("textbox", { name: "Edit the comment" }).press("Control+Enter");
    await other
      .locator(".comment", { hasText: "Looks great" })
      .getByText(/edited/)
      .waitFor();
    expect([...ada.problems(), ...grace.problems()]).toEqual([]);
    await ada.close();
    await grace.close();
  });

  it("stays typed when it cannot be sent", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const { page, context, ...ada } = await openAs(board, number);
    await context.route("**/comments", (route) => route.abort());
    await page.getByRole("textbox", { name: "Comment" }).fill("Important");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/Not sent/)
      .waitFor();
    expect(await page.getByRole("textbox", { name: "Comment" }).inputValue()).toBe("Important");
    await context.unroute("**/comments");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await announced(page, "Comment added");
    expect((await board.api.timeline(number)).filter(({ type }) => type === "comment")).toHaveLength(1);
    await ada.close();
  });
});

describe("the work on GitHub", () => {
  it("shows checks with their notes and reviews as soon as GitHub reports them, all as plain text", async () => {
    const board = await console.board();
    const { number, heads } = await openCard(console.world, board);
    await board.api.patch(`/v1/cards/${number}`, {
      title: HOSTILE,
      description: `${HOSTILE} <script>alert(1)</script>`,
    });
    const { page, context, ...ada } = await openAs(board, number);
    await page.getByText("No check has reported.").waitFor();
    const repository = `/repos/${board.owner}/web`;
    await board.person("ada", "POST", `${repository}/check-runs`, {
      name: HOSTILE,
      head_sha: heads["web"],
      status: "completed",
      conclusion: "failure",
      details_url: "javascript:alert(1)",
      output: {
        title: "failed",
        summary: `Summary ${HOSTILE}`,
        annotations: [
          {
            path: "app.ts",
            start_line: 3,
            end_line: 3,
            annotation_level: "failure",
            message: `note ${HOSTILE}`,
          },
        ],
      },
    });
    await page.getByText(`note ${HOSTILE}`).waitFor();
    expect(await page.locator(".check-failing summary").textContent()).toContain(HOSTILE);
    await board.person("grace", "POST", `${repository}/pulls/1/reviews`, {
      event: "REQUEST_CHANGES",
      body: `Please ${HOSTILE}`,
    });
    await page.locator(".reviews", { hasText: "changes requested" }).waitFor();
    expect(await page.locator(".reviews").textContent()).toContain(`Please ${HOSTILE}`);
    await board.person("grace", "POST", `${repository}/issues/1/comments`, {
      body: `From GitHub ${HOSTILE}`,
    });
    await page.locator(".comment", { hasText: "from GitHub" }).waitFor();
    const [opened] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("o")]);
    expect(opened.url()).toMatch(new RegExp(`/${board.owner}/web/pull/1$`));
    await opened.close();
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    const outside = await page
      .locator('a[target="_blank"]')
      .evaluateAll((links) => links.map((link) => (link as unknown as { rel: string }).rel));
    expect(outside.length).toBeGreaterThan(0);
    expect(new Set(outside)).toEqual(new Set(["noopener noreferrer"]));
    await page.locator(".timeline-event", { hasText: "opened the pull request #1" }).waitFor();
    await page.getByText("Check out with Git").click();
    const shown = async (copy: string) => {
      const has = page.getByRole("button", { name: copy });
      return (await page.locator(".git-command", { has }).getByRole("code").textContent()) ?? "";
    };
    const address = `${console.world.forge.cloneUrl}/${board.owner}/web.git`;
    expect(await shown("Copy the command that clones")).toBe(`git clone ${address}`);
    await page.getByText("use a login and its token from sandbox.json in the data directory").waitFor();
    const clone = await board.clone();
    await shell("bash", ["-c", await shown("Copy the command for")], { cwd: clone.dir });
    expect(await clone.git("rev-parse", "HEAD")).toBe(heads["web"]);
    await clone.remove();
    expect(await findInaccessible(page)).toEqual([]);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "card-github");
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("shows why a move was refused in GitHub's words, what to do, and moves after the fix", async () => {
    const board = await console.board();
    const { number, heads } = await openCard(console.world, board);
    const checks = `/repos/${board.owner}/web/check-runs`;
    const run = { name: "build", head_sha: heads["web"], status: "completed" };
    const { body } = await board.person("ada", "POST", checks, { ...run, conclusion: "failure" });
    await eventually(
      () => board.api.readCard(number),
      ({ repositories }) => repositories[0]?.checksState === "failing",
    );
    const { page, ...ada } = await openAs(board, number);
    await page.getByText("The move would be refused:").waitFor();
    await page.keyboard.press("m");
    const attempt = page.getByRole("button", { name: "Try to move to Done" });
    expect(await attempt.getAttribute("class")).toBe("button button-secondary");
    const described = page.locator(`[id="${await attempt.getAttribute("aria-describedby")}"]`);
    expect(await described.textContent()).toBe("The move would be refused:");
    await attempt.click();
    await page.getByRole("button", { name: "Try anyway" }).click();
    await announced(page, /was not moved to Done/);
    const panel = page.getByRole("region", { name: "The last move was refused" });
    expect(await panel.textContent()).toContain("build");
    expect(await panel.textContent()).toContain("Correct what fails");
    await page.locator(".blocked-panel:focus").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "card-refused");
    await board.person("ada", "PATCH", `${checks}/${String(body["id"])}`, { conclusion: "success" });
    await panel.waitFor({ state: "detached" });
    const ended = page.getByRole("region", { name: "The last move was not repeated" });
    await ended.getByText(/The move to Done was refused .* The card is no longer blocked/).waitFor();
    expect(await ended.getByRole("button", { name: "Try the move again" }).count()).toBe(1);
    expect(await findInaccessible(page)).toEqual([]);
    await page.getByText("The move would be refused:").waitFor({ state: "detached" });
    const offer = page.getByRole("button", { name: "Move to Done", exact: true });
    expect(await offer.getAttribute("class")).toBe("button button-primary");
    await offer.click();
    const question = page.getByRole("dialog", { name: `Move #${number} to Done?` });
    await question.getByText("merge pull request #1 into main").waitFor();
    await question.getByRole("button", { name: "Merge and move" }).click();
    await announced(page, `Moved card #${number} to Done. Pull request #1 is merged.`);
    // The notice covers no action of the card.
    const edge = (selector: string) => `document.querySelector("${selector}").getBoundingClientRect()`;
    expect(await page.evaluate(`${edge(".toast")}.right < ${edge(".card-side")}.left`)).toBe(true);
    const merged = page.locator(".timeline-event", { hasText: "merged pull request #1" });
    await merged.getByText("into main through Trunkline").waitFor();
    await ended.waitFor({ state: "detached" });
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("an agent's proposal", () => {
  async function proposed() {
    const board = await console.board();
    const card = await openCard(console.world, board);
    const agent = makeForgeAccount(console.world, "copilot-swe-agent[bot]", [board]);
    const offer = await openAgentPull(console.world, board, agent, card);
    await itemWhen(board.api, "proposal_waiting");
    return { board, card, offer };
  }
  const pullOf = async ({ board, offer }: Awaited<ReturnType<typeof proposed>>) =>
    (await board.person("grace", "GET", `/repos/${board.owner}/web/pulls/${offer.number}`)).body;

  it("is approved and merged by the person, whom GitHub shows", async () => {
    const proposal = await proposed();
    const { board, card, offer } = proposal;
    const { page, ...ada } = await openAs(board, card.number);
    const panel = page.getByRole("region", { name: `Proposal #${offer.number}` });
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "card-proposal");
    await panel.getByRole("button", { name: `Approve and merge as ${board.logins.ada}` }).click();
    await announced(page, `Approved and merged #${offer.number}`);
    await panel.waitFor({ state: "detached" });
    await page.locator(".timeline-event", { hasText: "merged the proposal" }).waitFor();
    expect(await pullOf(proposal)).toMatchObject({ merged: true, merged_by: { login: board.logins.ada } });
    const reviews = await board.person(
      "grace",
      "GET",
      `/repos/${board.owner}/web/pulls/${offer.number}/reviews`,
    );
    expect(reviews.body).toMatchObject([{ state: "APPROVED", user: { login: board.logins.ada } }]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("stays with GitHub's words when GitHub refuses the approval", async () => {
    const proposal = await proposed();
    const { board, card, offer } = proposal;
    const { page, ...ada } = await openAs(board, card.number);
    const message = `Reviews are <b>locked</b> for ${board.owner}`;
    console.world.forge.control.faults.add({
      match: { method: "POST", path: "**/pulls/*/reviews" },
      fault: { kind: "response", status: 422, body: { message } },
      times: 1,
    });
    const approve = page.getByRole("button", { name: /Approve and merge/ });
    await approve.click();
    await page.getByRole("alert").getByText(message).waitFor();
    expect(await pullOf(proposal)).toMatchObject({ merged: false });
    await approve.click();
    await announced(page, `Approved and merged #${offer.number}`);
    await ada.close();
  });

  it("leads to a new sign-in and back when GitHub no longer accepts the old one", async () => {
    const { board, card, offer } = await proposed();
    const { page, ...ada } = await openAs(board, card.number);
    await page.getByRole("textbox", { name: "Comment" }).fill("Half a comment");
    await board.db("sessions").update({ forge_token: null });
    const approve = page.getByRole("button", { name: /Approve and merge/ });
    await approve.click();
    await page.getByRole("link", { name: "Sign in with GitHub again" }).click();
    await page.getByRole("button", { name: `Sign in as ${board.logins.ada}` }).click();
    await approve.click();
    await announced(page, `Approved and merged #${offer.number}`);
    expect(await page.getByRole("textbox", { name: "Comment" }).inputValue()).toBe("Half a comment");
    await ada.close();
  });
});

describe("the page of a card", () => {
  it("leads back to the board with its filters, and the focus on the card", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["To do"]);
    const { page, ...ada } = await console.signIn(board);
    const [project] = (await board.api.get<{ slug: string }[]>("/v1/projects")).body;
    const filters = `?project=${encodeURIComponent(project?.slug ?? "")}&q=hello`;
    await page.goto(`${new URL(page.url()).pathname}${filters}`);
    await page.getByRole("link", { name: /Say hello/ }).click();
    await page.getByRole("heading", { level: 1, name: "Say hello" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("list", { name: "Stages" }).waitFor();
    expect(new URL(page.url()).search).toBe(filters);
    await page.locator("a:focus", { hasText: "Say hello" }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("changes properties from menus and says so in another tab", async () => {
    const board = await console.board();
    const label = (await board.api.post<{ id: string }>("/v1/labels", { name: HOSTILE })).body;
    const parent = await board.api.card({ title: "Parent of all" });
    const { number } = await board.api.card({ title: "Say hello" });
    const { page, ...ada } = await openAs(board, number);
    const { page: other, ...grace } = await openAs(board, number, "grace");
    await page.getByRole("button", { name: /^Priority/ }).click();
    await page.getByRole("menuitem", { name: "high" }).click();
    await announced(page, "Priority: high");
    await page.getByRole("button", { name: /^Labels/ }).click();
    await page.getByRole("menuitem", { name: HOSTILE }).click();
    await announced(page, `Label ${HOSTILE} added`);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Assignee/ }).click();
    await page.getByRole("menuitem", { name: board.logins.grace }).click();
    await announced(page, /Assigned to/);
    await page.getByRole("button", { name: "Change: Parent" }).click();
    await page.getByRole("spinbutton", { name: "Parent" }).fill(String(parent.number));
    await page.getByRole("spinbutton", { name: "Parent" }).press("Enter");
    await announced(page, "Parent changed");
    await other.getByRole("link", { name: /Parent of all/ }).waitFor();
    await other.getByRole("button", { name: "Priority: high" }).waitFor();
    expect(await board.api.readCard(number)).toMatchObject({
      priority: "high",
      labels: [{ id: label.id }],
      assignee: { name: board.logins.grace },
      parentNumber: parent.number,
    });
    await page.getByRole("button", { name: "Change: Parent" }).click();
    await page.getByRole("spinbutton", { name: "Parent" }).fill("9999");
    await page.getByRole("spinbutton", { name: "Parent" }).press("Enter");
    await page.getByRole("region", { name: "Notices" }).getByText("Not changed").waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    expect([...ada.problems(), ...grace.problems()]).toEqual([]);
    await ada.close();
    await grace.close();
  });

  it("names the release with a link, as soon as the card is in one", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const { page, ...ada } = await openAs(board, number);
    await page.getByRole("button", { name: /^Priority/ }).waitFor();
    expect(await page.getByText("Release", { exact: true }).count()).toBe(0);
    const { body: release } = await board.api.post<{ id: string }>("/v1/releases", { name: HOSTILE });
    await board.api.put(`/v1/releases/${release.id}/cards`, { taskNumbers: [number] });
    const link = page.getByRole("link", { name: HOSTILE });
    await link.waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "card-in-release");
    await link.click();
    await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("deletes the card after a question, and leads back to the board with its filters", async () => {
    const board = await console.board();
    const { number } = await openCard(console.world, board);
    await board.api.card({ title: "Stays" });
    const { page, ...ada } = await console.signIn(board);
    await page.goto(`${new URL(page.url()).pathname}?q=hello`);
    await page.getByRole("link", { name: /Say hello/ }).click();
    await page.getByRole("button", { name: "Delete card" }).click();
    const question = page.getByRole("dialog", { name: `Delete card #${number}?` });
    await question.getByText(/Its branches and pull requests stay on GitHub/).waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, "card-delete");
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Delete card" }).click();
    await question.getByLabel(`Close pull request #1 in ${board.owner}/web on GitHub`).check();
    await question.getByRole("button", { name: "Delete the card" }).click();
    await page.getByRole("region", { name: "Notices" }).getByText(`Card #${number} deleted`).waitFor();
    await page.getByRole("list", { name: "Stages" }).waitFor();
    expect(new URL(page.url()).search).toBe("?q=hello");
    await page.getByRole("link", { name: /Say hello/ }).waitFor({ state: "detached" });
    expect((await board.api.get(`/v1/cards/${number}`)).status).toBe(404);
    await eventually(
      () => board.person("ada", "GET", `/repos/${board.owner}/web/pulls/1`),
      ({ body }) => (body as { state?: string }).state === "closed",
    );
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("keeps the question open with the reason if the card cannot be deleted", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const { body: release } = await board.api.post<{ id: string }>("/v1/releases", { name: "May" });
    await board.api.put(`/v1/releases/${release.id}/cards`, { taskNumbers: [number] });
    await board.api.post(`/v1/releases/${release.id}/freeze`, {});
    const { page, ...ada } = await openAs(board, number);
    await page.getByRole("button", { name: "Delete card" }).click();
    const question = page.getByRole("dialog", { name: `Delete card #${number}?` });
    expect(await question.textContent()).not.toContain("GitHub");
    await question.getByRole("button", { name: "Delete the card" }).click();
    await question
      .getByRole("alert")
      .getByText(/is in the frozen release May/)
      .waitFor();
    expect((await board.api.readCard(number)).number).toBe(number);
    await ada.close();
  });

  it("changes nothing for a viewer", async () => {
    const board = await console.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const visitor = await console.signIn(board, "ada", { role: "viewer" });
    await visitor.page.goto(`${new URL(visitor.page.url()).pathname}/cards/${number}`);
    await visitor.page.getByRole("heading", { level: 1 }).waitFor();
    await visitor.page.keyboard.press("e");
    await visitor.page.getByText("Moves to this stage need the role member.").waitFor();
    expect(await visitor.page.getByRole("textbox").count()).toBe(0);
    expect(await visitor.page.getByRole("button", { name: "Delete card" }).count()).toBe(0);
    await visitor.close();
  });

  it("fits a phone, with long words and Markdown", async () => {
    const board = await console.board();
    const word = "averyveryverylongword".repeat(8);
    const description = `# Why\n\n${word}\n\n| a | b |\n|---|---|\n| ${word} | 2 |\n\n- one\n- two\n\n\`\`\`\nlong ${word} ${word}\n\`\`\``;
    const { number } = await board.api.card({ title: `A title ${word}`, description });
    await board.api.move(number, board.stages["In progress"]);
    await board.api.post(`/v1/cards/${number}/comments`, { body: `Seen ${word}` });
    await board.api.move(number, board.stages["Done"]);
    await board.api.post(`/v1/cards/${number}/claim`, { ttlSeconds: 3600, note: `working ${word}` });
    for (const size of ["phone", "desktop"] as const) {
      const { page, ...ada } = await openAs(board, number, "ada", { size });
      await page.getByText("Seen").waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
      expect(await findInaccessible(page)).toEqual([]);
      if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `card-long-${size}`);
      await page.keyboard.press("m");
      await page.getByRole("button", { name: /^Move to Backlog/ }).waitFor();
      await page.keyboard.press("e");
      expect(await findInaccessible(page)).toEqual([]);
      if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `card-edit-${size}`);
      expect(ada.problems()).toEqual([]);
      await ada.close();
    }
  });
});
