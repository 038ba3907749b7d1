import { beforeAll, describe, expect, it } from "@jest/globals";
import { makeCredentialKey } from "../../src/actions/credentials/credential-key.ts";
import { DEFAULT_LIMITS, type CallLimits } from "../../src/http/call-limiter.ts";
import { eventually, makeApi, type Api, type ApiResponse } from "../support/api.ts";
import { openStream } from "../support/stories/event-stream.ts";
import { untilWaitingForLock, whileLocked } from "../support/stories/locks.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const LIMIT = 2;
const LIMITS: CallLimits = {
  ...DEFAULT_LIMITS,
  callsAtOnce: LIMIT,
  callsPerSecond: LIMIT,
  failedKeysPerMinute: 5,
};
const world = useWorld({ limits: LIMITS });
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

function expectTooMany({ status, body, headers }: ApiResponse, message: RegExp): void {
  expect([status, body]).toEqual([
    429,
    { message: expect.stringMatching(message), error: "Too Many Requests", statusCode: 429 },
  ]);
  expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
}
/** Repeats a call until it returns a status. */
const until = (status: number, call: () => Promise<ApiResponse>): Promise<ApiResponse> =>
  eventually(call, (response) => response.status === status);

describe("a credential", () => {
  it("with too many concurrent calls gets 429, other credentials do not", async () => {
    const [busy, other] = [await board.as({}), await board.as({})];
    const key = "refused-for-too-many";
    const created: Promise<ApiResponse>[] = [];
    const { db } = world.service.deps;
    await whileLocked(
      db,
      (trx) => trx("workspaces").where({ id: board.workspaceId }).forUpdate(),
      async () => {
        for (let nth = 1; nth <= LIMIT; nth++) {
          created.push(busy.post("/v1/cards", { title: `Number ${nth}` }));
          // Calls that arrive together would share one wait.
          await untilWaitingForLock(db, nth);
        }
        expectTooMany(
          await busy.post("/v1/cards", { title: "three" }, { key }),
          /^You have 2 calls in progress/,
        );
        expect((await other.get("/v1/me")).status).toBe(200);
      },
    );
    expect((await Promise.all(created)).map(({ status }) => status)).toEqual([201, 201]);
    // A 429 is not stored under the key: the same key runs after the limit is free.
    const retried = await until(201, () => busy.post("/v1/cards", { title: "three" }, { key }));
    expect(retried.headers.get("idempotent-replay")).toBeNull();
  });

  it("that exceeds its call rate gets 429 with Retry-After and succeeds later", async () => {
    const [often, other] = [await board.as({}), await board.as({})];
    expectTooMany(await until(429, () => often.get("/v1/me")), /make more than 2 calls per second/);
    expect((await other.get("/v1/me")).status).toBe(200);
    expect((await until(200, () => often.get("/v1/me"))).status).toBe(200);
  });
});

describe("the event streams of a credential", () => {
  it("and its waiting polls take no place of its calls, and have a limit of their own", async () => {
    const own = await startSecondService(world, { ...DEFAULT_LIMITS, callsAtOnce: 1, streamsAtOnce: 2 });
    const [key, other] = [await board.as({}), await board.as({})];
    const api = makeApi(own.baseUrl, key.apiKey);
    const first = await openStream(api);
    const { body } = await api.get<{ next: string }>("/v1/events");
    const poll = api.get(`/v1/events?after=${body.next}&wait=25&card=2147483647`);
    // The poll counts as a call until it waits.
    await until(200, () => api.get("/v1/me"));
    const refused = await until(429, () => api.get("/v1/events/stream"));
    expectTooMany(refused, /^You have 2 open event streams/);
    expectTooMany(
      await api.get(`/v1/events?after=${body.next}&wait=25&card=2147483647`),
      /^You have 2 open event streams/,
    );
    expect((await api.get("/v1/me")).status).toBe(200);
    const ofOther = await openStream(makeApi(own.baseUrl, other.apiKey));
    expect([first.status, ofOther.status]).toEqual([200, 200]);
    first.close();
    const again = await eventually(
      () => openStream(api),
      ({ status }) => status === 200,
    );
    again.close();
    ofOther.close();
    await own.stop();
    expect((await poll).status).toBe(200);
  });

  it("are limited together with those of its board, not with those of another", async () => {
    const own = await startSecondService(world, { ...DEFAULT_LIMITS, boardStreamsAtOnce: 2 });
    const neighbor = await world.board();
    const at = ({ apiKey }: Pick<Api, "apiKey">) => makeApi(own.baseUrl, apiKey);
    const streams = [await openStream(at(await board.as({}))), await openStream(at(await board.as({})))];
    expectTooMany(
      await at(await board.as({})).get("/v1/events/stream"),
      /^This board has 2 open event streams/,
    );
    const ofNeighbor = await openStream(at(neighbor.api));
    expect([...streams, ofNeighbor].map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const stream of [...streams, ofNeighbor]) stream.close();
    await own.stop();
  });
});

describe("the stored responses of a credential's writes", () => {
  it("take a bounded space: then writes get 429, while replays, reads and other credentials work", async () => {
    const limited = await startSecondService(world, { ...DEFAULT_LIMITS, storedMegabytesPerDay: 1 });
    try {
      const [often, other] = [await board.as({}), await board.as({})];
      const api = makeApi(limited.baseUrl, often.apiKey);
      const page = { title: "Long", body: "x".repeat(150_000) };
      const created = await api.post<{ id: string }>("/v1/docs", page, { key: "the-first-of-them" });
      const address = `/v1/docs/${created.body.id}`;
      // A small request, with a large response.
      const patched = [];
      for (let nth = 1; nth <= 7; nth++) patched.push(await api.patch(address, {}));
      expect(patched.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 429]);
      const key = "refused-for-its-space";
      expectTooMany(
        await api.patch(address, { title: "Not yet" }, { key }),
        /are stored .* exceed 1 MB per day/,
      );
      expect(await board.db("idempotency_keys").where({ key })).toEqual([]);

      // A refused call would leave a row in the audit log.
      expect((await api.delete("/v1/cards/4711")).status).toBe(429);

      const replayed = await api.post("/v1/docs", page, { key: "the-first-of-them" });
      expect([replayed.text, replayed.headers.get("idempotent-replay")]).toEqual([created.text, "true"]);
      expect((await api.get<{ title: string }>(address)).body.title).toBe("Long");
      const byOther = await makeApi(limited.baseUrl, other.apiKey).patch(address, { title: "Other" });
      expect(byOther.status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});

describe("invalid API keys", () => {
  it("get 401 a few times, then 429, while a valid key from the same address works", async () => {
    const service = await startSecondService(world, LIMITS);
    const { baseUrl } = service;
    try {
      const valid = makeApi(baseUrl, (await board.as({})).apiKey);
      const guess = () => makeApi(baseUrl, makeCredentialKey().text).get("/v1/me");
      expect((await guess()).status).toBe(401);
      expectTooMany(await until(429, guess), /invalid API key or session/);
      expect((await valid.get("/v1/me")).status).toBe(200);
      expectTooMany(await makeApi(baseUrl, "not a key").get("/v1/me"), /invalid API key or session/);
      await until(200, () => valid.get("/v1/me"));
    } finally {
      await service.stop();
    }
  });

  it("are counted by each process separately, and a valid key works at both", async () => {
    const other = await startSecondService(world, LIMITS);
    try {
      const valid = await board.as({});
      const { text: apiKey } = makeCredentialKey();
      const [here, there] = [makeApi(valid.baseUrl, apiKey), makeApi(other.baseUrl, apiKey)];
      await until(429, () => here.get("/v1/me"));
      expect((await there.get("/v1/me")).status).toBe(401);
      for (const url of [valid.baseUrl, other.baseUrl]) {
        await until(200, () => makeApi(url, valid.apiKey).get("/v1/me"));
      }
    } finally {
      await other.stop();
    }
  });

  it("do not include calls without a key", async () => {
    for (let each = 0; each < 10; each++) {
      expect((await fetch(`${board.api.baseUrl}/v1/me`)).status).toBe(401);
    }
  });
});
