/** A pull request that is closed before Trunkline knows it: the response was lost, or reads lag. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { eventually, type ApiCard } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { runDeferredJobs } from "../support/stories/deferred-jobs.ts";
import { compareWithForge, setPullState, merge, eventsOf } from "../support/stories/repairing.ts";
import { branchOf, pushTo } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { JOBS } from "../../src/store/jobs.ts";

const world = useWorld();
afterEach(() => world.forge.control.reset());

const PULLS = "/repositories/*/pulls";

/** A card in progress and a push to its branch; all pull_request webhooks are lost. */
async function cardToPush(): Promise<{ board: TestBoard; number: number; push: () => Promise<string> }> {
  const board = await world.board();
  const { number } = await board.api.card();
  await board.api.move(number, board.stages["In progress"]);
  const branch = await branchOf(board, number);
  await world.forge.waitUntilIdle();
  const { webhooks } = world.forge.control;
  webhooks.add({ match: { event: "pull_request" }, fault: { kind: "drop", unlogged: true } });
  return { board, number, push: () => pushTo(board, branch, "a.txt") };
}

/** The response to the next opening is lost, and reads of pull requests have `readFault`. */
function loseOpening(readFault: { kind: "hold" } | { kind: "response"; status: number }): number {
  const { faults } = world.forge.control;
  const match = { method: "POST", path: PULLS };
  faults.add({ match, fault: { kind: "reset", effect: "after" }, times: 1 });
  return faults.add({ match: { method: "GET", path: PULLS }, fault: readFault });
}

const pullsOf = async (board: TestBoard): Promise<unknown> =>
  (await board.person("ada", "GET", `/repos/${board.owner}/web/pulls?state=all`)).body;

/** Closes the pull request after it is opened. */
async function closeOpened(board: TestBoard): Promise<void> {
  await eventually(
    () => pullsOf(board),
    (pulls) => (pulls as unknown[]).length === 1,
  );
  await setPullState(board, 1, "closed");
}

/** After a comparison, the card shows one closed pull request, opened by Trunkline. */
async function expectOneClosed(board: TestBoard, number: number): Promise<void> {
  expect(await pullsOf(board)).toMatchObject([{ number: 1, state: "closed" }]);
  await compareWithForge(world);
  expect((await board.api.readCard(number)).repositories).toMatchObject([{ prNumber: 1, prState: "closed" }]);
  const items = await eventsOf(board, number, "pull_request_opened", "pull_request_closed");
  const kinds = items.map(({ kind, actor }) => [kind, actor.user?.kind]);
  expect(kinds).toEqual([
    ["pull_request_opened", "machine"],
    ["pull_request_closed", "human"],
  ]);
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
}

// Fault: C17
it("a move whose pull request was closed unseen is refused as closed", async () => {
  const { board, number, push } = await cardToPush();
  world.forge.control.webhooks.add({ fault: { kind: "drop", unlogged: true } });
  await push();
  const held = loseOpening({ kind: "hold" });
  const moving = board.api.move(number, board.stages["In review"]);
  await closeOpened(board);
  world.forge.control.faults.remove(held);
  expect(await moving).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining("#1 was closed without merging") },
  });
  await expectOneClosed(board, number);
});

it("a retried job does not open a second pull request", async () => {
  const { board, number, push } = await cardToPush();
  loseOpening({ kind: "response", status: 502 });
  await push();
  await closeOpened(board);
  const jobs = () =>
    board.db("graphile_worker.jobs").where({ task_identifier: JOBS.catchUpCard.name }).select("last_error");
  await eventually(jobs, ([job]) => Boolean(job?.last_error));
  world.forge.control.faults.clear();
  await eventually(jobs, ({ length }) => length === 0);
  await expectOneClosed(board, number);
});

// Fault: C11
describe("while reads do not show the opened pull request", () => {
  /** A card in progress; from the next opening on, Trunkline's reads are ten minutes old. */
  async function cardWithStaleReads(): Promise<Awaited<ReturnType<typeof cardToPush>>> {
    const board = await world.board();
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    const branch = await branchOf(board, number);
    await world.forge.waitUntilIdle();
    const { control } = world.forge;
    const installationId = control.installations().find(({ account }) => account === board.owner)?.id;
    control.setStaleReads({
      seconds: 600,
      after: { method: "POST", path: PULLS },
      reads: { installationId },
    });
    return { board, number, push: () => pushTo(board, branch, "a.txt") };
  }

  /** Pushes without a webhook, so that the move opens the pull request. */
  async function pushWithoutWebhook(push: () => Promise<string>): Promise<void> {
    const { webhooks } = world.forge.control;
    webhooks.add({ match: { event: "push" }, fault: { kind: "drop", unlogged: true } });
    await push();
    await world.forge.waitUntilIdle();
  }

  const isState =
    (state: string) =>
    ({ repositories }: ApiCard): boolean =>
      repositories[0]?.prState === state;

  it("a move returns 503 instead of opening a second one, and is refused as closed later", async () => {
    const { board, number, push } = await cardWithStaleReads();
    await push();
    await board.api.cardWhen(number, isState("draft"));
    await setPullState(board, 1, "closed");
    await board.api.cardWhen(number, isState("closed"));
    const review = () => board.api.move(number, board.stages["In review"]);
    const unavailable = await review();
    expect(unavailable.status).toBe(503);
    expect(Number(unavailable.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    world.forge.control.setStaleReads(null);
    expect(await eventually(review, ({ status }) => status !== 503)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("#1 was closed without merging") },
    });
    await expectOneClosed(board, number);
  });

  it("a move whose response was lost does not open a second one after the webhook", async () => {
    const { board, number, push } = await cardWithStaleReads();
    await pushWithoutWebhook(push);
    const held = loseOpening({ kind: "hold" });
    const review = () => board.api.move(number, board.stages["In review"]);
    const moving = review();
    await closeOpened(board);
    await board.api.cardWhen(number, isState("closed"));
    world.forge.control.faults.remove(held);
    expect(await moving).toMatchObject({ status: 503 });
    world.forge.control.setStaleReads(null);
    expect((await eventually(review, ({ status }) => status !== 503)).status).toBe(409);
    await expectOneClosed(board, number);
  });

  it("the move that opened it does not open another, and merges it later", async () => {
    const { board, number, push } = await cardWithStaleReads();
    await pushWithoutWebhook(push);
    world.forge.control.calls.reset();
    const finish = () => board.api.move(number, board.stages.Done);
    expect((await finish()).status).toBe(503);
    expect(world.forge.control.calls.read().routes["POST /repos/{owner}/{repo}/pulls"]).toBe(1);
    world.forge.control.setStaleReads(null);
    expect(await eventually(finish, ({ status }) => status !== 503)).toMatchObject({
      status: 200,
      body: { promoted: [{ prNumber: 1 }] },
    });
    expect(await pullsOf(board)).toHaveLength(1);
  });

  it("new commits after its merge get another pull request later", async () => {
    const { board, number, push } = await cardWithStaleReads();
    await pushWithoutWebhook(push);
    world.forge.control.webhooks.clear();
    await world.forge.control.takeSnapshot();
    const { branchName: head } = (await board.api.readCard(number)).repositories[0] ?? {};
    const pull = { title: "By hand", head, base: "main" };
    await board.person("ada", "POST", `/repos/${board.owner}/web/pulls`, pull);
    await board.api.cardWhen(number, isState("open"));
    await merge(board, 1);
    await board.api.cardWhen(number, isState("merged"));
    await pushTo(board, head ?? "", "b.txt");
    await world.forge.waitUntilIdle();
    const jobs = () => board.db("graphile_worker.jobs").where({ task_identifier: JOBS.catchUpCard.name });
    await eventually(jobs, (left) => left.some(({ run_at }) => run_at > new Date()));
    expect(await pullsOf(board)).toHaveLength(1);
    world.forge.control.setStaleReads(null);
    await runDeferredJobs(world);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prNumber === 2);
    expect(await pullsOf(board)).toMatchObject([
      { state: "open", draft: true },
      { merged_at: expect.any(String) },
    ]);
  });

  it("a move opens another one if reads do not show the first after a minute", async () => {
    const { board, number, push } = await cardWithStaleReads();
    await push();
    await board.api.cardWhen(number, isState("draft"));
    await setPullState(board, 1, "closed");
    await board.api.cardWhen(number, isState("closed"));
    const { db } = board;
    await db("pull_requests").update({ changed_at: db.raw("now() - interval '61 seconds'") });
    expect((await board.api.move(number, board.stages["In review"])).status).toBe(200);
    expect(await pullsOf(board)).toMatchObject([{ number: 2 }, { number: 1 }]);
  });
});
