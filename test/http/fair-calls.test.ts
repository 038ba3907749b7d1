import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";
import { CallScheduler } from "../../src/http/call-scheduler.ts";
import { connect, type Db } from "../../src/store/db/connect.ts";
import { eventually, makeApi, type ApiResponse } from "../support/api.ts";
import { settled } from "../support/database/database-content.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { untilWaitingForLock, whileLocked } from "../support/stories/locks.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

/** The calls that one process runs at a time. */
const RUNNING = 8;
const WAITING = 3;

let world: TestWorld;
/** Connections of the test's own: the service's pool is what the calls share. */
let db: Db;
beforeAll(async () => {
  const limits = { ...DEFAULT_LIMITS, boardCallsAtOnce: RUNNING, boardCallsWaiting: WAITING };
  world = await startWorld({ limits });
  db = connect({ connectionString: world.databaseUrl, onError: () => undefined });
});
afterAll(async () => {
  await db.destroy();
  await world.stop();
});

const rename = ({ api }: TestBoard, number: number): Promise<ApiResponse> =>
  api.patch(`/v1/cards/${number}`, { title: "Renamed" });

const lockCard = (board: TestBoard, number: number) => (trx: Db) =>
  trx("cards").where({ workspace_id: board.workspaceId, number }).forUpdate();

async function boardWithCards(cards: number): Promise<TestBoard> {
  const board = await world.board();
  for (let each = 0; each < cards; each++) await board.api.card();
  return board;
}

/** Sends one call more than may wait, and returns the refused one and those that wait. */
async function fillQueue(board: TestBoard, number: number) {
  const calls = Array.from({ length: WAITING + 1 }, () => rename(board, number));
  const refused = await Promise.race(calls);
  return { refused, calls };
}

it("waiting calls of several boards run in turn, and a board with too many gets 429", async () => {
  const boards = [await boardWithCards(3), await boardWithCards(1), await boardWithCards(1)];
  const [busy] = boards as [TestBoard];
  const calls: Promise<ApiResponse>[] = [];
  const [{ seq: before } = { seq: 0 }] = await db("timeline_items").max("seq as seq");
  await whileLocked(db, lockCard(busy, 1), async () => {
    for (let nth = 1; nth < RUNNING; nth++) calls.push(rename(busy, 1));
    await untilWaitingForLock(db, RUNNING - 1);
    await whileLocked(db, lockCard(busy, 2), async () => {
      calls.push(rename(busy, 2));
      await untilWaitingForLock(db, RUNNING);
      for (const board of boards) {
        const filled = await fillQueue(board, board === busy ? 3 : 1);
        calls.push(...filled.calls);
        expect(filled.refused).toMatchObject({
          status: 429,
          body: { message: expect.stringMatching(/^3 calls are waiting already/), statusCode: 429 },
        });
        expect(filled.refused.headers.get("retry-after")).toBe("1");
      }
    });
    // One place is free now: the waiting calls run in it one after another.
    await Promise.all(calls.slice(RUNNING - 1));
  });
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200)).toEqual(boards.map(() => 429));
  const ran = await db("timeline_items as t")
    .join("cards as c", "c.id", "t.card_id")
    .where("t.seq", ">", before)
    .orderBy("t.seq")
    .pluck("c.workspace_id");
  const turn = boards.map(({ workspaceId }) => workspaceId);
  expect(ran.slice(0, 1 + 3 * WAITING)).toEqual([busy.workspaceId, ...turn, ...turn, ...turn]);
});

it("the writes of one board leave connections for the calls of another", async () => {
  const [busy, other] = [await boardWithCards(1), await boardWithCards(1)];
  const service = await startSecondService(world, DEFAULT_LIMITS);
  try {
    const { boardCallsAtOnce } = DEFAULT_LIMITS;
    const writer = makeApi(service.baseUrl, busy.api.apiKey);
    const reader = makeApi(service.baseUrl, other.api.apiKey);
    const calls: Promise<ApiResponse>[] = [];
    await whileLocked(db, lockCard(busy, 1), async () => {
      for (let nth = 0; nth < 16; nth++) calls.push(writer.patch("/v1/cards/1", { title: String(nth) }));
      await untilWaitingForLock(db, boardCallsAtOnce);
      expect((await reader.get("/v1/cards/1")).status).toBe(200);
      const waiting = await db("pg_stat_activity").where({
        wait_event_type: "Lock",
        datname: db.raw("current_database()"),
      });
      expect(waiting).toHaveLength(boardCallsAtOnce);
    });
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
  } finally {
    await service.stop();
  }
});

it("a move that waits for GitHub lets other calls of its board run", async () => {
  const board = await boardWithCards(2);
  const service = await startSecondService(world, { ...DEFAULT_LIMITS, boardCallsAtOnce: 1 });
  const { control } = world.forge;
  try {
    const api = makeApi(service.baseUrl, board.api.apiKey);
    control.faults.add({ fault: { kind: "hold" } });
    control.calls.reset();
    const moved = api.move(1, board.stages["In progress"]);
    await eventually(
      () => Promise.resolve(control.calls.read()),
      ({ total }) => total > 0,
    );
    expect((await api.get("/v1/cards/2")).status).toBe(200);
    expect((await rename({ ...board, api }, 2)).status).toBe(200);
    control.reset();
    expect((await moved).status).toBe(200);
  } finally {
    control.reset();
    await service.stop();
  }
});

it("calls that share a response of GitHub let other calls of their board run", async () => {
  const board = await boardWithCards(2);
  expect((await board.api.move(1, board.stages["In progress"])).status).toBe(200);
  const service = await startSecondService(world, { ...DEFAULT_LIMITS, boardCallsAtOnce: 1 });
  const { control } = world.forge;
  await settled(world);
  try {
    const api = makeApi(service.baseUrl, board.api.apiKey);
    control.faults.add({ fault: { kind: "hold" } });
    control.calls.reset();
    const plan = `/v1/cards/1/move-plan?statusId=${board.stages["In review"]}`;
    const reads = Array.from({ length: 3 }, () => api.get(plan));
    await eventually(
      () => Promise.resolve(control.calls.read()),
      ({ total }) => total > 0,
    );
    expect((await api.get("/v1/cards/2")).status).toBe(200);
    control.reset();
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual([200, 200, 200]);
  } finally {
    control.reset();
    await service.stop();
  }
});

it("a call whose caller is gone does not run when its turn comes, and the next one does", async () => {
  const scheduler = new CallScheduler({ running: 1, boardRunning: 1, boardWaiting: Infinity });
  const ran: string[] = [];
  const call = (name: string, isGone?: () => boolean) =>
    scheduler.run(name, async () => void ran.push(name), isGone);
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  const first = scheduler.run("busy", () => held);
  const gone = call("gone", () => true);
  const next = call("next");
  finish();
  await first;
  await expect(gone).rejects.toThrow("The connection was closed.");
  await next;
  await call("gone");
  expect(ran).toEqual(["next", "gone"]);
});
