import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { makeApi, type Api, type ApiResponse } from "../support/api.ts";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

/** A fast machine makes more than 500 calls per second here. */
const LIMITS = { ...DEFAULT_LIMITS, callsPerSecond: 1_000_000 };

const world = useWorld({ limits: LIMITS });
let second: RunningService;
let board: TestBoard;
let apis: readonly [Api, Api];
beforeAll(async () => {
  board = await world.board();
  second = await startSecondService(world, LIMITS);
  apis = [board.api, makeApi(second.baseUrl, board.api.apiKey)];
});
afterEach(() => leaveConsistent(world));

const rounds = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** Makes `count` concurrent calls, half of them at each of two processes. */
const callBoth = <Body>(
  count: number,
  call: (api: Api, at: number) => Promise<ApiResponse<Body>>,
): Promise<ApiResponse<Body>[]> => Promise.all(rounds(count).map((at) => call(apis[at % 2 ? 1 : 0], at)));

/** Every refused call got 409 with Retry-After. */
function expectConflicts(responses: readonly ApiResponse[]): void {
  for (const { status, headers } of responses) {
    expect(status).toBe(409);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
}

// Fault: E1 Ten callers move one card to one stage => one move
it("ten concurrent moves of a card with different keys create one branch, for each of a hundred cards", async () => {
  for (const _ of rounds(100)) {
    const { number } = await board.api.card();
    const responses = await callBoth(10, (api) => api.move(number, board.stages["In progress"]));
    expectConflicts(responses.filter(({ status }) => status !== 200));
    expect(responses.some(({ status }) => status === 200)).toBe(true);
    const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
    expect(kinds).toEqual(["created", "branch_created", "status_changed"]);
  }
  const branches = await board.person("ada", "GET", `/repos/${board.owner}/web/branches?per_page=100&page=2`);
  // The second page has one branch: a hundred card branches and the trunk.
  expect(branches.body).toHaveLength(1);
});

// Fault: E2 One card is moved to two stages => one after the other
it("two concurrent moves of a card into different stages run one after the other, for each of a hundred cards", async () => {
  const targets = [board.stages["To do"], board.stages["In progress"]];
  for (const _ of rounds(100)) {
    const { number } = await board.api.card();
    const responses = await callBoth(2, (api, at) => api.move(number, targets[at] ?? ""));
    expectConflicts(responses.filter(({ status }) => status !== 200));
    const moved = (await board.api.timeline(number)).filter(({ kind }) => kind === "status_changed");
    const done = responses.flatMap(({ status, body }) => (status === 200 ? [body.task.statusId] : []));
    expect(moved).toHaveLength(done.length);
    expect(new Set(moved.map(({ data }) => data["to"]))).toEqual(new Set(done));
    expect((await board.api.readCard(number)).statusId).toBe(moved.at(-1)?.data["to"]);
  }
});

// Fault: E3 Fifty calls use one key => executed once
it("fifty concurrent calls with one key execute it once and get one response, for each of a hundred keys", async () => {
  for (const round of rounds(100)) {
    const key = `racing-${randomUUID()}`;
    const responses = await callBoth(50, (api) =>
      api.post("/v1/cards", { title: `Round ${round}` }, { key }),
    );
    const [created, others] = [
      responses.filter(({ status }) => status === 201),
      responses.filter(({ status }) => status !== 201),
    ];
    expectConflicts(others);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    expect(created.filter(({ headers }) => headers.get("idempotent-replay") === null)).toHaveLength(1);
    const { count } =
      (await board
        .db("cards")
        .where({ title: `Round ${round}` })
        .count()
        .first()) ?? {};
    expect(count).toBe(1);
  }
});
