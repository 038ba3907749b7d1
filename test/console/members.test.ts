import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "@jest/globals";
import { registerAgent } from "../../src/actions/members/forge-accounts.ts";
import type { Role } from "../../src/flow/roles.ts";
import { eventually, makeApi, type Api } from "../support/api.ts";
import { Browser, type Page } from "../support/console/browser.ts";
import { COOKIE, signedIn, type Person } from "../support/console/people.ts";
import { readInbox } from "../support/inbox.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

interface Member {
  readonly id: string;
  readonly login: string;
  readonly role: Role;
  readonly lastSeenAt: string | null;
  readonly keys: readonly string[];
}

interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly pausedReason: string | null;
  readonly createdBy: { readonly name: string } | null;
}
interface Monitor {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

/** The status of a report that is signed with the monitor's secret. */
async function report({ url, secret }: Monitor): Promise<number> {
  const body = JSON.stringify({ fingerprint: randomUUID(), title: "Fails", url: "https://e.example" });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "sentry-hook-signature": signature };
  return (await fetch(url, { method: "POST", headers, body })).status;
}

const stranger = () => world.forge.createUser(`s-${randomBytes(5).toString("hex")}`, { organizations: {} });

async function led() {
  const board = await world.board();
  return { board, lead: await signedIn(world, [board], "maintainer") };
}

const call = (
  { browser }: Person,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Page> =>
  method === "GET"
    ? browser.get(`/console/v1${path}`, headers)
    : browser.write(method, `/console/v1${path}`, body, headers);

const invite = (lead: Person, login: string, role: Role = "member") =>
  call(lead, "POST", "/invitations", { login, role });
const peopleOf = async (lead: Person) => (await call(lead, "GET", "/people")).body as readonly Member[];
const memberNamed = async (lead: Person, login: string): Promise<Member> => {
  const found = (await peopleOf(lead)).find((each) => each.login === login);
  if (!found) throw new Error(`${login} is not a member`);
  return found;
};
const setRole = async (by: Person, { login }: { login: string }, from: Role, role: Role) =>
  call(by, "PATCH", `/members/${(await memberNamed(by, login)).id}`, { from, role });
const remove = async (by: Person, { login }: { login: string }) =>
  call(by, "DELETE", `/members/${(await memberNamed(by, login)).id}`);

describe("an invitation", () => {
  it("is accepted by signing in, which leads to the board with the role", async () => {
    const { board, lead } = await led();
    const { login, id } = stranger();
    const invited = await invite(lead, login.toUpperCase(), "viewer");
    expect([invited.status, invited.body]).toEqual([
      201,
      {
        id: expect.any(String),
        login,
        avatarUrl: `${world.forge.rootUrl}/avatars/u/${id}`,
        role: "viewer",
        invitedBy: lead.login,
        createdAt: expect.any(String),
      },
    ]);
    expect((await call(lead, "GET", "/invitations")).body).toEqual([invited.body]);
    const browser = new Browser(world.service.baseUrl);
    const path = `/b/${board.workspaceId}`;
    expect(await browser.signIn(login, `/console/sign-in?returnTo=${path}`)).toBe(path);
    expect((await browser.get("/console/session")).body).toMatchObject({
      boards: [{ workspaceId: board.workspaceId, role: "viewer" }],
    });
    expect((await call(lead, "GET", "/invitations")).body).toEqual([]);
    const joined = await memberNamed(lead, login);
    expect(joined).toMatchObject({ role: "viewer", keys: [] });
    expect(Math.abs(Date.parse(joined.lastSeenAt ?? "") - Date.now())).toBeLessThan(60_000);
    const { body } = await eventually(
      () => board.api.get<{ events: { data: object }[] }>("/v1/events?after=0&kinds=member_changed"),
      ({ body: { events } }) => JSON.stringify(events).includes(joined.id),
    );
    expect(body.events.at(-1)).toMatchObject({
      actor: { user: { name: lead.login } },
      data: { userId: joined.id, from: null, to: "viewer" },
    });
  });

  it("belongs to the account, not to its login", async () => {
    const { lead } = await led();
    const { login, id } = stranger();
    await invite(lead, login);
    world.forge.context.state.accounts.update(id, { login: `new-${login}` });
    world.forge.createUser(login, { organizations: {} });
    const other = new Browser(world.service.baseUrl);
    const refused = await other.get(await other.choose(await other.openSignIn(), login));
    expect([refused.location, other.cookies.has(COOKIE)]).toEqual(["/sign-in?problem=not_a_member", false]);
    expect((await call(lead, "GET", "/invitations")).body).toHaveLength(1);
    const browser = new Browser(world.service.baseUrl);
    await browser.signIn(`new-${login}`);
    expect((await memberNamed(lead, `new-${login}`)).role).toBe("member");
  });

  it("is refused for unknown logins, bots, agents, members and invited accounts", async () => {
    const { board, lead } = await led();
    const { login } = stranger();
    const agent = stranger().login;
    await registerAgent(world.service.deps, { workspaceId: board.workspaceId, login: agent });
    await invite(lead, login);
    const refused = async (name: string) => {
      const { status, body } = await invite(lead, name, "viewer");
      return [status, (body as { message: string }).message];
    };
    expect(await refused("nobody-at-all")).toEqual([400, "body.login: GitHub has no user nobody-at-all."]);
    expect(await refused("copilot-swe-agent[bot]")).toEqual([
      400,
      "body.login: copilot-swe-agent[bot] is a bot, which cannot sign in.",
    ]);
    expect(await refused(agent)).toEqual([
      400,
      `body.login: ${agent} is registered as an agent of this board.`,
    ]);
    expect(await refused(lead.login)).toEqual([409, `${lead.login} is a member of this board already.`]);
    expect(await refused(login)).toEqual([409, `${login} is invited as member already. Revoke that first.`]);
    expect(await refused("../../meta")).toEqual([400, expect.stringContaining("GitHub has no user")]);
  });

  it("that is revoked, or of another board, cannot be used", async () => {
    const { lead } = await led();
    const other = await led();
    const { login } = stranger();
    const { id } = (await invite(lead, login)).body as { id: string };
    expect((await call(other.lead, "DELETE", `/invitations/${id}`)).status).toBe(404);
    expect((await call(lead, "DELETE", `/invitations/${id}`)).status).toBe(204);
    expect((await call(lead, "DELETE", `/invitations/${id}`)).status).toBe(404);
    const browser = new Browser(world.service.baseUrl);
    const { location } = await browser.get(await browser.choose(await browser.openSignIn(), login));
    expect(location).toBe("/sign-in?problem=not_a_member");
  });

  it("keeps the role that an operator has given since, and adds a person who is on another board", async () => {
    const { board, lead } = await led();
    const there = await led();
    const person = await signedIn(world, [there.board]);
    await invite(lead, person.login, "viewer");
    const member = ["--workspace", board.workspaceId, "--login", person.login];
    await commandLineOf(world).json("member", "add", ...member, "--role", "maintainer");
    await person.browser.signIn(person.login);
    const { body } = await person.browser.get("/console/session");
    expect(body).toMatchObject({ boards: [{ role: "maintainer" }, { role: "member" }] });
    expect((await memberNamed(lead, person.login)).role).toBe("maintainer");
  });

  it("that two maintainers send at once exists once", async () => {
    const { board, lead } = await led();
    const second = await signedIn(world, [board], "maintainer");
    const { login } = stranger();
    const responses = await Promise.all([invite(lead, login), invite(second, login, "viewer")]);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201, 409]));
    expect((await call(lead, "GET", "/invitations")).body).toHaveLength(1);
  });

  it("is replayed with the same response", async () => {
    const { lead } = await led();
    const { login } = stranger();
    const key = { "idempotency-key": `invite-${randomUUID()}` };
    const first = await call(lead, "POST", "/invitations", { login, role: "member" }, key);
    const again = await call(lead, "POST", "/invitations", { login, role: "member" }, key);
    expect([again.status, again.text, again.headers.get("idempotent-replay")]).toEqual([
      201,
      first.text,
      "true",
    ]);
  });
});

describe("the role of a member", () => {
  it("changes with the next call, and a stale change is a conflict", async () => {
    const { board, lead } = await led();
    const person = await signedIn(world, [board]);
    const changed = await setRole(lead, person, "member", "viewer");
    expect([changed.status, changed.body]).toMatchObject([200, { login: person.login, role: "viewer" }]);
    expect((await person.browser.write("POST", "/console/v1/cards", { title: "No" })).status).toBe(403);
    const stale = await setRole(lead, person, "member", "maintainer");
    expect([stale.status, stale.body]).toMatchObject([
      409,
      { message: `${person.login} has the role viewer now: somebody else has changed it.` },
    ]);
    const rows = await board
      .db("audit_log")
      .orderBy("id")
      .where({ action: "PATCH /console/v1/members/{userId}" });
    expect(rows.filter((row) => row.workspace_id === board.workspaceId)).toMatchObject([
      { status: 200, actor: { name: lead.login } },
      { status: 409, actor: { name: lead.login } },
    ]);
  });

  it("stays if nobody else is a maintainer who can sign in", async () => {
    // The board's API key has the role maintainer, but nobody can sign in with it.
    const { board, lead } = await led();
    const agent = await signedIn(world, [board], "maintainer");
    await registerAgent(world.service.deps, { workspaceId: board.workspaceId, login: agent.login });
    const message = `${lead.login} is the only maintainer of this board. Make somebody else a maintainer first.`;
    for (const refused of [
      await setRole(lead, lead, "maintainer", "member"),
      await remove(lead, lead),
      await call(lead, "POST", "/agents", { login: lead.login, ownerId: null }),
    ])
      expect([refused.status, refused.body]).toMatchObject([409, { message }]);
    const second = await signedIn(world, [board], "maintainer");
    expect((await setRole(lead, lead, "maintainer", "member")).status).toBe(200);
    expect((await peopleOf(second)).filter(({ role }) => role === "maintainer")).toHaveLength(2);
  });

  it("is not lost by two maintainers who demote or remove each other at once", async () => {
    for (const act of [
      (by: Person, other: Member) =>
        call(by, "PATCH", `/members/${other.id}`, { from: "maintainer", role: "viewer" }),
      (by: Person, other: Member) => call(by, "DELETE", `/members/${other.id}`),
    ]) {
      const { board, lead } = await led();
      const second = await signedIn(world, [board], "maintainer");
      const [one, two] = [await memberNamed(lead, lead.login), await memberNamed(lead, second.login)];
      const responses = await Promise.all([act(lead, two), act(second, one)]);
      expect(responses.filter(({ status }) => status < 300)).toHaveLength(1);
      expect(
        responses.map(({ status }) => status).every((status) => [200, 204, 401, 400, 403].includes(status)),
      ).toBe(true);
      const left = await board.db("memberships as m").join("users as u", "u.id", "m.user_id");
      const there = left.filter((row) => row.workspace_id === board.workspaceId && row.login !== null);
      expect(there.filter((row) => row.role === "maintainer")).toHaveLength(1);
    }
  });

  it("of an API key and of a member of another board cannot be changed here", async () => {
    const { board, lead } = await led();
    const there = await led();
    const machine = (await board.api.get<{ id: string; kind: string }[]>("/v1/members")).body.find(
      ({ kind }) => kind === "machine",
    );
    const foreign = await memberNamed(there.lead, there.lead.login);
    for (const { id = "" } of [machine ?? { id: undefined }, foreign]) {
      expect(
        (await call(lead, "PATCH", `/members/${id}`, { from: "maintainer", role: "viewer" })).status,
      ).toBe(404);
      expect((await call(lead, "DELETE", `/members/${id}`)).status).toBe(404);
    }
  });
});

describe("a maintainer who is demoted", () => {
  it.each(["the console", "the command line"])(
    "by %s leaves no invitation of theirs valid; those of others stay",
    async (way) => {
      const { board, lead } = await led();
      const person = await signedIn(world, [board], "maintainer");
      const [theirs, kept] = [stranger(), stranger()];
      expect((await invite(person, theirs.login, "maintainer")).status).toBe(201);
      expect((await invite(lead, kept.login)).status).toBe(201);
      const args = ["--workspace", board.workspaceId, "--login", person.login, "--role", "member"];
      await (way === "the console"
        ? setRole(lead, person, "maintainer", "member")
        : commandLineOf(world).json("member", "add", ...args));
      expect((await call(lead, "GET", "/invitations")).body).toMatchObject([{ login: kept.login }]);
      const browser = new Browser(world.service.baseUrl);
      const { location } = await browser.get(await browser.choose(await browser.openSignIn(), theirs.login));
      expect(location).toBe("/sign-in?problem=not_a_member");
    },
  );

  it.each(["the console", "the command line"])(
    "by %s knows no valid secret of a monitor; their webhooks continue until they leave",
    async (way) => {
      const { board, lead } = await led();
      const person = await signedIn(world, [board], "maintainer");
      const monitor = async (by: Person, name: string) =>
        (await call(by, "POST", "/monitors", { projectId: board.projectId, name })).body as Monitor;
      const [known, unknown] = [await monitor(person, "Known"), await monitor(lead, "Unknown")];
      await person.api.post("/v1/webhooks", { url: "https://hooks.example.com/" });
      const pausedReasons = async () =>
        (await lead.api.get<Webhook[]>("/v1/webhooks")).body.map(({ pausedReason }) => pausedReason);
      expect(await report(known)).toBe(202);
      const args = ["--workspace", board.workspaceId, "--login", person.login, "--role", "viewer"];
      await (way === "the console"
        ? setRole(lead, person, "maintainer", "viewer")
        : commandLineOf(world).json("member", "add", ...args));
      expect([await report(known), await report(unknown)]).toEqual([401, 202]);
      expect(await pausedReasons()).toEqual([null]);
      expect(await memberNamed(lead, person.login)).toMatchObject({ monitors: [] });
      expect((await call(lead, "GET", "/monitors")).body).toMatchObject([
        { name: "Known", stoppedAt: expect.any(String) },
        { name: "Unknown", stoppedAt: null },
      ]);
      await remove(lead, person);
      expect(await pausedReasons()).toEqual(["left"]);
    },
  );

  it("keeps their invitations if the demotion is refused", async () => {
    const { lead } = await led();
    const { login } = stranger();
    await invite(lead, login);
    expect((await setRole(lead, lead, "maintainer", "member")).status).toBe(409);
    expect((await call(lead, "GET", "/invitations")).body).toMatchObject([{ login }]);
  });
});

describe("a member who is removed", () => {
  it("is signed out, and what they and their keys do stops", async () => {
    const { board, lead } = await led();
    const person = await signedIn(world, [board]);
    const issued = await call(person, "POST", "/credentials", {
      name: "Their agent",
      role: "member",
      scopes: ["read", "write"],
      expiresInDays: 30,
    });
    const { apiKey } = issued.body as { apiKey: string };
    const byKey = (path: string) =>
      fetch(`${world.service.baseUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect((await byKey("/v1/board")).status).toBe(200);
    const { number } = await person.api.card({ title: "Theirs" });
    expect((await person.api.post(`/v1/cards/${number}/claim`, { ttlSeconds: 600 })).status).toBe(200);
    expect((await memberNamed(lead, person.login)).keys).toEqual(["Their agent"]);
    expect((await remove(lead, person)).status).toBe(204);
    expect((await byKey("/v1/board")).status).toBe(401);
    expect((await person.browser.get("/console/v1/board")).status).toBe(401);
    expect((await remove(lead, lead)).status).toBe(409);
    await eventually(
      () => board.api.readCard(number),
      (card) => !("claim" in card),
    );
    // The old cookie and key stay invalid when the person comes back.
    await invite(lead, person.login);
    await new Browser(world.service.baseUrl).signIn(person.login);
    expect((await person.browser.get("/console/v1/board")).status).toBe(401);
    expect((await byKey("/v1/board")).status).toBe(401);
  });

  it("leaves no webhook running and no monitor's secret valid that they or their keys know", async () => {
    const { board, lead } = await led();
    const person = await signedIn(world, [board], "maintainer");
    const order = { name: "Script", role: "maintainer", scopes: ["read", "write"], expiresInDays: null };
    const { apiKey, id } = (await call(person, "POST", "/credentials", order)).body as Record<string, string>;
    const webhook = async (api: Api) =>
      (await api.post<Webhook>("/v1/webhooks", { url: "https://hooks.example.com/" })).body;
    const [own, byKey, moved, rotated, others] = [
      await webhook(person.api),
      await webhook(makeApi(world.service.baseUrl, apiKey ?? "")),
      await webhook(lead.api),
      await webhook(lead.api),
      await webhook(lead.api),
    ];
    expect([own.createdBy, byKey.createdBy]).toMatchObject([{ name: person.login }, { name: "Script" }]);
    await call(person, "DELETE", `/credentials/${id}`);
    await person.api.patch(`/v1/webhooks/${moved.id}`, { url: "https://elsewhere.example.com/" });
    await person.api.post(`/v1/webhooks/${rotated.id}/rotate`);
    const monitor = async (by: Person, name: string) =>
      (await call(by, "POST", "/monitors", { projectId: board.projectId, name })).body as Monitor;
    const [known, unknown] = [await monitor(person, "Known"), await monitor(lead, "Unknown")];
    expect(await memberNamed(lead, person.login)).toMatchObject({
      webhooks: [own, byKey, { url: "https://elsewhere.example.com/" }, rotated].map(({ url }) => url),
      monitors: ["Known"],
    });
    expect((await remove(lead, person)).status).toBe(204);
    const { body } = await lead.api.get<Webhook[]>("/v1/webhooks");
    expect(body.map(({ pausedReason }) => pausedReason)).toEqual(["left", "left", "left", "left", null]);
    expect(body.at(-1)?.id).toBe(others.id);
    const items = (await readInbox(lead.api)).filter(({ kind }) => kind === "webhook_paused");
    expect(items.map(({ data }) => data)).toContainEqual({ webhookId: own.id, reason: "left" });
    expect([await report(known), await report(unknown)]).toEqual([401, 202]);
    expect((await call(lead, "GET", "/monitors")).body).toMatchObject([
      { name: "Known", stoppedAt: expect.any(String), createdBy: { name: person.login } },
      { name: "Unknown", stoppedAt: null, createdBy: { name: lead.login } },
    ]);
    const again = await call(lead, "POST", `/monitors/${known.id}/rotate`);
    expect([again.status, await report(again.body as Monitor)]).toEqual([200, 202]);
    const resumed = await lead.api.patch<Webhook>(`/v1/webhooks/${own.id}`, { paused: false });
    expect(resumed.body).toMatchObject({ pausedReason: null });
  });

  it("keeps other boards and the keys there", async () => {
    const { board, lead } = await led();
    const there = await led();
    const person = await signedIn(world, [board, there.board]);
    const header = { "x-service-workspace": there.board.workspaceId };
    const body = { name: "There", role: "viewer", scopes: ["read"], expiresInDays: null };
    const { apiKey } = (await call(person, "POST", "/credentials", body, header)).body as { apiKey: string };
    await remove(lead, person);
    expect((await call(person, "GET", "/board", undefined, header)).status).toBe(200);
    const response = await fetch(`${world.service.baseUrl}/v1/me`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(response.status).toBe(200);
  });

  it.each(["the console", "the command line"])(
    "by %s leaves no invitation of theirs valid; those of others stay",
    async (way) => {
      const { board, lead } = await led();
      const there = await led();
      const person = await signedIn(world, [board, there.board], "maintainer");
      const [theirs, kept, elsewhere] = [stranger(), stranger(), stranger()];
      const from = (at: TestBoard) => ({ "x-service-workspace": at.workspaceId });
      const sent = { login: theirs.login, role: "maintainer" };
      const headers = from(board);
      expect((await call(person, "POST", "/invitations", sent, headers)).status).toBe(201);
      expect((await invite(lead, kept.login)).status).toBe(201);
      const other = { login: elsewhere.login, role: "member" };
      expect((await call(person, "POST", "/invitations", other, from(there.board))).status).toBe(201);
      const args = ["--workspace", board.workspaceId, "--login", person.login];
      if (way === "the console") await remove(lead, person);
      else await commandLineOf(world).json("member", "remove", ...args);
      expect((await call(lead, "GET", "/invitations")).body).toMatchObject([{ login: kept.login }]);
      expect((await call(there.lead, "GET", "/invitations")).body).toMatchObject([
        { login: elsewhere.login },
      ]);
      const browser = new Browser(world.service.baseUrl);
      const { location } = await browser.get(await browser.choose(await browser.openSignIn(), theirs.login));
      expect(location).toBe("/sign-in?problem=not_a_member");
    },
  );

  it("by the command line loses the keys, too, also as the only maintainer", async () => {
    const { board, lead } = await led();
    const body = { name: "Theirs", role: "maintainer", scopes: ["read"], expiresInDays: 1 };
    const { apiKey } = (await call(lead, "POST", "/credentials", body)).body as { apiKey: string };
    const line = commandLineOf(world);
    await line.json("member", "remove", "--workspace", board.workspaceId, "--login", lead.login);
    const response = await fetch(`${world.service.baseUrl}/v1/me`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(response.status).toBe(401);
    expect((await lead.browser.get("/console/session")).status).toBe(401);
  });
});

describe("the agents of a board", () => {
  let board: TestBoard;
  let lead: Person;
  beforeEach(async () => {
    ({ board, lead } = await led());
  });
  const agents = async () =>
    (await call(lead, "GET", "/agents")).body as readonly { id: string; login: string }[];

  it("are registered, get an owner on the board and are removed", async () => {
    const { login } = stranger();
    const owner = await memberNamed(lead, lead.login);
    const added = await call(lead, "POST", "/agents", { login, ownerId: owner.id });
    const agent = {
      id: expect.any(String),
      login,
      isRegistered: true,
      owner: { id: owner.id, login: lead.login },
    };
    expect([added.status, added.body]).toMatchObject([201, agent]);
    expect(await agents()).toMatchObject([agent]);
    expect((await call(lead, "POST", "/agents", { login, ownerId: null })).status).toBe(409);
    const { id } = added.body as { id: string };
    const cleared = await call(lead, "PATCH", `/agents/${id}`, { ownerId: null });
    expect([cleared.status, cleared.body]).toMatchObject([200, { login, owner: null }]);
    expect((await call(lead, "DELETE", `/agents/${id}`)).status).toBe(204);
    expect(await agents()).toEqual([]);
    expect((await call(lead, "DELETE", `/agents/${id}`)).status).toBe(404);
  });

  it("have no owner that is an agent, themselves or not on the board", async () => {
    const there = await led();
    const foreign = await memberNamed(there.lead, there.lead.login);
    const [one, two] = [stranger(), stranger()];
    const { id } = (await call(lead, "POST", "/agents", { login: one.login, ownerId: null })).body as {
      id: string;
    };
    for (const ownerId of [foreign.id, id, randomUUID()]) {
      const refused = await call(lead, "POST", "/agents", { login: two.login, ownerId });
      expect([refused.status, refused.body]).toMatchObject([400, { issues: [{ path: "body.ownerId" }] }]);
      expect((await call(lead, "PATCH", `/agents/${id}`, { ownerId })).status).toBe(400);
    }
    expect((await call(there.lead, "PATCH", `/agents/${id}`, { ownerId: foreign.id })).status).toBe(404);
    const listed = await commandLineOf(world).json<object[]>(
      "agent",
      "list",
      "--workspace",
      board.workspaceId,
    );
    expect(listed).toMatchObject([{ login: one.login, owner: null }]);
  });
});
