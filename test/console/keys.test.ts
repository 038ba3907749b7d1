import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { Role } from "../../src/flow/roles.ts";
import { rows } from "../../src/store/db/connect.ts";
import { eventually } from "../support/api.ts";
import type { Page } from "../support/console/browser.ts";
import { signedIn, type Person } from "../support/console/people.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let there: TestBoard;
let lead: Person;
beforeAll(async () => {
  [board, there] = [await world.board(), await world.board()];
  lead = await signedIn(world, [board], "maintainer");
});

interface Key {
  readonly id: string;
  readonly clientId: string;
  readonly userId: string;
  readonly name: string;
  readonly role: Role | null;
  readonly owner: { readonly login: string } | null;
  readonly otherBoards: number;
  readonly expiresAt: string | null;
  readonly previousUntil: string | null;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}
interface FeedEvent {
  readonly data: Readonly<Record<string, unknown>>;
}
interface Issued extends Key {
  readonly apiKey: string;
}

const ORDER = { name: "Coder", role: "member", scopes: ["read", "write"], expiresInDays: 30 };
const issue = (by: Person, order: object = {}, headers: Record<string, string> = {}) =>
  by.browser.write("POST", "/console/v1/credentials", { ...ORDER, ...order }, headers);
const issued = async (by: Person, order: object = {}): Promise<Issued> =>
  (await issue(by, order)).body as Issued;
const rotate = (by: Person, { id }: Pick<Key, "id">, body: object = { keepHours: 0 }, headers = {}) =>
  by.browser.write("POST", `/console/v1/credentials/${id}/rotate`, body, headers);
const revoke = (by: Person, { id }: Pick<Key, "id">) =>
  by.browser.write("DELETE", `/console/v1/credentials/${id}`);
const keysOf = async (by: Person) => (await by.browser.get("/console/v1/credentials")).body as readonly Key[];
const keyNamed = async (by: Person, name: string): Promise<Key> => {
  const found = (await keysOf(by)).find((key) => key.name === name);
  if (!found) throw new Error(`there is no key ${name}`);
  return found;
};
const call = (apiKey: string, method = "GET", path = "/v1/me", body?: object) =>
  fetch(`${world.service.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      "idempotency-key": `key-${randomUUID()}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
const problemOf = ({ status, body }: Page): unknown => [status, (body as { message: string }).message];

describe("an API key", () => {
  it("is shown once, has its role on this board only, and its owner is who issued it", async () => {
    const response = await issue(lead, { name: "  Deploy  ", role: "viewer" });
    const { apiKey, ...key } = response.body as Issued;
    expect([response.status, key]).toEqual([
      201,
      {
        id: expect.any(String),
        clientId: apiKey.split("_")[1],
        name: "Deploy",
        userId: expect.any(String),
        owner: { id: expect.any(String), login: lead.login },
        role: "viewer",
        otherBoards: 0,
        scopes: ["read", "write"],
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
        previousUntil: null,
        lastUsedAt: null,
        revokedAt: null,
      },
    ]);
    const days = (Date.parse(key.expiresAt ?? "") - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    const me = (await (await call(apiKey)).json()) as object;
    expect(me).toMatchObject({ boards: [{ workspaceId: board.workspaceId, role: "viewer" }] });
    expect((await call(apiKey, "POST", "/v1/cards", { title: "No" })).status).toBe(403);
    const listed = await lead.browser.get("/console/v1/credentials");
    expect(listed.text).not.toContain(apiKey.split("_")[2]);
    const { lastUsedAt } = await keyNamed(lead, "Deploy");
    expect(Math.abs(Date.parse(lastUsedAt ?? "") - Date.now())).toBeLessThan(60_000);
  });

  it("with the scope read cannot write; one without an expiry never expires", async () => {
    const { apiKey, expiresAt } = await issued(lead, { scopes: ["read"], expiresInDays: null });
    expect(expiresAt).toBeNull();
    expect((await call(apiKey, "POST", "/v1/cards", { title: "No" })).status).toBe(403);
  });

  it.each([
    ["a name", { name: " " }, "body.name"],
    ["the scope read", { scopes: ["write"] }, "body.scopes"],
    ["each scope once", { scopes: ["read", "read"] }, "body.scopes"],
    ["a known role", { role: "owner" }, "body.role"],
    ["an expiry in the future", { expiresInDays: 0 }, "body.expiresInDays"],
    ["no other board", { boards: [] }, "body.boards"],
    ["no other owner", { ownerId: randomUUID() }, "body.ownerId"],
  ])("needs %s", async (_, order, path) => {
    const refused = await issue(lead, order);
    expect([refused.status, refused.body]).toMatchObject([400, { issues: [{ path }] }]);
  });

  it("is replayed as it was shown, and is in no table and no line of the log", async () => {
    const again = { "idempotency-key": `issue-${randomUUID()}` };
    const first = await issue(lead, { name: "Secret" }, again);
    const replayed = await issue(lead, { name: "Secret" }, again);
    expect([replayed.status, replayed.text, replayed.headers.get("idempotent-replay")]).toEqual([
      201,
      first.text,
      "true",
    ]);
    const key = first.body as Issued;
    const once = { "idempotency-key": `rotate-${randomUUID()}` };
    const rotated = await rotate(lead, key, { keepHours: 0 }, once);
    expect((await rotate(lead, key, { keepHours: 0 }, once)).text).toBe(rotated.text);
    expect((await keysOf(lead)).filter(({ name }) => name === "Secret")).toHaveLength(1);
    for (const { apiKey } of [key, rotated.body as Issued]) {
      const secret = apiKey.split("_")[2] ?? "";
      expect(world.logged()).not.toContain(secret);
      const tables = await rows<{ name: string }>(
        board.db,
        "select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
      );
      for (const { name } of tables) {
        const found = await rows<{ text: string }>(board.db, `select cast(t as text) as text from ${name} t`);
        const text = found.map((row) => row.text).join("\n");
        expect([name, text.includes(secret), text.includes(Buffer.from(secret).toString("hex"))]).toEqual([
          name,
          false,
          false,
        ]);
      }
    }
  });

  it("that is issued and revoked has rows in the audit log and events in the feed", async () => {
    const { id, userId } = await issued(lead, { name: "Audited" });
    await revoke(lead, { id });
    const logged = await board
      .db("audit_log")
      .where({ workspace_id: board.workspaceId })
      .orderBy("id", "desc")
      .limit(2);
    expect(logged.map((row) => [row.action, row.status, row.actor.name])).toEqual([
      ["DELETE /console/v1/credentials/{id}", 204, lead.login],
      ["POST /console/v1/credentials", 201, lead.login],
    ]);
    expect(logged.map(({ targets }) => targets)).toEqual([{ id }, { id }]);
    const { body } = await eventually(
      () => board.api.get<{ events: FeedEvent[] }>("/v1/events?after=0&kinds=member_changed"),
      ({ body: { events } }) => events.filter(({ data }) => data["userId"] === userId).length === 2,
    );
    expect(body.events.filter(({ data }) => data["userId"] === userId)).toMatchObject([
      { actor: { user: { name: lead.login } }, data: { from: null, to: "member" } },
      { actor: { user: { name: lead.login } }, data: { from: "member", to: null } },
    ]);
  });
});

describe("rotating a key", () => {
  it("shows a new one; the previous one is valid for the hours that were chosen", async () => {
    const first = await issued(lead);
    const second = (await rotate(lead, first, { keepHours: 2, expiresInDays: 5 })).body as Issued;
    expect(Math.round((Date.parse(second.previousUntil ?? "") - Date.now()) / 3_600_000)).toBe(2);
    expect(Math.round((Date.parse(second.expiresAt ?? "") - Date.now()) / 86_400_000)).toBe(5);
    for (const { apiKey } of [first, second]) expect((await call(apiKey)).status).toBe(200);
    const third = (await rotate(lead, first)).body as Issued;
    expect(third).toMatchObject({ clientId: first.clientId, expiresAt: second.expiresAt });
    expect([(await call(first.apiKey)).status, (await call(second.apiKey)).status]).toEqual([401, 401]);
    expect((await call(third.apiKey)).status).toBe(200);
  });

  it("is refused for a key of another person, of other boards, with a higher role, or revoked", async () => {
    const member = await signedIn(world, [board]);
    const theirs = await issued(member, { name: "Theirs" });
    expect(problemOf(await rotate(lead, theirs))).toEqual([
      403,
      `Only ${member.login} may rotate this key. You can revoke it.`,
    ]);
    await board.as({ role: "member", boards: [board, there] });
    const shared = (await keysOf(lead)).find(({ otherBoards }) => otherBoards === 1);
    expect(problemOf(await rotate(lead, shared ?? theirs))).toEqual([
      409,
      `This key also reaches other boards. An operator can rotate it: trunkline credential rotate ${shared?.clientId}`,
    ]);
    await board.as({ role: "maintainer", owner: member.login });
    const higher = (await keysOf(member)).find(({ role }) => role === "maintainer");
    expect(problemOf(await rotate(member, higher ?? theirs))).toEqual([
      403,
      "This key has the role maintainer, which you do not have.",
    ]);
    await revoke(member, theirs);
    expect(problemOf(await rotate(member, theirs))).toEqual([409, "The key Theirs is revoked already."]);
  });

  it("of the operator's key without an owner is up to maintainers", async () => {
    const api = await board.as({ role: "member" });
    const clientId = api.apiKey.split("_")[1];
    const key = (await keysOf(lead)).find((each) => each.clientId === clientId);
    const member = await signedIn(world, [board]);
    expect((await rotate(member, key ?? { id: "" })).status).toBe(404);
    const rotated = await rotate(lead, key ?? { id: "" });
    expect([rotated.status, rotated.body]).toMatchObject([200, { owner: { login: lead.login } }]);
    expect((await call(api.apiKey)).status).toBe(401);
  });

  it("of the operator makes it the caller's, and it ends when they leave the board", async () => {
    const api = await board.as({ role: "maintainer" });
    const person = await signedIn(world, [board], "maintainer");
    const key = (await keysOf(person)).find(({ clientId }) => clientId === api.apiKey.split("_")[1]);
    const { apiKey } = (await rotate(person, key ?? { id: "" })).body as Issued;
    expect((await call(apiKey)).status).toBe(200);
    expect(problemOf(await rotate(lead, key ?? { id: "" }))).toEqual([
      403,
      `Only ${person.login} may rotate this key. You can revoke it.`,
    ]);
    const { body } = await lead.browser.get("/console/v1/people");
    const left = (body as { id: string; login: string }[]).find(({ login }) => login === person.login);
    await lead.browser.write("DELETE", `/console/v1/members/${left?.id}`);
    expect((await call(apiKey)).status).toBe(401);
  });

  it("never extends its expiry", async () => {
    const key = await issued(lead, { expiresInDays: 5 });
    for (const expiresInDays of [6, null])
      expect(problemOf(await rotate(lead, key, { keepHours: 0, expiresInDays }))).toEqual([
        400,
        `body.expiresInDays: This key expires at ${key.expiresAt}. A rotation cannot extend that. Issue a new key.`,
      ]);
    expect((await call(key.apiKey)).status).toBe(200);
    const forever = await issued(lead, { expiresInDays: null });
    expect((await rotate(lead, forever, { keepHours: 0, expiresInDays: null })).body).toMatchObject({
      expiresAt: null,
    });
  });
});

describe("revoking a key", () => {
  it("ends it on every process, and lists it as revoked", async () => {
    const key = await issued(lead, { name: "Leaked" });
    expect((await call(key.apiKey)).status).toBe(200);
    expect((await revoke(lead, key)).status).toBe(204);
    expect((await call(key.apiKey)).status).toBe(401);
    expect(await keyNamed(lead, "Leaked")).toMatchObject({ role: null, revokedAt: expect.any(String) });
    expect(problemOf(await revoke(lead, key))).toEqual([409, "The key Leaked is revoked already."]);
  });

  it("of several boards ends only its access to this one", async () => {
    const api = await board.as({ role: "member", boards: [board, there] });
    const clientId = api.apiKey.split("_")[1];
    const key = (await keysOf(lead)).find((each) => each.clientId === clientId);
    expect((await revoke(lead, key ?? { id: "" })).status).toBe(204);
    const me = (await (await call(api.apiKey)).json()) as { boards: { workspaceId: string }[] };
    expect(me.boards.map(({ workspaceId }) => workspaceId)).toEqual([there.workspaceId]);
    expect((await keysOf(lead)).filter((each) => each.clientId === clientId)).toEqual([]);
  });

  it("is not possible from another board", async () => {
    const key = await issued(lead, { name: "Here" });
    const stranger = await signedIn(world, [there], "maintainer");
    expect([(await revoke(stranger, key)).status, (await rotate(stranger, key)).status]).toEqual([404, 404]);
    expect((await call(key.apiKey)).status).toBe(200);
  });
});

describe("a member who is not a maintainer", () => {
  it("issues, sees, rotates and revokes only their own keys, with at most their role", async () => {
    const member = await signedIn(world, [board]);
    expect(problemOf(await issue(member, { role: "maintainer" }))).toEqual([
      403,
      "You have the role member. Issue a key with at most that role.",
    ]);
    const mine = await issued(member, { name: "Mine" });
    expect((await keysOf(member)).map(({ id }) => id)).toEqual([mine.id]);
    const foreign = await issued(lead);
    expect([(await revoke(member, foreign)).status, (await rotate(member, foreign)).status]).toEqual([
      404, 404,
    ]);
    expect((await rotate(member, mine)).status).toBe(200);
    expect((await revoke(member, mine)).status).toBe(204);
  });

  it("who is demoted keeps no key with a higher role", async () => {
    const member = await signedIn(world, [board], "maintainer");
    const high = await issued(member, { name: "High", role: "maintainer" });
    const low = await issued(member, { name: "Low", role: "viewer" });
    const { body } = await lead.browser.get("/console/v1/people");
    const { id } = (body as { id: string; login: string }[]).find(({ login }) => login === member.login) ?? {
      id: "",
    };
    await lead.browser.write("PATCH", `/console/v1/members/${id}`, { from: "maintainer", role: "member" });
    const roles = Object.fromEntries((await keysOf(member)).map((key) => [key.name, key.role]));
    expect(roles).toEqual({ High: "member", Low: "viewer" });
    expect((await call(high.apiKey, "POST", "/v1/webhooks", { url: "https://example.com" })).status).toBe(
      403,
    );
    expect((await call(low.apiKey)).status).toBe(200);
  });

  it("has at most 25 keys", async () => {
    const member = await signedIn(world, [board]);
    const responses = await Promise.all(Array.from({ length: 27 }, () => issue(member)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(25);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(2);
    const clientId = (await board.as({ role: "viewer" })).apiKey.split("_")[1];
    const other = await signedIn(world, [board], "maintainer");
    await Promise.all(Array.from({ length: 25 }, () => issue(other)));
    const unowned = (await keysOf(other)).find((key) => key.clientId === clientId);
    expect((await rotate(other, unowned ?? { id: "" })).status).toBe(409);
  });
});

it("the operator lists what the console issued", async () => {
  const { clientId } = await issued(lead, { name: "Listed" });
  const listed = await commandLineOf(world).json<{ clientId: string }[]>("credential", "list");
  expect(listed).toContainEqual(expect.objectContaining({ clientId, name: "Listed", owner: lead.login }));
});
