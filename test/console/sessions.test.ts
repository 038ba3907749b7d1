import { beforeAll, describe, expect, it } from "@jest/globals";
import { addMember, registerAgent } from "../../src/actions/members/forge-accounts.ts";
import { dropEndedSessions } from "../../src/store/ops/retention.ts";
import type { RunningService } from "../../src/service.ts";
import { firstRow } from "../../src/store/db/connect.ts";
import { removeMembersWithLogin } from "../../src/actions/members/members.ts";
import { eventually } from "../support/api.ts";
import { Browser } from "../support/console/browser.ts";
import { COOKIE, sessionIdOf, signedIn, type Person } from "../support/console/people.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const IDLE_MS = 3_600_000;
const KEEP_ALIVE_MS = 300;

const world = useWorld({ keepAliveMs: KEEP_ALIVE_MS, console: { idleMs: IDLE_MS } });
let board: TestBoard;
let second: RunningService;
beforeAll(async () => {
  board = await world.board();
  second = await startSecondService(world, undefined, { keepAliveMs: KEEP_ALIVE_MS });
});

/** The same browser at the other process. */
const elsewhere = ({ browser }: Person): Browser => {
  const other = new Browser(second.baseUrl);
  other.cookies.set(COOKIE, browser.cookies.get(COOKIE) ?? "");
  return other;
};

/** Opens the event stream of the console. Resolves when the service ends it. */
async function openStream(browser: Browser): Promise<{ readonly ended: Promise<void> }> {
  const { body, status } = await fetch(`${browser.baseUrl}/console/v1/events/stream`, {
    headers: { cookie: `${COOKIE}=${browser.cookies.get(COOKIE)}` },
  });
  if (status !== 200 || !body) throw new Error(`no stream: ${status}`);
  const read = async (): Promise<void> => {
    for await (const _ of body);
  };
  return { ended: read() };
}

interface SessionRow {
  readonly expires_at: Date;
  readonly forge_token: Buffer | null;
}

const sessionRow = ({ browser }: Person): Promise<SessionRow | null> =>
  firstRow<SessionRow>(
    board.db,
    "select c.expires_at, s.forge_token from credentials c join sessions s on s.credential_id = c.id where c.client_id = :id",
    { id: sessionIdOf(browser) },
  );

describe("a session ends on every process, with its open streams,", () => {
  it.each<[string, (person: Person) => Promise<unknown>]>([
    ["when the person signs out", ({ browser }) => browser.write("POST", "/console/sign-out")],
    [
      "when the person is no longer a member of any board",
      ({ login }) => removeMembersWithLogin(board.db, board.workspaceId, login),
    ],
    [
      "when an operator ends it",
      ({ browser }) => commandLineOf(world).json("session", "revoke", sessionIdOf(browser)),
    ],
    [
      "when the person withdraws the authorization on the forge",
      async ({ login }) => world.forge.webUi.revokeAuthorization(login),
    ],
    [
      "when its account is registered as an agent of its only board",
      ({ login }) => registerAgent(world.service.deps, { workspaceId: board.workspaceId, login }),
    ],
    [
      "after the idle timeout",
      ({ browser }) =>
        board.db.raw("update credentials set expires_at = now() where client_id = ?", [sessionIdOf(browser)]),
    ],
  ])("%s", async (_, end) => {
    const person = await signedIn(world, [board]);
    const cookie = person.browser.cookies.get(COOKIE) ?? "";
    const other = elsewhere(person);
    const streams = await Promise.all([openStream(person.browser), openStream(other)]);
    expect([
      (await other.get("/console/session")).status,
      (await other.get("/console/v1/board")).status,
    ]).toEqual([200, 200]);
    await end(person);
    person.browser.cookies.set(COOKIE, cookie);
    for (const browser of [person.browser, other])
      for (const path of ["/console/session", "/console/v1/board", "/console/v1/me"])
        await eventually(
          () => browser.get(path),
          ({ status, body }) => status === 401 && (body as { code?: string }).code === "not_signed_in",
        );
    await Promise.all(streams.map(({ ended }) => ended));
    const refused = await other.write("POST", "/console/v1/cards", { title: "Too late" });
    expect(refused.status).toBe(401);
  });
});

it("signing out clears the cookie and forgets the token of the forge", async () => {
  const person = await signedIn(world, [board]);
  expect((await sessionRow(person))?.forge_token).not.toBeNull();
  const out = await person.browser.write("POST", "/console/sign-out");
  expect([out.status, out.text, person.browser.cookies.size]).toEqual([204, "", 0]);
  const again = await person.browser.write("POST", "/console/sign-out");
  expect(again.status).toBe(204);
});

it("a person who loses one of two boards keeps the session for the other", async () => {
  const theirs = await world.board();
  const person = await signedIn(world, [board, theirs]);
  await removeMembersWithLogin(board.db, board.workspaceId, person.login);
  const { body } = await person.browser.get("/console/session");
  expect(body).toMatchObject({ boards: [{ workspaceId: theirs.workspaceId }] });
  const lost = await person.browser.get("/console/v1/board", { "x-service-workspace": board.workspaceId });
  expect(lost.status).toBe(400);
  // A new role takes effect with the next call.
  await addMember(world.service.deps, {
    workspaceId: theirs.workspaceId,
    login: person.login,
    role: "viewer",
  });
  const refused = await person.browser.write("POST", "/console/v1/cards", { title: "Not as a viewer" });
  expect(refused.status).toBe(403);
});

it("what a person started goes on after the sign-out", async () => {
  const person = await signedIn(world, [board]);
  const { number } = await person.api.card();
  await person.browser.write("POST", "/console/sign-out");
  const moved = await board.api.move(number, board.stages["To do"]);
  expect(moved.status).toBe(200);
});

describe("the idle timeout", () => {
  const expiryOf = async (person: Person): Promise<number> =>
    (await sessionRow(person))?.expires_at.getTime() ?? 0;
  const setExpiry = (person: Person, inMs: number) =>
    board
      .db("credentials")
      .where({ client_id: sessionIdOf(person.browser) })
      .update({ expires_at: new Date(Date.now() + inMs) });

  it("is moved by calls, but at most once a minute", async () => {
    const person = await signedIn(world, [board]);
    const first = await expiryOf(person);
    expect(Math.abs(first - Date.now() - IDLE_MS)).toBeLessThan(20_000);
    await person.browser.get("/console/v1/board");
    expect(await expiryOf(person)).toBe(first);
    await setExpiry(person, IDLE_MS - 120_000);
    // The first call learns of the change, which is this test's.
    for (const _ of [1, 2]) await person.browser.get("/console/v1/board");
    expect(Math.abs((await expiryOf(person)) - Date.now() - IDLE_MS)).toBeLessThan(20_000);
  });

  it("is moved once by calls at the same time, and all of them succeed", async () => {
    const person = await signedIn(world, [board]);
    for (let round = 1; round <= 3; round++) {
      await setExpiry(person, IDLE_MS - 120_000);
      // The first call learns of the change.
      await person.browser.get("/console/v1/board");
      const calls = Array.from({ length: 12 }, () => person.browser.get("/console/v1/board"));
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
  });

  it("is not moved by an open stream", async () => {
    const person = await signedIn(world, [board]);
    const stream = await openStream(person.browser);
    await setExpiry(person, 1_500);
    await stream.ended;
    expect((await person.browser.get("/console/session")).status).toBe(401);
  });

  it("is not moved beyond the end of the session", async () => {
    const person = await signedIn(world, [board]);
    const endsAt = new Date(Date.now() + 600_000);
    await board.db.raw(
      "update sessions set ends_at = ? where credential_id = (select id from credentials where client_id = ?)",
      [endsAt, sessionIdOf(person.browser)],
    );
    await setExpiry(person, 60_000);
    await person.browser.get("/console/v1/board");
    expect(await expiryOf(person)).toBe(endsAt.getTime());
  });
});

describe("the operator", () => {
  it("lists sessions without their secrets, apart from the keys", async () => {
    const person = await signedIn(world, [board]);
    const line = commandLineOf(world);
    const sessions = await line.json<{ id: string; login: string }[]>("session", "list");
    expect(sessions).toContainEqual(
      expect.objectContaining({ id: sessionIdOf(person.browser), login: person.login }),
    );
    expect(JSON.stringify(sessions)).not.toContain((person.browser.cookies.get(COOKIE) ?? "").split("_")[2]);
    const keys = await line.json<{ clientId: string }[]>("credential", "list");
    expect(keys.map(({ clientId }) => clientId)).not.toContain(sessionIdOf(person.browser));
    // Revoking an API key also removes its user from all boards, which must not happen to a person.
    expect((await line.run(["credential", "revoke", sessionIdOf(person.browser)])).code).toBe(1);
    expect((await person.browser.get("/console/session")).status).toBe(200);
  });
});

it("ended sessions lose their token within an hour and are deleted after 30 days", async () => {
  const [ended, gone, live] = [
    await signedIn(world, [board]),
    await signedIn(world, [board]),
    await signedIn(world, [board]),
  ];
  const { number } = await gone.api.card();
  expect((await gone.api.post(`/v1/cards/${number}/claim`, { ttlSeconds: 60 })).status).toBe(200);
  const expire = (person: Person, days: number) =>
    board.db.raw("update credentials set expires_at = now() - ? * interval '1 day' where client_id = ?", [
      days,
      sessionIdOf(person.browser),
    ]);
  await expire(ended, 1);
  await expire(gone, 31);
  await dropEndedSessions(board.db);
  expect(await sessionRow(gone)).not.toBeNull();
  await board.db.raw("delete from idempotency_keys");
  await dropEndedSessions(board.db);
  expect([await sessionRow(ended), await sessionRow(gone)]).toMatchObject([{ forge_token: null }, null]);
  expect((await sessionRow(live))?.forge_token).not.toBeNull();
  expect((await live.browser.get(`/console/v1/cards/${number}`)).status).toBe(200);
});
