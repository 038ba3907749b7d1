import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { Trx } from "../../src/store/db/connect.ts";
import { eventually, type ApiResponse } from "../support/api.ts";
import { untilWaitingForLock, whileLocked } from "../support/stories/locks.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { writeCalls } from "../support/routes.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});
afterEach(() => leaveConsistent(world));

const newKey = (): string => `key-${randomUUID()}`;
const titles = async (on: TestBoard): Promise<string[]> =>
  (await on.api.get<{ title: string }[]>("/v1/backlog")).body.map(({ title }) => title);
const countOf = async (title: string): Promise<number> =>
  (await titles(board)).filter((candidate) => candidate === title).length;
const isReplay = ({ headers }: ApiResponse): boolean => headers.get("idempotent-replay") === "true";
const db = () => world.service.deps.db;
/** Blocks new cards of the board. */
const boardRow = (trx: Trx) => trx("workspaces").where({ id: board.workspaceId }).forUpdate();

describe("an idempotency key", () => {
  // Contract: Idempotency: Every write needs an `Idempotency-Key` of 16 to 255 allowed characters
  it.each([16, 17, 255])("of %d characters is accepted", async (length) => {
    const key = "aZ09_.:-".repeat(32).slice(0, length - 4) + randomUUID().slice(0, 4);
    expect((await board.api.post("/v1/cards", { title: "x" }, { key })).status).toBe(201);
  });

  // Contract: Idempotency: Every write needs an `Idempotency-Key` of 16 to 255 allowed characters
  it.each([
    ["none", null],
    ["an empty one", ""],
    ["15 characters", "a".repeat(15)],
    ["256 characters", "a".repeat(256)],
    ["a space", "aaaaaaaa aaaaaaaa"],
    ["quotes", `"${"a".repeat(20)}"`],
    ["a slash", `${"a".repeat(16)}/`],
    ["a letter past ASCII", `${"a".repeat(16)}é`],
    ["two in one header", `${"a".repeat(16)}, ${"b".repeat(16)}`],
  ])("is refused as %s, and nothing changes", async (name, key) => {
    const refused = await board.api.post("/v1/cards", { title: `refused ${name}` }, { key });
    expect(refused).toMatchObject({ status: 400, body: { error: "Bad Request", statusCode: 400 } });
    expect(refused.body["message"]).toMatch(/Idempotency-Key.*16 to 255 characters/);
    expect(await countOf(`refused ${name}`)).toBe(0);
  });

  it.each(writeCalls.map((sample) => [sample.name, sample] as const))(
    "is required by %s",
    async (_, { method, path }) => {
      const headers = { authorization: `Bearer ${board.api.apiKey}` };
      const response = await fetch(`${board.api.baseUrl}${path}`, { method, headers });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("Idempotency-Key");
    },
  );
});

describe("the same request with the same key", () => {
  // Invariant: I3
  it("gets the stored response, byte for byte, and runs once", async () => {
    const key = newKey();
    const first = await board.api.post("/v1/cards", { title: "Byte for byte é 😀" }, { key });
    const again = await board.api.post("/v1/cards", { title: "Byte for byte é 😀" }, { key });
    expect(first.status).toBe(201);
    expect(isReplay(first)).toBe(false);
    expect(isReplay(again)).toBe(true);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(await countOf("Byte for byte é 😀")).toBe(1);
  });

  it("gets the stored response after its card changed or was deleted", async () => {
    const key = newKey();
    const { number } = await board.api.card();
    const first = await board.api.patch(`/v1/cards/${number}`, { title: "First" }, { key });
    await board.api.patch(`/v1/cards/${number}`, { title: "Second" });
    expect((await board.api.patch(`/v1/cards/${number}`, { title: "First" }, { key })).text).toBe(first.text);
    expect((await board.api.readCard(number)).title).toBe("Second");
    await board.api.delete(`/v1/cards/${number}`);
    expect((await board.api.patch(`/v1/cards/${number}`, { title: "First" }, { key })).text).toBe(first.text);
  });

  it("gets a stored 204 without a body", async () => {
    const key = newKey();
    const { number } = await board.api.card();
    const first = await board.api.delete(`/v1/cards/${number}`, { key });
    const again = await board.api.delete(`/v1/cards/${number}`, { key });
    expect([first.status, first.text, isReplay(first)]).toEqual([204, "", false]);
    expect([again.status, again.text, isReplay(again)]).toEqual([204, "", true]);
  });

  it("gets the stored response of a move and adds nothing to the timeline", async () => {
    const key = newKey();
    const { number } = await board.api.card();
    const first = await board.api.move(number, board.stages["In progress"], 0, { key });
    expect(first.status).toBe(200);
    const again = await board.api.move(number, board.stages["In progress"], 0, { key });
    expect([again.status, again.text, isReplay(again)]).toEqual([200, first.text, true]);
    const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
    expect(kinds).toEqual(["created", "branch_created", "status_changed"]);
  });

  it("is recognized by the values in its JSON, not by their order or spaces", async () => {
    const key = newKey();
    const first = await board.api.post("/v1/cards", '{"title":"Order","priority":"low"}', { key });
    const again = await board.api.post("/v1/cards", '\n{ "priority" : "low",\t"title":"\\u004frder" }\n', {
      key,
    });
    expect(again.text).toBe(first.text);
    expect(isReplay(again)).toBe(true);
  });

  // Fault: E3
  it("runs once for fifty concurrent callers; the others get its response or 409", async () => {
    const key = newKey();
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => board.api.post("/v1/cards", { title: "Fifty" }, { key })),
    );
    const created = responses.filter(({ status }) => status === 201);
    const waiting = responses.filter(({ status }) => status === 409);
    expect(created.length + waiting.length).toBe(50);
    expect(created.filter((response) => !isReplay(response))).toHaveLength(1);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    for (const { headers } of waiting) expect(headers.get("retry-after")).toBe("1");
    expect(await countOf("Fifty")).toBe(1);
  });

  // Contract: Idempotency: While the first request runs, its key is 409 with `Retry-After`
  it("gets 409 with Retry-After while the first still runs", async () => {
    const key = newKey();
    const create = (title: string) => board.api.post("/v1/cards", { title }, { key });
    const responses: Promise<ApiResponse>[] = [];
    await whileLocked(db(), boardRow, async () => {
      responses.push(create("Slow"));
      await untilWaitingForLock(db());
      const second = await create("Slow");
      expect(second).toMatchObject({ status: 409, body: { error: "Conflict", statusCode: 409 } });
      expect(second.headers.get("retry-after")).toBe("1");
      expect((await create("Another")).status).toBe(409);
    });
    expect(await Promise.all(responses)).toMatchObject([{ status: 201 }]);
    expect(isReplay(await board.api.post("/v1/cards", { title: "Slow" }, { key }))).toBe(true);
  });
});

const setTitle = (key: string, number: number) =>
  board.api.patch(`/v1/cards/${number}`, { title: "One" }, { key });

// Fault: E4 A key is reused for another request => 409, no effect
describe("another request with the same key", () => {
  it("gets 409 if the query differs", async () => {
    const key = newKey();
    const create = (query: string) => board.api.post(`/v1/releases${query}`, { name: "1.0" }, { key });
    expect((await create("")).status).toBe(201);
    expect((await create(`?projectId=${board.projectId}`)).status).toBe(409);
    expect(isReplay(await create(""))).toBe(true);
  });

  // Contract: Idempotency: The same key with another request is 409 and does nothing
  it.each<[string, (key: string, number: number, other: number) => Promise<ApiResponse>]>([
    ["body", (key, number) => board.api.patch(`/v1/cards/${number}`, { title: "Two" }, { key })],
    ["field left out", (key, number) => board.api.patch(`/v1/cards/${number}`, {}, { key })],
    ["card", (key, _, other) => board.api.patch(`/v1/cards/${other}`, { title: "One" }, { key })],
    ["method", (key, number) => board.api.delete(`/v1/cards/${number}`, { key })],
    ["route", (key) => board.api.post("/v1/cards", { title: "One" }, { key })],
  ])("gets 409 if the %s differs, and changes nothing", async (_, second) => {
    const key = newKey();
    const [{ number }, { number: other }] = [await board.api.card(), await board.api.card()];
    expect((await setTitle(key, number)).status).toBe(200);
    const refused = await second(key, number, other);
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict", statusCode: 409 } });
    expect((await board.api.readCard(number)).title).toBe("One");
    expect((await board.api.readCard(other)).title).toBe("A card");
    expect(isReplay(await setTitle(key, number))).toBe(true);
  });

  // Contract: Idempotency: The same key with another request is 409 and does nothing
  it("gets 409 on another board", async () => {
    const two = await world.board();
    const api = await board.as({ boards: [board, two] });
    const key = newKey();
    const on = (workspaceId: string) =>
      api.post("/v1/cards", { title: "x" }, { key, headers: { "x-service-workspace": workspaceId } });
    expect((await on(board.workspaceId)).status).toBe(201);
    expect((await on(two.workspaceId)).status).toBe(409);
    expect(await titles(two)).toEqual([]);
  });

  // Contract: Idempotency: Keys are scoped to the credential
  it("succeeds for another credential", async () => {
    const key = newKey();
    const other = await board.as({});
    const mine = await board.api.post("/v1/cards", { title: "Mine" }, { key });
    const otherCredential = await other.post("/v1/cards", { title: "Theirs" }, { key });
    expect([mine.status, otherCredential.status]).toEqual([201, 201]);
    expect(isReplay(otherCredential)).toBe(false);
  });
});

// Contract: Idempotency: After a failed attempt its key can be used again
describe("a failed attempt releases its key", () => {
  it.each<[string, number, (key: string) => Promise<ApiResponse>]>([
    ["for a wrong body", 400, (key) => board.api.post("/v1/cards", { titel: "x" }, { key })],
    ["for an unknown card", 404, (key) => board.api.patch("/v1/cards/4711", { title: "x" }, { key })],
    [
      "for a stage of no flow",
      400,
      (key) => board.api.post("/v1/cards", { title: "x", statusId: board.projectId }, { key }),
    ],
    [
      "for a refused move",
      409,
      async (key) => board.api.move((await board.api.card()).number, board.stages["In review"], 0, { key }),
    ],
  ])("%s", async (_, status, attempt) => {
    const key = newKey();
    expect((await attempt(key)).status).toBe(status);
    const corrected = await board.api.post("/v1/cards", { title: "Corrected" }, { key });
    expect(corrected.status).toBe(201);
    expect(isReplay(corrected)).toBe(false);
  });

  // Contract: Idempotency: After a failed attempt its key can be used again
  // Fault: C1
  it("while the forge is unavailable; a retry creates no second card", async () => {
    const key = newKey();
    const retry = () =>
      board.api.post<{ number: number; statusId: string; blocked: null }>(
        "/v1/cards",
        { title: "Through an outage", statusId: board.stages["In progress"] },
        { key },
      );
    const fault = world.forge.control.faults.add({ fault: { kind: "reset" } });
    const failed = await retry();
    expect(failed).toMatchObject({ status: 503, body: { error: "Service Unavailable", statusCode: 503 } });
    expect(Number(failed.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await countOf("Through an outage")).toBe(1);
    world.forge.control.faults.remove(fault);
    const made = await eventually(retry, ({ status }) => status === 201);
    expect(made.body).toMatchObject({ statusId: board.stages["In progress"], blocked: null });
    const again = await retry();
    expect([again.text, isReplay(again)]).toEqual([made.text, true]);
    const all = await board.api.get<{ columns: { tasks: { title: string }[] }[] }>("/v1/board");
    const onBoard = all.body.columns.flatMap(({ tasks }) => tasks).map(({ title }) => title);
    expect(
      [...onBoard, ...(await titles(board))].filter((title) => title === "Through an outage"),
    ).toHaveLength(1);
  });
});
