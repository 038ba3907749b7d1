import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Locator, Page } from "playwright-core";
import { addMember } from "../../src/actions/members/forge-accounts.ts";
import { eventually } from "../support/api.ts";
import { signedIn } from "../support/console/people.ts";
import type { TestBoard } from "../support/world.ts";
import { findInaccessible, takeScreenshots } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

const SCREENSHOTS = process.env["SCREENSHOTS"];
const shell = promisify(execFile);

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

/** A maintainer on a section of the settings, by clicking. */
async function onSection(section: string, board?: Awaited<ReturnType<ConsoleWorld["board"]>>) {
  const opened = board ?? (await app.board());
  const visitor = await app.signIn(opened, "ada", { role: "maintainer" });
  const { page } = visitor;
  await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: section }).click();
  await page.getByRole("heading", { level: 1, name: section }).waitFor();
  return { ...visitor, board: opened };
}

const addGrace = (board: TestBoard, login: string, role: "viewer" | "member" | "maintainer" = "member") =>
  addMember(app.world.service.deps, { workspaceId: board.workspaceId, login, role });

const rowOf = (page: Page, text: string) => page.locator(".settings-row", { hasText: text });

const expectValue = (field: Locator, value: string) =>
  eventually(
    () => field.inputValue(),
    (shown) => shown === value,
  );

/** Issues a key on the section of keys. Returns it. */
async function issueKey(page: Page, name: string): Promise<string> {
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByRole("button", { name: "Issue the key" }).click();
  return (await page.getByTestId("api-key").textContent()) ?? "";
}

describe("a maintainer", () => {
  it("invites somebody, who signs in with the link and lands on the board", async () => {
    const { page, board, ...ada } = await onSection("Members");
    const { grace } = board.logins;
    await page.getByRole("textbox", { name: "GitHub login" }).fill(`@${grace}`);
    await page.getByRole("combobox", { name: "Role" }).selectOption("viewer");
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByText(`${grace} is invited as viewer.`).waitFor();
    const link = (await page.locator(".person-link").textContent()) ?? "";
    await rowOf(page, `As viewer, by ${board.logins.ada}`).waitFor();
    const visitor = await app.visit();
    await visitor.page.goto(link);
    await visitor.page.getByRole("button", { name: `Sign in as ${grace}` }).click();
    await visitor.page.getByRole("list", { name: "Stages" }).waitFor();
    // The page of the maintainer follows.
    await page.getByRole("button", { name: `Role of ${grace}: viewer` }).waitFor();
    expect(await page.getByRole("heading", { name: "Invited", exact: true }).count()).toBe(0);
    expect([...ada.problems(), ...visitor.problems()]).toEqual([]);
    await Promise.all([ada.close(), visitor.close()]);
  });

  it("sees what others invite and revoke within 30 seconds, or when the window gets the focus", async () => {
    const { page, board, ...ada } = await onSection("Members");
    const lead = await signedIn(app.world, [board], "maintainer");
    const { grace } = board.logins;
    await page.clock.install();
    await page.reload();
    await page.getByRole("button", { name: `Role of ${lead.login}: maintainer` }).waitFor();
    const sent = { login: grace, role: "viewer" };
    const { body } = await lead.browser.write("POST", "/console/v1/invitations", sent);
    await page.clock.fastForward(31_000);
    await rowOf(page, `As viewer, by ${lead.login}`).waitFor();
    await lead.browser.write("DELETE", `/console/v1/invitations/${(body as { id: string }).id}`);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    // Earlier than the 30 seconds after which the list is read anyway.
    const invited = page.getByRole("heading", { name: "Invited", exact: true });
    await invited.waitFor({ state: "detached", timeout: 10_000 });
    await lead.browser.write("POST", "/console/v1/invitations", sent);
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await invited.waitFor({ timeout: 10_000 });
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("keeps what was typed when an invitation is refused", async () => {
    const { page, board, ...ada } = await onSection("Members");
    const login = page.getByRole("textbox", { name: "GitHub login" });
    await login.fill("nobody-at-all");
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByText("GitHub has no user nobody-at-all.").waitFor();
    await page.route("**/console/v1/invitations", (route) =>
      route.request().method() === "POST" ? route.abort() : route.continue(),
    );
    await login.fill(board.logins.grace);
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "cannot be reached" }).waitFor();
    expect(await login.inputValue()).toBe(board.logins.grace);
    await page.reload();
    expect(await login.inputValue()).toBe(board.logins.grace);
    await ada.close();
  });

  it("issues a key, uses it with the command on the page, and revokes it", async () => {
    const { page, board, ...ada } = await onSection("API keys");
    const key = await issueKey(page, "deploy-bot");
    const command = (await page.getByTestId("try-key").textContent()) ?? "";
    const run = async () => (await shell("bash", ["-c", command])).stdout;
    expect(JSON.parse(await run())).toMatchObject({
      name: "deploy-bot",
      boards: [{ workspaceId: board.workspaceId, role: "member" }],
    });
    const listed = await shell("bash", ["-c", (await page.getByTestId("try-board").textContent()) ?? ""]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ columns: [{ name: "To do" }, {}, {}, {}] });
    const create = (await page.getByTestId("try-card").textContent()) ?? "";
    const createCard = async () => JSON.parse((await shell("bash", ["-c", create])).stdout) as object;
    const created = await createCard();
    expect(created).toMatchObject({ projectId: board.projectId, title: "Try the API" });
    expect(await createCard()).toEqual(created);
    const reference = page.getByRole("link", { name: "API reference" });
    expect(await reference.getAttribute("href")).toBe(`${app.world.service.baseUrl}/docs`);
    await page.getByRole("link", { name: "Agents" }).click();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await page.getByRole("link", { name: "API keys", exact: true }).click();
    expect(await page.getByTestId("api-key").textContent()).toBe(key);
    await page.getByRole("button", { name: "I have stored the key" }).click();
    await page.getByTestId("api-key").waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(key);
    await page.reload();
    await rowOf(page, "deploy-bot").getByText("used just now").waitFor();
    await page.getByRole("button", { name: "Revoke deploy-bot" }).click();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await rowOf(page, "deploy-bot").getByText("revoked", { exact: true }).waitFor();
    expect(JSON.parse(await run())).toMatchObject({ statusCode: 401 });
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("rotates a key: the new one works, and the previous one not any more", async () => {
    const { page, ...ada } = await onSection("API keys");
    const first = await issueKey(page, "coder");
    await page.getByRole("button", { name: "Rotate coder" }).click();
    const dialog = page.getByRole("dialog", { name: "Rotate coder?" });
    await dialog.getByRole("combobox", { name: "The previous key works" }).selectOption("0");
    await dialog.getByRole("button", { name: "Rotate the key" }).click();
    await dialog.waitFor({ state: "detached" });
    const second = await eventually(
      async () => (await page.getByTestId("api-key").textContent()) ?? "",
      (text) => text !== first,
    );
    const statusOf = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${app.world.service.baseUrl}/v1/me`, { headers })).status;
    };
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("changes a role with the keyboard, and sees what another maintainer has changed meanwhile", async () => {
    const board = await app.board();
    const { grace } = board.logins;
    await addGrace(board, grace);
    const { page, ...ada } = await onSection("Members", board);
    await page.getByRole("button", { name: `Role of ${grace}: member` }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: /Viewer/ }).waitFor();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: `Role of ${grace}: viewer` }).waitFor();
    // The page learns of a change only by the response to its own.
    await page.route("**/console/v1/events/stream", (route) => route.abort());
    await page.reload();
    await page.getByRole("button", { name: `Role of ${grace}: viewer` }).waitFor();
    await addGrace(board, grace, "maintainer");
    await page.getByRole("button", { name: `Role of ${grace}: viewer` }).click();
    await page.getByRole("menuitem", { name: /^Member/ }).click();
    expect(await page.getByRole("alert").textContent()).toBe(
      `Not saved. ${grace} has the role maintainer now: somebody else has changed it.`,
    );
    await page.getByRole("button", { name: `Role of ${grace}: maintainer` }).waitFor();
    await ada.close();
  });

  it("cannot leave the board without a maintainer", async () => {
    const { page, board, ...ada } = await onSection("Members");
    await page.getByRole("button", { name: "Leave the board" }).click();
    const dialog = page.getByRole("dialog", { name: "Leave this board?" });
    await dialog.getByRole("button", { name: "Leave it now" }).click();
    expect(await dialog.getByRole("alert").textContent()).toBe(
      `${board.logins.ada} is the only maintainer of this board. Make somebody else a maintainer first.`,
    );
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: `Role of ${board.logins.ada}: maintainer` }).waitFor();
    await ada.close();
  });

  it("registers an agent, issues its key, and changes its owner", async () => {
    const board = await app.board();
    const { grace } = board.logins;
    await addGrace(board, grace);
    const { page, ...ada } = await onSection("Agents", board);
    const bot = `bot-${board.owner}`;
    app.world.forge.createUser(bot, { organizations: {} });
    await page.getByText("No agent has worked on a card yet.").waitFor();
    const login = page.getByRole("textbox", { name: "GitHub login of the agent" });
    expect(await login.getAttribute("placeholder")).toBe("copilot-swe-agent[bot]");
    await login.fill("my-agent");
    await page.getByRole("button", { name: "Register", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/^GitHub has no user or bot my-agent\. .*issue a key without an agent\.$/)
      .waitFor();
    await login.fill(grace);
    await page.getByRole("button", { name: "Register", exact: true }).click();
    const question = page.getByRole("dialog", { name: `Register ${grace} as an agent?` });
    await question.getByText(`${grace} is a member of this board, and is signed out.`).waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("No agent has worked on a card yet.").waitFor();
    await login.fill(bot);
    await page.getByRole("button", { name: "Register", exact: true }).click();
    const row = rowOf(page, bot);
    await row.getByText("No active API key").waitFor();
    await page.getByText(`${bot} is registered.`).waitFor();
    await page
      .getByRole("link", { name: `Issue a key for ${bot}` })
      .first()
      .click();
    await expectValue(page.getByRole("textbox", { name: "Name" }), bot);
    await page.getByRole("button", { name: "Issue the key" }).click();
    await page.getByRole("heading", { name: `Keys of ${bot}` }).waitFor();
    expect(await page.locator(".settings-row").count()).toBe(1);
    await row.getByText(`of the agent ${bot}`).getByRole("link").click();
    await row.getByRole("link", { name: "1 active API key" }).click();
    await page.getByRole("link", { name: "Show all keys" }).click();
    await page.getByRole("heading", { name: "Keys of this board" }).waitFor();
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Agents" }).click();
    await page.getByRole("button", { name: `Owner: ${board.logins.ada} of ${bot}` }).click();
    await page.getByRole("menuitem", { name: grace }).click();
    await page.getByRole("button", { name: `Owner: ${grace} of ${bot}` }).waitFor();
    await page.getByRole("button", { name: `Remove ${bot}` }).click();
    await page.getByRole("button", { name: "Remove the agent" }).click();
    await page.getByText("No agent has worked on a card yet.").waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("a member who is removed", () => {
  it.each(["from the only board", "from one of two boards"])("%s sees it in the open tab", async (which) => {
    const board = await app.board();
    const { grace } = board.logins;
    const visitor = await app.signIn(board, "grace", { role: "member" });
    if (which === "from one of two boards") {
      const other = await app.board();
      await addGrace(other, grace);
      await visitor.page.reload();
      await visitor.page.getByRole("list", { name: "Stages" }).waitFor();
    }
    const { page, ...ada } = await onSection("Members", board);
    await page.getByRole("button", { name: `Remove ${grace}` }).click();
    await page.getByText(`${grace} loses access to this board at once`).waitFor();
    await page.getByRole("button", { name: "Remove from the board" }).click();
    await page.getByRole("button", { name: `Role of ${grace}` }).waitFor({ state: "detached" });
    const stopped =
      which === "from the only board"
        ? visitor.page.getByRole("dialog", { name: "You are signed out" })
        : visitor.page.getByRole("heading", { name: "There is no such board" });
    await stopped.waitFor();
    expect([...ada.problems(), ...visitor.problems()]).toEqual([]);
    await Promise.all([ada.close(), visitor.close()]);
  });
});

describe("somebody who is not a maintainer", () => {
  const opened = async (role: "viewer" | "member") => {
    const board = await app.board();
    await addGrace(board, board.logins.ada, "maintainer");
    const visitor = await app.signIn(board, "grace", { role });
    return { ...visitor, board, settings: `${new URL(visitor.page.url()).pathname}/settings` };
  };

  it.each(["viewer", "member"] as const)("sees why, as a %s", async (role) => {
    const { page, board, settings, ...grace } = await opened(role);
    await page.goto(`${settings}/members`);
    await page.getByText(`Your role is ${role}. Only maintainers invite people`).waitFor();
    await rowOf(page, board.logins.ada).waitFor();
    expect(await page.getByRole("button", { name: /Role of|Remove|Invite/ }).count()).toBe(0);
    await page.goto(`${settings}/agents`);
    await page.getByText(`Your role is ${role}. Maintainers register agents`).waitFor();
    expect(grace.problems()).toEqual([]);
    await grace.close();
  });

  it("has no keys as a viewer", async () => {
    const { page, settings, ...grace } = await opened("viewer");
    await page.goto(`${settings}/keys`);
    await page.getByText("Viewers have no API keys").waitFor();
    expect(await page.getByRole("button", { name: "New key" }).count()).toBe(0);
    await grace.close();
  });

  it("reads as a member that they have no keys, and as a maintainer that the board has none", async () => {
    const { page, settings, board, ...grace } = await opened("member");
    await page.goto(`${settings}/keys`);
    await page.getByText("You have no keys.").waitFor();
    await grace.close();
    // The key with which the board was made is removed from the response only.
    const { page: other, context, ...ada } = await app.signIn(board, "ada", { role: "maintainer" });
    await context.route("**/console/v1/credentials*", (route) => route.fulfill({ json: [] }));
    await other.goto(`${new URL(other.url()).pathname}/settings/keys`);
    await other.getByText("There are no keys yet.").waitFor();
    expect([...grace.problems(), ...ada.problems()]).toEqual([]);
    await ada.close();
  });

  it("has their own keys as a member, with at most that role", async () => {
    const { page, settings, ...grace } = await opened("member");
    await page.goto(`${settings}/keys`);
    await page.getByText("You have no keys.").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    const roles = page.getByRole("combobox", { name: "Role on this board" }).getByRole("option");
    expect((await roles.allTextContents()).map((text) => text.split(" ")[0])).toEqual(["Viewer", "Member"]);
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await issueKey(page, "mine")).toMatch(/^tlk_/);
    await page.getByRole("heading", { name: "Your keys" }).waitFor();
    expect(grace.problems()).toEqual([]);
    await grace.close();
  });
});

describe("the screens", () => {
  it.each(["desktop", "phone"] as const)(
    "are accessible and keep hostile text inert, on a %s",
    async (size) => {
      const board = await app.board();
      const { grace } = board.logins;
      await addGrace(board, grace);
      const { page, ...ada } = await app.signIn(board, "ada", { role: "maintainer", size });
      const base = new URL(page.url()).pathname;
      const pictured = async (name: string) => {
        expect(await findInaccessible(page)).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
        if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `${name}-${size}`);
      };
      await page.goto(`${base}/settings/keys`);
      await issueKey(page, `<img src=x onerror="alert(1)"> ${"x".repeat(60)}`);
      await pictured("key-issued");
      await page.getByRole("button", { name: "I have stored the key" }).click();
      await page.getByRole("button", { name: "New key" }).click();
      await pictured("keys");
      await page.getByRole("button", { name: /^Rotate <img/ }).click();
      await page.getByRole("dialog").waitFor();
      await pictured("key-rotate");
      await page.goto(`${base}/settings/members`);
      const invited = app.world.forge.createUser(`inv-${board.owner}`, { organizations: {} }).login;
      await page.getByRole("textbox", { name: "GitHub login" }).fill(invited);
      await page.getByRole("button", { name: "Invite", exact: true }).click();
      await page.getByText(`${invited} is invited as member.`).waitFor();
      await rowOf(page, `As member, by`).waitFor();
      await pictured("members");
      await page.getByRole("button", { name: "Leave the board" }).click();
      await page.getByRole("dialog").waitFor();
      await pictured("member-remove");
      await page.goto(`${base}/settings/agents`);
      await page.getByRole("textbox", { name: "GitHub login of the agent" }).fill("copilot-swe-agent[bot]");
      await page.getByRole("button", { name: "Register", exact: true }).click();
      await page.getByRole("button", { name: "Remove copilot-swe-agent[bot]" }).waitFor();
      await pictured("agents");
      expect(ada.problems()).toEqual([]);
      await ada.close();
    },
  );
});
