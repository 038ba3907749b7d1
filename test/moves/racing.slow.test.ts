import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { makeApi, type Api, type ApiAnswer } from "../support/api.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let second: RunningService;
let board: TestBoard;
let apis: readonly [Api, Api];
beforeAll(async () => {
  world = await startWorld();
  board = await world.board();
  second = await startSecondService(world);
  apis = [board.api, makeApi(second.baseUrl, board.api.apiKey)];
}, 60_000);
afterEach(() => leaveConsistent(world));
afterAll(async () => {
  await second.stop();
  await world.stop();
});

const rounds = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** So many calls at the same moment, half of them at each of two services. */
const atBoth = <Body>(
  count: number,
  call: (api: Api, at: number) => Promise<ApiAnswer<Body>>,
): Promise<ApiAnswer<Body>[]> => Promise.all(rounds(count).map((at) => call(apis[at % 2 ? 1 : 0], at)));

/** Who did not get through was told when to come again, and nothing else. */
function expectTurnedAway(answers: readonly ApiAnswer[]): void {
  for (const { status, headers } of answers) {
    expect(status).toBe(409);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
}

// Fault: E1 Ten callers move one card to one stage => one move
it("a hundred cards, each moved by ten callers at once with keys of their own: each has one branch, cut once", async () => {
  for (const _ of rounds(100)) {
    const { number } = await board.api.card();
    const answers = await atBoth(10, (api) => api.move(number, board.stages["In progress"]));
    expectTurnedAway(answers.filter(({ status }) => status !== 200));
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    const told = (await board.api.timeline(number)).map(({ kind }) => kind);
    expect(told).toEqual(["created", "branch_created", "status_changed"]);
  }
  const branches = await board.person("ada", "GET", `/repos/${board.owner}/web/branches?per_page=100&page=2`);
  // A hundred, and the trunk.
  expect(branches.body).toHaveLength(1);
}, 300_000);

// Fault: E2 One card is moved to two stages => one after the other
it("a hundred cards, each moved two ways at once: one order of the two", async () => {
  const targets = [board.stages["To do"], board.stages["In progress"]];
  for (const _ of rounds(100)) {
    const { number } = await board.api.card();
    const answers = await atBoth(2, (api, at) => api.move(number, targets[at] ?? ""));
    expectTurnedAway(answers.filter(({ status }) => status !== 200));
    const moved = (await board.api.timeline(number)).filter(({ kind }) => kind === "status_changed");
    const done = answers.flatMap(({ status, body }) => (status === 200 ? [body.task.statusId] : []));
    expect(moved).toHaveLength(done.length);
    expect(new Set(moved.map(({ data }) => data["to"]))).toEqual(new Set(done));
    expect((await board.api.readCard(number)).statusId).toBe(moved.at(-1)?.data["to"]);
  }
}, 300_000);

// Fault: E3 Fifty calls use one key => executed once
it("a hundred keys, each used by fifty callers at once: each is carried out once, and has one answer", async () => {
  for (const round of rounds(100)) {
    const key = `racing-${randomUUID()}`;
    const answers = await atBoth(50, (api) => api.post("/v1/cards", { title: `Round ${round}` }, { key }));
    const [made, others] = [
      answers.filter(({ status }) => status === 201),
      answers.filter(({ status }) => status !== 201),
    ];
    expectTurnedAway(others);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    expect(made.filter(({ headers }) => headers.get("idempotent-replay") === null)).toHaveLength(1);
    const { count } =
      (await board
        .db("cards")
        .where({ title: `Round ${round}` })
        .count()
        .first()) ?? {};
    expect(count).toBe(1);
  }
}, 300_000);
