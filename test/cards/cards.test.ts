import { beforeAll, describe, expect, it } from "@jest/globals";
import type { Trx } from "../../src/store/db/connect.ts";
import { eventually, type ApiResponse } from "../support/api.ts";
import { whileLocked } from "../support/stories/locks.ts";
import { openCard } from "../support/stories/open-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const statuses = (responses: readonly { status: number }[]) =>
  responses.map(({ status }) => status).toSorted((a, b) => a - b);

describe("the number of a card", () => {
  // Contract: Authentication: Card numbers are counted and resolved per board
  it("is counted per board", async () => {
    const [one, two] = [await world.board(), await world.board()];
    const cards = [await one.api.card({ title: "One's" }), await two.api.card({ title: "Two's" })];
    expect(cards.map(({ number }) => number)).toEqual([1, 1]);
    const both = await one.as({ boards: [one, two] });
    const read = async (on: TestBoard) =>
      (await both.get("/v1/cards/1", { headers: { "x-service-workspace": on.workspaceId } })).body["title"];
    expect([await read(one), await read(two)]).toEqual(["One's", "Two's"]);
  });

  it("is unique: twenty concurrent creations get twenty consecutive numbers", async () => {
    const own = await world.board();
    const cards = await Promise.all(Array.from({ length: 20 }, () => own.api.card()));
    const numbers = cards.map(({ number }) => number).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(cards.map(({ position }) => position).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index),
    );
  });

  it("is not used up by a refused creation", async () => {
    const own = await world.board();
    await own.api.post("/v1/cards", { title: "" });
    await own.api.post("/v1/cards", { title: "x", statusId: own.projectId });
    expect((await own.api.card()).number).toBe(1);
  });

  // Contract: Cards: An unknown card number is 404
  it.each(["0", "-1", "4711", "2147483648", "9007199254740993", "99999999999999999999999"])(
    "%s, which no card has, returns 404 for every call",
    async (number) => {
      const path = `/v1/cards/${number}`;
      const responses = [
        await board.api.get(path),
        await board.api.get(`${path}/timeline`),
        await board.api.patch(path, { title: "x" }),
        await board.api.post(`${path}/move`, { statusId: board.stages.Done, index: 0 }),
        await board.api.delete(path),
      ];
      for (const { status, body } of responses) {
        expect(status).toBe(404);
        expect(body).toMatchObject({ error: "Not Found", statusCode: 404 });
      }
    },
  );

  it.each(["abc", "1.5", "1e0", "0x1", "%201", "%2B1", "1%00", "١"])(
    "%s, which is no number, returns 400",
    async (number) => {
      await board.api.card();
      expect(await board.api.get(`/v1/cards/${number}`)).toMatchObject({
        status: 400,
        body: { issues: [{ path: "path.number" }] },
      });
    },
  );
});

describe("a deleted card", () => {
  // Contract: Cards: Deleting a card is 204 without a body; its number is not reused
  it("is not shown anywhere, and its number is not reused", async () => {
    const own = await world.board();
    const { number } = await own.api.card();
    const { number: inProgress } = await own.api.card({ statusId: own.stages["To do"] });
    for (const each of [number, inProgress])
      expect((await own.api.delete(`/v1/cards/${each}`)).status).toBe(204);
    expect((await own.api.get(`/v1/cards/${number}`)).status).toBe(404);
    expect((await own.api.get(`/v1/cards/${number}/timeline`)).status).toBe(404);
    expect((await own.api.get("/v1/backlog")).body).toEqual([]);
    const shown = await own.api.get<{ columns: { tasks: unknown[] }[] }>("/v1/board");
    expect(shown.body.columns.flatMap(({ tasks }) => tasks)).toEqual([]);
    expect((await own.api.card()).number).toBe(3);
  });

  it("leaves its pull requests open, or has them closed on GitHub, also after an outage", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const kept = await openCard(world, own, ["web"]);
    expect((await own.api.delete(`/v1/cards/${kept.number}`)).status).toBe(204);
    const { number } = await openCard(world, own, ["web", "api"]);
    const refused = await own.api.delete(`/v1/cards/${number}?closePullRequests=1`);
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "query.closePullRequests" }] } });
    const match = { method: "PATCH", path: "/repositories/*/pulls/*" };
    const fault = { kind: "response", status: 502, effect: "after" } as const;
    world.forge.control.faults.add({ match, fault, times: 1 });
    expect((await own.api.delete(`/v1/cards/${number}?closePullRequests=true`)).status).toBe(204);
    const states = async () => {
      const pulls = ["web/pulls/1", "web/pulls/2", "api/pulls/1"].map((path) =>
        own.person("ada", "GET", `/repos/${own.owner}/${path}`),
      );
      return (await Promise.all(pulls)).map(({ body }) => (body as unknown as { state: string }).state);
    };
    await eventually(states, (now) => now.join(" ") === "open closed closed");
  });

  it("cannot be changed, moved or deleted again", async () => {
    const { number } = await board.api.card();
    await board.api.delete(`/v1/cards/${number}`);
    const path = `/v1/cards/${number}`;
    expect((await board.api.patch(path, { title: "x" })).status).toBe(404);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(404);
    expect((await board.api.delete(path)).status).toBe(404);
  });

  it("is deleted once by two concurrent callers", async () => {
    const { number } = await board.api.card();
    const { db } = world.service.deps;
    const cardRow = (trx: Trx) => trx("cards").where({ workspace_id: board.workspaceId, number }).forUpdate();
    const waiting = () =>
      db("pg_stat_activity").where("wait_event_type", "Lock").whereRaw("datname = current_database()");
    const responses: Promise<ApiResponse>[] = [];
    await whileLocked(db, cardRow, async () => {
      for (let caller = 0; caller < 2; caller++) responses.push(board.api.delete(`/v1/cards/${number}`));
      await eventually(waiting, ({ length }) => length === 2);
    });
    expect(statuses(await Promise.all(responses))).toEqual([204, 404]);
  });

  it("is no longer a parent and cannot become one", async () => {
    const parent = await board.api.card();
    const { number } = await board.api.card({ parentNumber: parent.number });
    await board.api.delete(`/v1/cards/${parent.number}`);
    expect((await board.api.get(`/v1/cards/${number}`)).body).toMatchObject({ parentNumber: null });
    expect((await board.api.post("/v1/cards", { title: "x", parentNumber: parent.number })).status).toBe(400);
  });

  it("accepts only an empty body in its deletion", async () => {
    const { number } = await board.api.card();
    const send = (body: string) =>
      fetch(`${board.api.baseUrl}/v1/cards/${number}`, {
        method: "DELETE",
        headers: {
          authorization: `Bearer ${board.api.apiKey}`,
          "content-type": "application/json",
          "idempotency-key": `delete-with-body-${body.length}`,
        },
        body,
      });
    expect((await send('{"force":true}')).status).toBe(400);
    expect((await send("{}")).status).toBe(204);
  });
});

const setParent = (number: number, parentNumber: number | null) =>
  board.api.patch(`/v1/cards/${number}`, { parentNumber });

describe("the parent of a card", () => {
  it("must be a card of the same board", async () => {
    const other = await world.board();
    const { db } = world.service.deps;
    await db("workspaces").where({ id: other.workspaceId }).update({ next_card_number: 5_000 });
    const { number: last } = await other.api.card();
    const { number } = await board.api.card();
    expect((await board.api.get(`/v1/cards/${last}`)).status).toBe(404);
    expect((await setParent(number, last)).status).toBe(400);
  });

  it("cannot be the card itself or any of its descendants", async () => {
    const numbers: number[] = [];
    for (let depth = 0; depth < 6; depth++) {
      numbers.push((await board.api.card(depth > 0 ? { parentNumber: numbers.at(-1) } : {})).number);
    }
    const [top = 0, ...below] = numbers;
    for (const number of [top, ...below]) {
      expect(await setParent(top, number)).toMatchObject({
        status: 400,
        body: { issues: [{ path: "body.parentNumber" }] },
      });
    }
    expect((await setParent(below[0] ?? 0, null)).body).toMatchObject({ parentNumber: null });
    expect((await setParent(top, below.at(-1) ?? 0)).status).toBe(200);
  });

  it("cannot form a cycle when two cards become each other's parent concurrently", async () => {
    for (let round = 0; round < 6; round++) {
      const [a, b] = [await board.api.card(), await board.api.card()];
      const responses = await Promise.all([setParent(a.number, b.number), setParent(b.number, a.number)]);
      expect(statuses(responses)).toEqual([200, 400]);
    }
  });

  it("can move while children are created under it", async () => {
    const parent = await board.api.card();
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, round) =>
        round % 2 === 0
          ? board.api.post("/v1/cards", { title: "Child", parentNumber: parent.number })
          : board.api.move(parent.number, board.stages.Backlog, round),
      ),
    );
    expect(statuses(responses)).toEqual([...Array<number>(15).fill(200), ...Array<number>(15).fill(201)]);
  });
});
