import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { ROLES, type Role } from "../../src/flow/roles.ts";
import type { Api } from "../support/api.ts";
import { databaseContent, settled } from "../support/database/database-content.ts";
import { writeCalls } from "../support/routes.ts";
import { callSample, sampleOf, type Sample } from "../support/samples.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
/** A credential of each role. */
const as = new Map<string, Api>();
/** A valid call of each route. Refused calls do not use it up. */
const calls = new Map<string, Sample>();
beforeAll(async () => {
  board = await world.board();
  for (const role of ROLES) as.set(role, await board.as({ role }));
  for (const { name } of writeCalls) calls.set(name, await sampleOf(name, board));
  await forgetArmed();
  await settled(world);
});
afterEach(() => forgetArmed());

/** After a change of the flow, a job inspects armed moves while other calls are compared. */
const forgetArmed = (): Promise<unknown> => board.db("operations").where({ state: "waiting" }).delete();

const apiOf = (role: string): Api => as.get(role) ?? board.api;

/** The database and the number of writes to the forge. */
const contents = async () => ({
  tables: await databaseContent(world.service),
  forgeWrites: world.forge.control.calls.read().writes,
});

async function expectNoChange<T>(act: () => Promise<T>): Promise<T> {
  const before = await contents();
  const result = await act();
  await settled(world);
  expect(await contents()).toEqual(before);
  return result;
}

describe("the minimum role of a route", () => {
  // Contract: Authentication: The minimum role of a route is sufficient
  // Contract: Idempotency: A repeated request returns the stored response with `Idempotent-Replay: true` and runs nothing
  it.each(writeCalls.map(({ name, role }) => [role, name] as const))(
    "%s permits %s; a replay returns the same bytes and changes nothing",
    async (role, name) => {
      const api = apiOf(role);
      const sample = await sampleOf(name, board, api);
      const key = `replay-${randomUUID()}`;
      const first = await callSample(name, sample, api, { key });
      expect([first.text, first.status < 300]).toEqual([first.text, true]);
      expect(first.headers.get("idempotent-replay")).toBeNull();
      await settled(world);
      const again = await expectNoChange(() => callSample(name, sample, api, { key }));
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      expect(again.headers.get("idempotent-replay")).toBe("true");
      expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
    },
  );
});

describe("a role below the minimum", () => {
  const below = writeCalls.flatMap(({ name, role }) =>
    ROLES.slice(0, ROLES.indexOf(role as Role)).map((actual) => [actual, name, role] as const),
  );
  // Contract: Authentication: A role below the minimum is 403; the message names both
  it.each(below)(
    "%s does not permit %s; the message names both roles, and nothing changes",
    async (actual, name, role) => {
      const refused = await expectNoChange(() => callSample(name, calls.get(name) ?? {}, apiOf(actual)));
      expect(refused).toMatchObject({
        status: 403,
        body: {
          message: `This call needs the role ${role}. You have the role ${actual} on this board.`,
        },
      });
    },
  );
});

describe("a write without a valid Idempotency-Key", () => {
  // Contract: Idempotency: Every write needs an `Idempotency-Key` of 16 to 255 allowed characters
  it.each(writeCalls.map(({ name }) => [name]))("is refused by %s and changes nothing", async (name) => {
    await expectNoChange(async () => {
      for (const key of [null, "too-short", "sixteen and spaces"]) {
        const refused = await callSample(name, calls.get(name) ?? {}, board.api, { key });
        expect([key, refused.status, refused.body["message"]]).toEqual([
          key,
          400,
          expect.stringContaining("Idempotency-Key"),
        ]);
      }
    });
  });
});
