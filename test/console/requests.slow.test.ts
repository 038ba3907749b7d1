import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ROLES, type Role } from "../../src/flow/roles.ts";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";
import type { Api } from "../support/api.ts";
import { databaseContent, settled } from "../support/database/database-content.ts";
import { allCalls, consoleOnlyCalls, writeCalls, type SampleCall } from "../support/routes.ts";
import { callSample, sampleOf } from "../support/samples.ts";
import { COOKIE, sessionIdOf, signedIn, type Person } from "../support/console/people.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
let theirs: TestBoard;
const people = new Map<Role, Person>();
beforeAll(async () => {
  // More refused calls than a browser makes.
  world = await startWorld({ limits: { ...DEFAULT_LIMITS, failedKeysPerMinute: 100_000 } });
  board = await world.board();
  theirs = await world.board();
  for (const role of ROLES) people.set(role, await signedIn(world, [board], role));
});
afterAll(() => world.stop());

const personAs = (role: Role): Person => {
  const person = people.get(role);
  if (!person) throw new Error(`nobody is a ${role}`);
  return person;
};
const maintainer = () => personAs("maintainer");
const cookieOf = ({ browser }: Person): string => `${COOKIE}=${browser.cookies.get(COOKIE)}`;

/** The calls of the console: all of `/v1` under `/console/v1`, and its own. */
const consoleCalls = [
  ...allCalls.map((call) => ({ ...call, path: `/console${call.path}` })),
  ...consoleOnlyCalls,
];
const isOfBoard = ({ about, isStream }: SampleCall): boolean => about === "board" && !isStream;
const consoleWrites = consoleCalls.filter(({ method }) => method !== "GET");

const send = async (
  { method, path }: Pick<SampleCall, "method" | "path">,
  headers: Record<string, string>,
) => {
  const keyed = { "idempotency-key": `test-${randomUUID()}`, ...headers };
  const response = await fetch(`${world.service.baseUrl}${path}`, { method, headers: keyed });
  return { status: response.status, text: await response.text() };
};

async function expectNoChange(act: () => Promise<void>): Promise<void> {
  await settled(world);
  const before = await databaseContent(world.service);
  await act();
  await settled(world);
  expect(await databaseContent(world.service)).toEqual(before);
}

describe("every route of the console", () => {
  it.each(consoleCalls.map((call) => [call.name, call] as const))(
    "%s needs a session, not a key",
    async (_, call) => {
      const key = board.api.apiKey;
      const asCookie = key.replace("tlk_", "tls_");
      for (const headers of [
        {},
        { authorization: `Bearer ${key}` },
        { cookie: `${COOKIE}=${key}` },
        { cookie: `${COOKIE}=${asCookie}` },
      ]) {
        const { status, text } = await send(call, { "sec-fetch-site": "same-origin", ...headers });
        expect([status, text]).toEqual([401, expect.stringContaining('"not_signed_in"')]);
      }
    },
  );

  it.each(consoleCalls.filter(isOfBoard).map((call) => [call.name, call] as const))(
    "%s does not reach another board",
    async (_, call) => {
      const { status, text } = await send(call, {
        cookie: cookieOf(maintainer()),
        "sec-fetch-site": "same-origin",
        "x-service-workspace": theirs.workspaceId,
      });
      expect([status, text]).toEqual([400, expect.stringContaining(`You have no access to the workspace`)]);
    },
  );
});

describe("every route of the API", () => {
  it.each(allCalls.map((call) => [call.name, call] as const))("%s ignores the session", async (_, call) => {
    const cookie = cookieOf(maintainer());
    const asKey = (maintainer().browser.cookies.get(COOKIE) ?? "").replace("tls_", "tlk_");
    const whole = maintainer().browser.cookies.get(COOKIE) ?? "";
    for (const headers of [
      { cookie },
      { authorization: `Bearer ${whole}` },
      { authorization: `Bearer ${asKey}` },
    ]) {
      const { status, text } = await send(call, { "sec-fetch-site": "same-origin", ...headers });
      expect([status, text]).toEqual([401, expect.stringContaining("Send a valid API key")]);
    }
  });
});

describe("every write of the console", () => {
  const foreign: readonly (readonly [string, () => Record<string, string>])[] = [
    ["another site", () => ({ "sec-fetch-site": "cross-site", origin: "https://evil.example.com" })],
    ["another host of the domain", () => ({ "sec-fetch-site": "same-site", origin: world.service.baseUrl })],
    ["no page", () => ({ "sec-fetch-site": "none" })],
    ["a browser without Sec-Fetch-Site on another site", () => ({ origin: "https://evil.example.com" })],
    ["a sandboxed frame", () => ({ origin: "null" })],
    ["a program that sends neither", () => ({})],
  ];
  it.each(
    consoleWrites.flatMap((call) =>
      foreign.map(([from, headers]) => [call.name, from, call, headers] as const),
    ),
  )("%s is refused if it comes from %s", async (_name, _from, call, headers) => {
    const { status, text } = await send(call, { cookie: cookieOf(maintainer()), ...headers() });
    expect([status, text]).toEqual([
      403,
      expect.stringContaining("does not come from a page of the console"),
    ]);
  });

  it("that is refused changes nothing but the audit log, which names the person", async () => {
    const { browser } = maintainer();
    await expectNoChange(async () => {
      const body = { title: "Forged" };
      const refused = await browser.write("POST", "/console/v1/cards", body, {
        "sec-fetch-site": "same-site",
      });
      expect(refused.status).toBe(403);
      const out = await browser.request("POST", "/console/sign-out", {
        headers: { "sec-fetch-site": "cross-site" },
      });
      expect(out.status).toBe(403);
    });
    const rows = await board.db("audit_log").where({ status: 403, action: "POST /v1/cards" });
    expect(rows).toContainEqual(
      expect.objectContaining({
        client_id: sessionIdOf(maintainer().browser),
        actor: expect.objectContaining({ name: maintainer().login }),
      }),
    );
  });

  it("is accepted with the console's own Origin, for browsers without Sec-Fetch-Site", async () => {
    const created = await send(
      { method: "POST", path: "/console/v1/labels" },
      { cookie: cookieOf(maintainer()), origin: world.service.baseUrl },
    );
    expect([created.status, created.text]).toEqual([400, expect.stringContaining("body.name")]);
  });

  it("needs a body in JSON, which forms of other sites cannot send", async () => {
    const response = await maintainer().browser.write("POST", "/console/v1/labels", '{"name":"x"}', {
      "content-type": "text/plain",
    });
    expect(response.status).toBe(415);
  });
});

describe("the minimum role of a route", () => {
  it.each(writeCalls.map(({ name, role }) => [role as Role, name] as const))(
    "%s permits %s in the console; a replay returns the same bytes",
    async (role, name) => {
      const { api } = personAs(role);
      const sample = await sampleOf(name, board, api);
      const key = `replay-${randomUUID()}`;
      const first = await callSample(name, sample, api, { key });
      expect([first.text, first.status < 300]).toEqual([first.text, true]);
      const again = await callSample(name, sample, api, { key });
      expect([again.status, again.text, again.headers.get("idempotent-replay")]).toEqual([
        first.status,
        first.text,
        "true",
      ]);
    },
  );

  const below = consoleCalls
    .filter(isOfBoard)
    .flatMap((call) =>
      ROLES.slice(0, ROLES.indexOf(call.role as Role)).map((actual) => [call.name, actual, call] as const),
    );
  it.each(below)("%s does not permit %s in the console", async (_, actual, call) => {
    const { role } = call;
    const response = await send(call, {
      cookie: cookieOf(personAs(actual)),
      "sec-fetch-site": "same-origin",
    });
    expect([response.status, JSON.parse(response.text)]).toMatchObject([
      403,
      { message: `This call needs the role ${role}. You have the role ${actual} on this board.` },
    ]);
  });
});

describe("what a session writes", () => {
  let own: TestBoard;
  let lead: Person;
  beforeAll(async () => {
    own = await world.board();
    lead = await signedIn(world, [own], "maintainer");
  });

  it("is shown as the person's, and in the audit log with the session but not the cookie", async () => {
    const person = await signedIn(world, [own]);
    const { number } = await person.api.card({ title: "Mine" });
    await person.api.post(`/v1/cards/${number}/comments`, { body: "Done by hand" });
    const timeline = await person.api.timeline(number);
    expect(timeline.at(-1)).toMatchObject({ author: { user: { name: person.login, kind: "human" } } });
    const { text } = await lead.api.get("/v1/audit");
    expect(text).not.toContain((person.browser.cookies.get(COOKIE) ?? "").split("_")[2]);
    const entries = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries).toContainEqual(
      expect.objectContaining({
        action: "POST /v1/cards/{number}/comments",
        credential: sessionIdOf(person.browser),
        actor: expect.objectContaining({ name: person.login, kind: "human" }),
      }),
    );
  });

  const gated = async (api: Api, gates: object): Promise<void> => {
    const path = `/v1/projects/${own.projectId}/flow`;
    const { body } = await api.get<{ stages: Record<string, unknown>[] }>(path);
    const stages = body.stages.map((stage) => (stage["name"] === "To do" ? { ...stage, gates } : stage));
    const changed = await api.put(path, { ...body, stages });
    expect([changed.status, changed.text]).toEqual([200, changed.text]);
  };

  it("passes a gate for people, which an API key does not", async () => {
    await gated(lead.api, { wipLimit: null, humanOnly: true, secondPerson: false });
    const { number } = await own.api.card();
    const byKey = await own.api.move(number, own.stages["To do"]);
    expect([byKey.status, byKey.body.blocked?.reason]).toEqual([409, "human_only"]);
    const bySession = await (await signedIn(world, [own])).api.move(number, own.stages["To do"]);
    expect([bySession.status, bySession.body.task.statusId]).toEqual([200, own.stages["To do"]]);
    await gated(lead.api, { wipLimit: null, humanOnly: false, secondPerson: false });
  });
});

it("a list under /console links its next page there", async () => {
  const { api } = maintainer();
  for (const title of ["One", "Two"]) await api.post("/v1/docs", { title: `${title} ${randomUUID()}` });
  const { headers } = await api.get("/v1/docs?limit=1");
  expect(headers.get("link")).toMatch(/^<\/console\/v1\/docs\?limit=1&cursor=/);
});
