/** A pull request whose opening nobody heard of, and that somebody closed before it was looked for. */
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { CATCH_UP_CARD } from "../../src/actions/catch-up-card.ts";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { compared, edit, told } from "../support/repairing.ts";
import { pushTo } from "../support/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => world.forge.control.reset());
afterAll(() => world.stop());

const PULLS = "/repositories/*/pulls";

/** A card in progress whose branch has just been pushed to; word of what becomes of pull requests never comes. */
async function pushed(): Promise<{ board: TestBoard; number: number; push: () => Promise<string> }> {
  const board = await world.board();
  const { number } = await board.api.card();
  await board.api.move(number, board.stages["In progress"]);
  const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  await world.forge.settle();
  const { webhooks } = world.forge.control;
  webhooks.add({ match: { event: "pull_request" }, fault: { kind: "drop", unlogged: true } });
  return { board, number, push: () => pushTo(board, branch, "a.txt") };
}

/** The next pull request is opened and its answer is lost; a look for it is `looking` until that is removed. */
function loseOpening(looking: { kind: "gate" } | { kind: "answer"; status: number }): number {
  const { faults } = world.forge.control;
  const match = { method: "POST", path: PULLS };
  faults.add({ match, fault: { kind: "reset", effect: "after" }, times: 1 });
  return faults.add({ match: { method: "GET", path: PULLS }, fault: looking });
}

const pullsOf = async (board: TestBoard): Promise<unknown> =>
  (await board.person("ada", "GET", `/repos/${board.owner}/web/pulls?state=all`)).body;

async function closedOnce(board: TestBoard): Promise<void> {
  await eventually(
    () => pullsOf(board),
    (pulls) => (pulls as unknown[]).length === 1,
  );
  await edit(board, 1, "closed");
}

/** Once word has come of it. */
async function expectOneClosed(board: TestBoard, number: number): Promise<void> {
  expect(await pullsOf(board)).toMatchObject([{ number: 1, state: "closed" }]);
  await compared(world);
  expect((await board.api.readCard(number)).repositories).toMatchObject([{ prNumber: 1, prState: "closed" }]);
  const items = await told(board, number, "pull_request_opened", "pull_request_closed");
  const kinds = items.map(({ kind, actor }) => [kind, actor.user?.kind]);
  expect(kinds).toEqual([
    ["pull_request_opened", "machine"],
    ["pull_request_closed", "human"],
  ]);
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
}

it("is refused as closed by the move that opened it", async () => {
  const { board, number, push } = await pushed();
  world.forge.control.webhooks.add({ fault: { kind: "drop", unlogged: true } });
  await push();
  const gate = loseOpening({ kind: "gate" });
  const moving = board.api.move(number, board.stages["In review"]);
  await closedOnce(board);
  world.forge.control.faults.remove(gate);
  expect(await moving).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining("#1 was closed without merging") },
  });
  await expectOneClosed(board, number);
});

it("is opened no second time by whoever goes on later", async () => {
  const { board, number, push } = await pushed();
  loseOpening({ kind: "answer", status: 502 });
  await push();
  await closedOnce(board);
  const jobs = () =>
    board.db("graphile_worker.jobs").where({ task_identifier: CATCH_UP_CARD }).select("last_error");
  await eventually(jobs, ([job]) => Boolean(job?.last_error));
  world.forge.control.faults.clear();
  await eventually(jobs, ({ length }) => length === 0, 20_000);
  await expectOneClosed(board, number);
});
