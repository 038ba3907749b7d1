import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { makeCredentialKey } from "../../src/actions/credentials/credential-key.ts";
import { registerAgent } from "../../src/actions/members/forge-accounts.ts";
import {
  openSignIn,
  sealSignIn,
  signInKeyOf,
  type PendingSignIn,
} from "../../src/actions/sessions/sealed-sign-in.ts";
import { Browser } from "../support/console/browser.ts";
import { apiOf, COOKIE, newMember, sessionIdOf, signedIn } from "../support/console/people.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const newBrowser = () => new Browser(world.service.baseUrl);
const stranger = () =>
  world.forge.createUser(`s-${randomBytes(5).toString("hex")}`, { organizations: {} }).login;
const withQuery = (address: string, changes: Readonly<Record<string, string | null>>): string => {
  const url = new URL(address);
  for (const [name, value] of Object.entries(changes))
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  return url.href;
};

async function expectRefused(browser: Browser, returned: string, problem: string): Promise<void> {
  const { status, location } = await browser.get(returned);
  expect([status, location]).toEqual([302, `/sign-in?problem=${problem}`]);
  expect(browser.cookies.has(COOKIE)).toBe(false);
}

const SIGN_IN_COOKIE = "trunkline-sign-in";

/** Replaces what the cookie of a started sign-in contains. */
function changeCookie(
  { cookies }: Browser,
  returned: string,
  change: (pending: PendingSignIn) => PendingSignIn,
): void {
  const key = signInKeyOf(world.forge.app.clientSecret);
  const state = new URL(returned).searchParams.get("state") ?? "";
  const pending = openSignIn(cookies.get(SIGN_IN_COOKIE) ?? "", key, state);
  if (!pending) throw new Error("the cookie cannot be opened");
  cookies.set(SIGN_IN_COOKIE, sealSignIn(change(pending), key, state));
}

describe("a sign-in", () => {
  it("starts a session of the account on the forge", async () => {
    const { login, id } = await newMember(world, [board]);
    const browser = newBrowser();
    const before = await browser.get("/console/session");
    expect(before).toMatchObject({ status: 401, body: { code: "not_signed_in", statusCode: 401 } });
    expect(before.headers.get("www-authenticate")).toBeNull();
    expect(await browser.signIn(login, "/console/sign-in?returnTo=/cards/7?tab=checks")).toBe(
      "/cards/7?tab=checks",
    );
    const { status, body } = await browser.get("/console/session");
    const text = expect.any(String);
    expect([status, body]).toEqual([
      200,
      {
        user: {
          id: text,
          login,
          name: login,
          avatarUrl: `${world.forge.rootUrl}/avatars/u/${id}`,
          forgeId: id,
        },
        boards: [{ workspaceId: board.workspaceId, name: text, slug: text, role: "member" }],
        version: text,
        isOperator: false,
        isSandbox: true,
        forgeUrl: world.forge.rootUrl,
      },
    ]);
  });

  it("asks the forge with PKCE, the App's client id and no secret", async () => {
    const url = new URL(await newBrowser().openSignIn());
    expect(`${url.origin}${url.pathname}`).toBe(`${world.forge.rootUrl}/login/oauth/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: world.forge.app.clientId,
      redirect_uri: `${world.service.baseUrl}/console/callback`,
      response_type: "code",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      state: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it("finds the account by its numeric id after it was renamed", async () => {
    const { login, id } = await newMember(world, [board]);
    const renamed = `new-${login}`;
    world.forge.context.state.accounts.update(id, { login: renamed });
    const browser = newBrowser();
    await browser.signIn(renamed);
    expect((await browser.get("/console/session")).body).toMatchObject({
      user: { login: renamed, forgeId: id },
    });
    // Another account that takes the old name is somebody else.
    world.forge.createUser(login, { organizations: {} });
    const other = newBrowser();
    await expectRefused(other, await other.choose(await other.openSignIn(), login), "not_a_member");
  });

  it("sets cookies that scripts cannot read and other sites do not send", async () => {
    const { login } = await newMember(world, [board]);
    const browser = newBrowser();
    const started = await browser.get("/console/sign-in");
    const finished = await browser.get(await browser.choose(started.location, login));
    const [ofSignIn] = started.headers.getSetCookie();
    const ofSession = finished.headers.getSetCookie().find((each) => each.startsWith(`${COOKIE}=`));
    expect(ofSignIn).toMatch(
      /^trunkline-sign-in=[\w-]+; Max-Age=600; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    expect(ofSession).toMatch(/^trunkline=tls_\w{12}_\w{49}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(browser.cookies.has("trunkline-sign-in")).toBe(false);
    for (const { headers } of [started, finished]) expect(headers.get("cache-control")).toBe("no-store");
  });

  it("writes nothing until it is finished, and its cookie does not show what it has", async () => {
    const states = () => board.db("sign_ins").count();
    const before = await states();
    const opened = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const browser = newBrowser();
        const url = new URL(await browser.openSignIn("/console/sign-in?returnTo=/cards/7"));
        return [browser.cookies.get(SIGN_IN_COOKIE) ?? "", url.searchParams.get("state") ?? ""];
      }),
    );
    expect(await states()).toEqual(before);
    for (const [cookie = "", state = ""] of opened) {
      const text = Buffer.from(cookie, "base64url").toString("latin1");
      expect(text).not.toMatch(/codeVerifier|cards/);
      expect(text).not.toContain(state);
    }
    expect(new Set(opened.map(([cookie]) => cookie)).size).toBe(20);
  });

  it("returns to the start page if the path is too long for a cookie", async () => {
    const { login } = await newMember(world, [board]);
    const path = `/cards/7?x=${"a".repeat(3_000)}`;
    expect(await newBrowser().signIn(login, `/console/sign-in?returnTo=${path}`)).toBe("/");
  });

  it("leads from localhost to the host to which the forge returns", async () => {
    const { port } = new URL(world.service.baseUrl);
    const path = "/console/sign-in?returnTo=/inbox";
    const response = await fetch(`http://localhost:${port}${path}`, { redirect: "manual" });
    expect(response.headers.get("location")).toBe(`${world.service.baseUrl}${path}`);
  });
});

describe("a sign-in is refused, and starts no session,", () => {
  it("if nobody has added the account to a board", async () => {
    const browser = newBrowser();
    await expectRefused(
      browser,
      await browser.choose(await browser.openSignIn(), stranger()),
      "not_a_member",
    );
  });

  it("if the account is registered as an agent of its only board", async () => {
    const { login } = await newMember(world, [board]);
    await registerAgent(world.service.deps, { workspaceId: board.workspaceId, login });
    const browser = newBrowser();
    await expectRefused(browser, await browser.choose(await browser.openSignIn(), login), "not_a_member");
  });

  it("if the person cancels", async () => {
    const browser = newBrowser();
    const url = await browser.openSignIn();
    const cancelled = await browser.request("POST", url, {
      body: "cancel=1",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    await expectRefused(browser, cancelled.location, "cancelled");
  });

  it.each<[string, (returned: string) => string, string]>([
    ["without a state", (returned) => withQuery(returned, { state: null }), "wrong_state"],
    ["with another state", (returned) => withQuery(returned, { state: "a".repeat(43) }), "wrong_state"],
    ["with two states", (returned) => `${returned}&state=${"a".repeat(43)}`, "failed"],
    [
      "with another issuer",
      (returned) => withQuery(returned, { iss: "https://evil.example.com" }),
      "wrong_issuer",
    ],
    ["with another code", (returned) => withQuery(returned, { code: "0".repeat(20) }), "expired"],
    ["without a code", (returned) => withQuery(returned, { code: null }), "failed"],
  ])("%s", async (_, change, problem) => {
    const { login } = await newMember(world, [board]);
    const browser = newBrowser();
    await expectRefused(browser, change(await browser.choose(await browser.openSignIn(), login)), problem);
  });

  it("with the state that another browser started", async () => {
    const { login } = await newMember(world, [board]);
    const attacker = newBrowser();
    const returned = await attacker.choose(await attacker.openSignIn(), login);
    const victim = newBrowser();
    await victim.openSignIn();
    await expectRefused(victim, returned, "wrong_state");
    // It remains valid in its own browser.
    expect((await attacker.get(returned)).location).toBe("/");
  });

  it("with a state that was used, also with the cookie and a new code", async () => {
    const { login } = await newMember(world, [board]);
    const browser = newBrowser();
    const authorizeUrl = await browser.openSignIn();
    const binding = browser.cookies.get(SIGN_IN_COOKIE) ?? "";
    const [first, second] = [
      await browser.choose(authorizeUrl, login),
      await browser.choose(authorizeUrl, login),
    ];
    expect((await browser.get(first)).location).toBe("/");
    for (const [returned, problem] of [
      // The forge accepts a code once.
      [first, "expired"],
      [second, "wrong_state"],
    ] as const) {
      const again = newBrowser();
      again.cookies.set(SIGN_IN_COOKIE, binding);
      await expectRefused(again, returned, problem);
    }
  });

  it("with a verifier that does not match the challenge", async () => {
    const { login } = await newMember(world, [board]);
    const browser = newBrowser();
    const url = withQuery(await browser.openSignIn(), { code_challenge: "b".repeat(43) });
    await expectRefused(browser, await browser.choose(url, login), "expired");
  });

  it("after ten minutes", async () => {
    const { login } = await newMember(world, [board]);
    const browser = newBrowser();
    const returned = await browser.choose(await browser.openSignIn(), login);
    changeCookie(browser, returned, (pending) => ({ ...pending, startedAt: Date.now() - 11 * 60_000 }));
    await expectRefused(browser, returned, "expired");
  });

  it("with a cookie that the service has not sealed", async () => {
    const { login } = await newMember(world, [board]);
    const browser = newBrowser();
    const returned = await browser.choose(await browser.openSignIn(), login);
    const forged = Buffer.from(browser.cookies.get(SIGN_IN_COOKIE) ?? "", "base64url");
    forged.writeUInt8(forged.readUInt8(40) ^ 1, 40);
    browser.cookies.set(SIGN_IN_COOKIE, forged.toString("base64url"));
    await expectRefused(browser, returned, "wrong_state");
  });

  it("while the forge does not respond", async () => {
    const { login } = await newMember(world, [board]);
    const browser = newBrowser();
    const returned = await browser.choose(await browser.openSignIn(), login);
    const match = { method: "GET", path: "/user" };
    const rule = world.forge.control.faults.add({ match, fault: { kind: "response", status: 502 } });
    await expectRefused(browser, returned, "forge_unavailable");
    world.forge.control.faults.remove(rule);
  });
});

it("the return from an installation starts a normal sign-in", async () => {
  const { login } = await newMember(world, [board]);
  const browser = newBrowser();
  // The forge's code is real, but this browser has not asked for it.
  const { searchParams } = new URL(await newBrowser().openSignIn());
  const { location } = await browser.get("/console/callback?code=abc&installation_id=7&setup_action=install");
  expect(location).toMatch(`${world.forge.rootUrl}/login/oauth/authorize?`);
  expect(new URL(location).searchParams.get("state")).not.toBe(searchParams.get("state"));
  expect(browser.cookies.has(COOKIE)).toBe(false);
  expect((await browser.get(await browser.choose(location, login))).location).toBe("/");
});

describe("after a sign-in the browser", () => {
  it.each([
    "//evil.example.com/",
    "/\\evil.example.com/",
    "\\\\evil.example.com/",
    "https://evil.example.com/",
    "javascript:alert(1)",
    "/.//evil.example.com/",
    "/%09/evil.example.com/",
    "/\n/evil.example.com/",
    "evil.example.com",
    "",
  ])("does not leave for %j", async (returnTo) => {
    const { login } = await newMember(world, [board]);
    const arrived = await newBrowser().signIn(
      login,
      `/console/sign-in?returnTo=${encodeURIComponent(returnTo)}`,
    );
    const { origin } = new URL(arrived, world.service.baseUrl);
    expect([origin, arrived.startsWith("//")]).toEqual([world.service.baseUrl, false]);
    expect(arrived).toMatch(/^\/(?:%09\/evil\.example\.com\/)?$/);
  });
});

describe("a second sign-in", () => {
  it("replaces the session, so that a planted cookie is worth nothing", async () => {
    const { login, browser } = await signedIn(world, [board]);
    const planted = browser.cookies.get(COOKIE) ?? "";
    const victim = newBrowser();
    victim.cookies.set(COOKIE, planted);
    await victim.signIn(login);
    expect(victim.cookies.get(COOKIE)).not.toBe(planted);
    expect((await victim.get("/console/session")).status).toBe(200);
    expect((await browser.get("/console/session")).status).toBe(401);
  });

  it("does not end a session of which the browser knows only the public part", async () => {
    const owner = await signedIn(world, [board]);
    const { login } = await newMember(world, [board]);
    const other = newBrowser();
    // Anybody can compute the checksum.
    const { text: apiKey } = makeCredentialKey(sessionIdOf(owner.browser));
    other.cookies.set(COOKIE, apiKey.replace("tlk_", "tls_"));
    await other.write("POST", "/console/sign-out");
    other.cookies.set(COOKIE, apiKey.replace("tlk_", "tls_"));
    await other.signIn(login);
    expect((await owner.browser.get("/console/session")).status).toBe(200);
  });
});

describe("a one-time link", () => {
  const newLink = async (...words: readonly string[]): Promise<string> => {
    const line = commandLineOf(world);
    const { url } = await line.json<{ url: string }>(
      "console-link",
      "--workspace",
      board.workspaceId,
      ...words,
    );
    return url;
  };

  it("makes the first account that signs in with it a maintainer, once", async () => {
    const [first, second] = [stranger(), stranger()];
    const link = await newLink();
    expect(link).toMatch(`${world.service.baseUrl}/console/first-sign-in/tlf_`);
    const browser = newBrowser();
    // A preview of the link does not use it up.
    await newBrowser().get(link);
    const late = newBrowser();
    const returned = await late.choose(await late.openSignIn(link), second);
    expect(await browser.signIn(first, link)).toBe("/");
    expect((await browser.get("/console/session")).body).toMatchObject({
      user: { login: first },
      boards: [{ workspaceId: board.workspaceId, role: "maintainer" }],
    });
    expect((await apiOf(browser).post("/v1/labels", { name: "By the maintainer" })).status).toBe(201);
    await expectRefused(late, returned, "expired");
    expect((await newBrowser().get(link)).location).toBe("/sign-in?problem=expired");
  });

  it("is not stored, and expires", async () => {
    const link = await newLink("--expires", "30m");
    const token = link.split("/").at(-1) ?? "";
    const { rows } = await board.db.raw<{ rows: { text: string }[] }>(
      "select cast(l as text) as text from sign_in_links l",
    );
    expect(rows.map(({ text }) => text).join()).not.toContain(token);
    await newBrowser().get(link);
    expect(world.logged()).not.toContain(token);
    await board.db.raw("update sign_in_links set expires_at = now() - interval '1 second'");
    expect((await newBrowser().get(link)).location).toBe("/sign-in?problem=expired");
  });

  it("is valid for at most a day, for a board that exists", async () => {
    const line = commandLineOf(world);
    for (const time of ["25h", "0m", "1d", "x"])
      expect(
        await line.run(["console-link", "--workspace", board.workspaceId, "--expires", time]),
      ).toMatchObject({
        code: 2,
      });
    const unknown = await line.run(["console-link", "--workspace", "019a0000-0000-7000-8000-000000000000"]);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("There is no workspace")]);
  });
});
