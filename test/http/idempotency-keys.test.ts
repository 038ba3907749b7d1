import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import type { Trx } from "../../src/store/db/connect.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { eventually, makeApi, type ApiResponse } from "../support/api.ts";
import { startDatabaseProxy, type DatabaseProxy } from "../support/database/database-proxy.ts";
import { untilWaitingForLock, whileLocked } from "../support/stories/locks.ts";
import { keyLockedBy } from "../support/keys.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { holdCalls } from "../support/forge/held-calls.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const newKey = (): string => `key-${randomUUID()}`;
const isReplay = ({ headers }: ApiResponse): boolean => headers.get("idempotent-replay") === "true";
const db = () => world.service.deps.db;

const instance = async (silentFor: string): Promise<string> => {
  const id = randomUUID();
  await db().raw("insert into instances (id, seen_at) values (?, now() - cast(? as interval))", [
    id,
    silentFor,
  ]);
  return id;
};

const age = (key: string, by: string) =>
  db().raw("update idempotency_keys set created_at = created_at - cast(? as interval) where key = ?", [
    by,
    key,
  ]);

/** Blocks new cards of the board. */
const boardRow = (trx: Trx) => trx("workspaces").where({ id: board.workspaceId }).forUpdate();

/** A new card with labels, which takes more than one statement. */
const create = (key: string, title: string, api = board.api) =>
  api.post("/v1/cards", { title, labelIds: [] }, { key });

/** A request that has claimed its key and waits for the lock of its board's row while `act` runs. */
async function whileItWaits(
  title: string,
  key: string,
  act: () => PromiseLike<unknown>,
): Promise<ApiResponse> {
  const responses: Promise<ApiResponse>[] = [];
  await whileLocked(db(), boardRow, async () => {
    responses.push(create(key, title));
    await untilWaitingForLock(db());
    await act();
  });
  const [response] = await Promise.all(responses);
  if (!response) throw new Error("no request was sent");
  return response;
}

describe("a claimed key", () => {
  it("is free if the process that claimed it is unknown", async () => {
    const key = await keyLockedBy(board, randomUUID());
    expect((await board.api.post("/v1/cards", { title: "x" }, { key })).status).toBe(201);
  });

  it("is free if the process that claimed it has sent no heartbeat for 16 seconds", async () => {
    const key = await keyLockedBy(board, await instance("16 seconds"));
    expect((await board.api.post("/v1/cards", { title: "x" }, { key })).status).toBe(201);
  });

  it("is not free while the process that claimed it runs", async () => {
    const key = await keyLockedBy(board, await instance("8 seconds"));
    expect((await board.api.post("/v1/cards", { title: "x" }, { key })).status).toBe(409);
  });

  it("is not free while the process that claimed it runs, even a day after the claim", async () => {
    const key = await keyLockedBy(board, await instance("1 second"));
    await age(key, "25 hours");
    expect((await board.api.post("/v1/cards", { title: "x" }, { key })).status).toBe(409);
  });
});

const retried = (key: string, title: string) =>
  eventually(
    () => create(key, title),
    ({ status }) => status === 201,
  );

/** Ends the database connections that wait for a lock. */
const endWaitingConnections = () =>
  db().raw(
    "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
  );

const countOf = async (title: string): Promise<number> =>
  (await board.api.get<{ title: string }[]>("/v1/backlog")).body.filter((card) => card.title === title)
    .length;

describe("a second request that reads the key after the first has ended", () => {
  let proxy: DatabaseProxy;
  let other: RunningService;
  beforeEach(async () => {
    proxy = await startDatabaseProxy(world.databaseUrl);
    other = await startSecondService({ ...world, databaseUrl: proxy.url });
  });
  afterEach(async () => {
    await other.stop();
    await proxy.stop();
  });

  /** The first request ends before the second one reads the key. */
  async function responsesOf(key: string, title: string, end: () => PromiseLike<unknown>) {
    const keyRead = proxy.holdStatementWith("select fingerprint, state, status, body from idempotency_keys");
    const later: Promise<ApiResponse>[] = [];
    const first = await whileItWaits(title, key, async () => {
      later.push(create(key, title, makeApi(other.baseUrl, board.api.apiKey)));
      await keyRead.arrived;
      await end();
    });
    keyRead.resume();
    const [second] = await Promise.all(later);
    return { first, second };
  }

  it("gets the response of the first", async () => {
    const { first, second } = await responsesOf(newKey(), "Ended well", () => Promise.resolve());
    expect(first.status).toBe(201);
    expect([second?.status, second?.text, second && isReplay(second)]).toEqual([201, first.text, true]);
    expect(await countOf("Ended well")).toBe(1);
  });

  it("gets 409 if the first failed, and succeeds when repeated", async () => {
    const key = newKey();
    const { first, second } = await responsesOf(key, "Ended badly", endWaitingConnections);
    expect(first.status).toBe(503);
    expect(second).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("still running") },
    });
    expect(second?.headers.get("retry-after")).toBe("1");
    expect(await countOf("Ended badly")).toBe(0);
    expect(isReplay(await retried(key, "Ended badly"))).toBe(false);
    expect(await countOf("Ended badly")).toBe(1);
  });
});

// Fault: E16
describe("a database connection that is lost during a request", () => {
  // Fault: E8
  it("makes the response 503 with Retry-After, and a retry succeeds", async () => {
    const key = newKey();
    const response = await whileItWaits("Cut off", key, endWaitingConnections);
    expect(response).toMatchObject({ status: 503, body: { error: "Service Unavailable", statusCode: 503 } });
    expect(response.headers.get("retry-after")).toBe("2");
    expect(isReplay(await retried(key, "Cut off"))).toBe(false);
    expect(await countOf("Cut off")).toBe(1);
  });

  it("does not keep the key of a move claimed", async () => {
    const { number } = await board.api.card();
    const key = newKey();
    const move = () => board.api.move(number, board.stages["In progress"], 0, { key });
    const kept = holdCalls(world, {});
    const moving = move();
    await kept.arrived();
    await db().raw("alter table idempotency_keys rename to elsewhere");
    kept.resume();
    expect((await moving).status).toBe(500);
    await db().raw("alter table elsewhere rename to idempotency_keys");
    const again = await eventually(move, ({ status }) => status === 200);
    expect(isReplay(again)).toBe(false);
  });
});

describe("a stored response", () => {
  // Contract: Idempotency: Keys are kept for 24 hours
  // Fault: E13 A key is repeated after 24 hours => executed again
  it("is kept for 24 hours", async () => {
    const key = newKey();
    const create = () => board.api.post("/v1/cards", { title: "Kept" }, { key });
    await create();
    await age(key, "23 hours 59 minutes");
    expect(isReplay(await create())).toBe(true);
    await age(key, "2 minutes");
    const fresh = await create();
    expect([fresh.status, isReplay(fresh)]).toEqual([201, false]);
  });

  it("is deleted after that time, except if its key is in use", async () => {
    const [done, young, running] = [newKey(), newKey(), newKey()];
    for (const key of [done, young, running]) await board.api.post("/v1/cards", { title: "x" }, { key });
    await age(done, "25 hours");
    await age(running, "25 hours");
    const holder = world.service.deps.instanceId;
    await db()("idempotency_keys").where({ key: running }).update({ state: "running", holder });
    await addJob(db(), "delete-old-rows", {});
    const left = () =>
      db()<{ key: string }>("idempotency_keys").whereIn("key", [done, young, running]).select("key");
    const rows = await eventually(left, ({ length }) => length < 3);
    expect(rows.map(({ key }) => key).toSorted()).toEqual([young, running].toSorted());
  });
});
