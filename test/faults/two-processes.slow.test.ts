import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { createLog } from "../../src/log.ts";
import type { CallMatch } from "../../sandbox/forge/control/match.ts";
import { startService, type RunningService } from "../../src/service.ts";
import { eventually, type Api, type ApiResponse, type MoveResponse } from "../support/api.ts";
import { startDatabaseProxy, type DatabaseProxy } from "../support/database/database-proxy.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardReadyFor, FORGE_WRITES, type ForgeWrite } from "../support/stories/forge-writes.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { apisOf, expireHeartbeat } from "../support/processes/two-processes.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";
import { githubOptions } from "../support/forge/github-options.ts";

let world: TestWorld;
let proxy: DatabaseProxy;
/** A second process of the service whose connection to the database can be interrupted. */
let other: RunningService;
beforeAll(async () => {
  world = await startWorld();
  proxy = await startDatabaseProxy(world.databaseUrl);
  other = await startService({
    databaseUrl: proxy.url,
    host: "127.0.0.1",
    port: 0,
    github: githubOptions(world.forge),
    followsTimetable: false,
    log: createLog("silent"),
  });
});
afterEach(() => world.forge.control.reset());
afterAll(async () => {
  proxy.restore();
  await other.stop();
  await proxy.stop();
  await world.stop();
});

const silenceOther = () => expireHeartbeat(world, other);
const hold = (match: CallMatch, effect: "before" | "after", times: number) =>
  holdCalls(world, match, effect, times);

/** Moves a card at both processes with one key. */
interface Split {
  readonly number: number;
  readonly key: string;
}

type Move = () => Promise<ApiResponse<MoveResponse>>;
const all = (moves: readonly Move[]): Promise<ApiResponse<MoveResponse>[]> =>
  Promise.all(moves.map((move) => move()));

/** Cards of a board whose next move makes the write. */
async function cardsBefore(board: TestBoard, write: ForgeWrite, count: number): Promise<Split[]> {
  const numbers = await Promise.all(Array.from({ length: count }, () => cardReadyFor(board, write)));
  return numbers.map((number) => ({ number, key: `split-${randomUUID()}` }));
}

/** All work was done and recorded once. */
async function expectDoneOnce(
  board: TestBoard,
  cards: readonly Split[],
  to: keyof TestBoard["stages"],
): Promise<void> {
  for (const { number } of cards)
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages[to]);
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
  for (const { number } of cards) {
    const kinds = (await kindsOf(board, number)).filter((kind) => kind !== "pushed");
    const once = kinds.filter((kind) => kind === "branch_created" || kind.startsWith("pull_request_"));
    expect(new Set(once).size).toBe(once.length);
    expect(kinds).not.toContain("promotion_refused");
    const { id } = await board.api.readCard(number);
    expect(await world.service.deps.db("forge_intents").where({ card_id: id, done: false })).toEqual([]);
  }
}

/** The number of moves that are interrupted together at each write: 112 in all. */
const CUT_OFF = 7;
/** The number of moves of a slow process: 104 in all. */
const SLOW = 13;

/** The first process continues after the second has finished the moves, or after it inspected them. */
const LATE = ["after they are finished", "while the other runs them"] as const;
type Late = (typeof LATE)[number];

/** The second process takes over the moves of the first, which then continues. */
async function takenOver(
  late: Late,
  count: number,
  { takeOver, goOn }: Record<"takeOver" | "goOn", () => ReturnType<typeof all>>,
) {
  const { calls } = world.forge.control;
  const counted = async () => {
    const before = calls.read().writes;
    const responses = await goOn();
    return { lateResponses: responses, lateWrites: calls.read().writes - before };
  };
  if (late === "after they are finished") {
    const moved = await takeOver();
    return { moved, ...(await counted()) };
  }
  const inspections = hold({ operation: "Inspect" }, "after", count);
  const moving = takeOver();
  await inspections.arrived();
  const first = await counted();
  inspections.resume();
  return { moved: await moving, ...first };
}

const isFinal = ({ headers }: Pick<ApiResponse, "headers">): boolean => headers.get("retry-after") === null;

describe.each(FORGE_WRITES)("a process that is $doing", (write) => {
  const { match, to } = write;

  /** Cards whose next move makes the write, and that move at both processes. */
  async function split(count: number) {
    const board = await world.board();
    const cards = await cardsBefore(board, write, count);
    await world.forge.waitUntilIdle();
    const [here, there] = await apisOf(world, other, board);
    const moving = (api: Api) =>
      cards.map(
        ({ number, key }) =>
          () =>
            api.move(number, board.stages[to], 0, { key }),
      );
    const expectMoved = async (moved: Awaited<ReturnType<typeof all>>): Promise<void> => {
      for (const { status, body } of moved) {
        expect([status, body.task?.statusId]).toEqual([200, board.stages[to]]);
        expect(body.promoted).toHaveLength(to === "Done" ? 1 : 0);
      }
      await expectDoneOnce(board, cards, to);
      const again = await all(moving(here));
      expect(again.map(({ status, text }) => [status, text])).toEqual(moved.map(({ text }) => [200, text]));
    };
    return { here: moving(here), there: moving(there), expectMoved };
  }

  // Fault: E9 A process loses the database during a call to GitHub => another finishes
  it.each(LATE.flatMap((late) => (["before", "after"] as const).map((effect) => [effect, late] as const)))(
    `for ${CUT_OFF} cards and loses the database %s the effect changes nothing %s; the other finishes the moves`,
    async (effect, late) => {
      const { here, there, expectMoved } = await split(CUT_OFF);
      const calls = hold(match, effect, CUT_OFF);
      const first = all(there);
      await calls.arrived();
      proxy.cut();
      await silenceOther();
      const { moved, lateResponses } = await takenOver(late, CUT_OFF, {
        // On a busy machine a job may continue some of them first; then their callers get 409.
        takeOver: () => Promise.all(here.map((move) => eventually(move, isFinal))),
        goOn: () => {
          proxy.restore();
          calls.resume();
          return first;
        },
      });
      for (const { status } of lateResponses) expect(status).toBeGreaterThanOrEqual(409);
      await expectMoved(moved);
    },
  );

  // Fault: E10 A slow process is considered dead => it stops before its next call
  it.each(LATE)(`for ${SLOW} cards and is considered dead stops before its next call %s`, async (late) => {
    const { here, there, expectMoved } = await split(SLOW);
    const inspections = hold({ operation: "Inspect" }, "after", SLOW);
    const first = all(there);
    await inspections.arrived();
    const moveAtBoth = (move: Move) =>
      eventually(
        async () => {
          await silenceOther();
          return move();
        },
        ({ status }) => status === 200,
      );
    const { moved, lateResponses, lateWrites } = await takenOver(late, SLOW, {
      takeOver: () => Promise.all(here.map(moveAtBoth)),
      goOn: () => {
        inspections.resume();
        return first;
      },
    });
    expect(lateResponses.filter(({ status }) => status !== 409 && status !== 503)).toEqual([]);
    expect(lateWrites).toBe(0);
    await expectMoved(moved);
  });
});

it("a late refusal at a process that lost its move does not change whose merge it is", async () => {
  const write = FORGE_WRITES.find(({ to }) => to === "Done");
  if (!write) throw new Error("no write of a card's life is a merge");
  const { match, to } = write;
  const board = await world.board();
  const [card] = await cardsBefore(board, write, 1);
  if (!card) throw new Error("there is no card");
  const { number, key } = card;
  await world.forge.waitUntilIdle();
  const [here, there] = await apisOf(world, other, board);
  const refused = hold(match, "before", 1);
  const body = {
    status: "failed",
    details: { message: "Merge conflict: the pull request could not be merged." },
  };
  world.forge.control.faults.add({ match, fault: { kind: "response", status: 200, body }, times: 1 });
  const first = there.move(number, board.stages[to], 0, { key });
  await refused.arrived();
  proxy.cut();
  await silenceOther();
  const [merging, answering] = [hold(match, "before", 1), hold(match, "after", 1)];
  const moving = here.move(number, board.stages[to], 0, { key });
  await merging.arrived();
  proxy.restore();
  refused.resume();
  expect((await first).status).toBe(409);
  merging.resume();
  // The webhook arrives before the response.
  const { actor } = await board.api.eventWhen(number, ({ kind }) => kind === "pull_request_merged");
  answering.resume();
  expect(await moving).toMatchObject({ status: 200, body: { promoted: [{ prNumber: 1 }] } });
  await expectDoneOnce(board, [card], to);
  const moved = await board.api.eventWhen(
    number,
    ({ kind, data }) => kind === "status_changed" && data["to"] === board.stages[to],
  );
  expect(actor).toEqual(moved.actor);
});
