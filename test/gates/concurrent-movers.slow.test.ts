import { afterEach, beforeAll, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";
import { makeApi, type Api } from "../support/api.ts";
import { setGates } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { branchesOf } from "../support/stories/two-targets.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const LIMITS = { ...DEFAULT_LIMITS, callsPerSecond: 1_000_000 };
const MOVERS = 20;

const world = useWorld({ limits: LIMITS });
let second: RunningService;
beforeAll(async () => {
  second = await startSecondService(world, LIMITS);
});
afterEach(() => leaveConsistent(world));

/** The most cards that the events put into a stage at the same time. */
async function mostCards({ db, workspaceId }: TestBoard, stageId: string): Promise<number> {
  const events = await db<{
    id: string;
    workspace_id: string;
    kind: string;
    data: { from: string; to: string };
  }>("events")
    .where({ workspace_id: workspaceId, kind: "status_changed" })
    .orderBy("id")
    .select("id", "data");
  let now = 0;
  return Math.max(
    ...events.map(({ data }) => (now += Number(data.to === stageId) - Number(data.from === stageId))),
  );
}

async function moveAll(board: TestBoard, numbers: readonly number[], statusId: string) {
  const apis: readonly Api[] = [board.api, makeApi(second.baseUrl, board.api.apiKey)];
  const responses = await Promise.all(
    numbers.map(async (number, at) => ({ number, ...(await apis[at % 2]!.move(number, statusId)) })),
  );
  for (const { status, body } of responses.filter((each) => each.status !== 200)) {
    expect([status, body.blocked?.reason]).toEqual([409, "wip_limit"]);
  }
  return responses.filter(({ status }) => status === 200).map(({ number }) => number);
}

it("twenty concurrent movers on two processes never exceed a limit of one", async () => {
  const board = await world.board();
  const cards = [];
  for (let count = 0; count < MOVERS; count++) cards.push(await board.api.card({ repositoryIds: [] }));
  const numbers = cards.map(({ number }) => number);
  await setGates(board, "To do", { wipLimit: 1 });
  for (let round = 0; round < 10; round++) {
    const moved = await moveAll(board, numbers, board.stages["To do"]);
    expect(moved).toHaveLength(1);
    await board.api.move(moved[0]!, board.stages.Backlog);
  }
  expect(await mostCards(board, board.stages["To do"])).toBe(1);
});

it("twenty movers whose moves run on GitHub for a second do one of them", async () => {
  const board = await world.board();
  const cards = [];
  for (let count = 0; count < MOVERS; count++) cards.push(await board.api.card());
  await setGates(board, "In progress", { wipLimit: 1 });
  world.forge.control.faults.add({ fault: { kind: "delay", ms: 1_000, effect: "before" } });
  const numbers = cards.map(({ number }) => number);
  const moved = await moveAll(board, numbers, board.stages["In progress"]);
  expect(moved).toHaveLength(1);
  world.forge.control.faults.clear();
  expect(await mostCards(board, board.stages["In progress"])).toBe(1);
  expect((await branchesOf(board)).filter((name) => name !== "main")).toHaveLength(1);
});
