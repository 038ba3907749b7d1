/** A comparison that was asked for while an account could not be asked is made up for, and nobody has to ask for it again. */
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { RECONCILE } from "../../src/actions/reconcile/reconcile-later.ts";
import { scheduleRepairs } from "../../src/jobs/tasks.ts";
import { FOLLOW_TRUNKS, followTrunks } from "../../src/actions/reconcile/follow-trunk.ts";
import {
  recordRefusal,
  CHECK_REFUSED_INSTALLATION,
} from "../../src/actions/installations/refused-installation.ts";
import { eventually } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { brokenIn, brokenWhen, onForge } from "../support/forge/installations.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { runDeferredJobs } from "../support/stories/deferred-jobs.ts";
import { loseWebhooks, push, releaseWebhooks, eventsOf } from "../support/stories/repairing.ts";
import { readTrunk } from "../support/stories/trunk.ts";
import { pushTo } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
  // The first look at the forge's log finds that nobody had looked before, and asks for a comparison in a minute.
  await scheduleRepairs(world.service.deps.db);
  await putOff(RECONCILE, 1);
  await runDeferredJobs(world);
  await putOff(RECONCILE, 0);
});
afterEach(() => world.forge.control.faults.clear());
afterEach(() => releaseWebhooks(world));
afterAll(() => expectAllConsistent(world));
afterAll(() => world.stop());

/** A card whose branch was pushed to, and its checks reported, unheard. */
async function unheardPush(board: TestBoard): Promise<{ number: number; sha: string }> {
  const { number, branchName } = await openCard(world, board);
  await allProcessed(world);
  loseWebhooks(world);
  const sha = await push(board, branchName);
  const report = { state: "pending", context: "ci" };
  await board.person("ada", "POST", `/repos/${board.owner}/web/statuses/${sha}`, report);
  return { number, sha };
}

/** From now on the account's tokens are refused, and new ones are not given out. */
function refuse(board: TestBoard, status: number): void {
  const { installation } = onForge(world, board);
  const { faults } = world.forge.control;
  const fault = {
    kind: "answer",
    status,
    body: { message: "This installation has been suspended" },
  } as const;
  faults.add({ match: { path: `/app/installations/${installation.id}/access_tokens` }, fault });
  faults.add({ match: { installationId: installation.id }, fault });
}

const waiting = (task: string) =>
  world.service.deps.db("graphile_worker.jobs").where("task_identifier", task);
/** When the jobs of this name that are left are put off: the others are done. */
const putOff = (task: string, count: number) =>
  eventually(
    () => waiting(task),
    (jobs) => jobs.length === count && jobs.every(({ run_at: at }) => at > Date.now() + 30_000),
  );

/** Repair is asked for, and all that can be done now is. */
async function repaired(comparisonsLeft: number): Promise<void> {
  await scheduleRepairs(world.service.deps.db);
  await putOff(RECONCILE, comparisonsLeft);
}

async function expectFound(
  board: TestBoard,
  { number, sha }: { number: number; sha: string },
): Promise<void> {
  await board.api.cardWhen(number, ({ repositories: [link] }) => link?.checksState === "pending");
  const pushes = (await eventsOf(board, number, "pushed")).filter(({ data }) => data["after"] === sha);
  expect(pushes).toHaveLength(1);
  expect(
    await eventually(
      () => waiting(RECONCILE),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
}

// Fault: C19 A comparison meets a refused account => repeated when access returns
it.each([401, 403])("asked for while the forge refuses us the account (%i)", async (status) => {
  const board = await world.board();
  const card = await unheardPush(board);
  refuse(board, status);
  await board.api.get(`/v1/cards/${card.number}/reviews`);
  expect(await brokenIn(board)).toHaveLength(1);
  await putOff(CHECK_REFUSED_INSTALLATION, 1);
  await repaired(0);
  await repaired(0);

  world.forge.control.faults.clear();
  await runDeferredJobs(world);
  await brokenWhen(board, 0);
  await expectFound(board, card);
});

it.each([401, 403])("which meets the refusal (%i) itself", async (status) => {
  const board = await world.board();
  const card = await unheardPush(board);
  refuse(board, status);
  await repaired(0);
  await putOff(CHECK_REFUSED_INSTALLATION, 1);
  expect(await brokenIn(board)).toHaveLength(1);

  world.forge.control.faults.clear();
  await runDeferredJobs(world);
  await brokenWhen(board, 0);
  await expectFound(board, card);
});

it("whose question the forge does not answer", async () => {
  const board = await world.board();
  const card = await unheardPush(board);
  world.forge.control.faults.add({
    match: { installationId: onForge(world, board).installation.id, path: "/graphql" },
    fault: { kind: "answer", status: 502 },
  });
  await repaired(1);

  world.forge.control.faults.clear();
  await runDeferredJobs(world);
  await expectFound(board, card);
});

/** A commit on the trunk that nobody told of; gives it. */
async function unheardLanding(board: TestBoard): Promise<string> {
  await followTrunks(world.service.deps);
  loseWebhooks(world);
  return pushTo(board, "main", "landed.txt");
}

/** Once the jobs that were put off are brought forward. */
async function expectLanded(board: TestBoard, sha: string): Promise<void> {
  expect((await readTrunk(board.api)).landings.map((landing) => landing.sha)).not.toContain(sha);
  world.forge.control.faults.clear();
  await runDeferredJobs(world);
  await eventually(
    () => readTrunk(board.api),
    ({ landings }) => landings.some((landing) => landing.sha === sha),
  );
}

it.each(["before", "by the look itself"])(
  "trunks whose account refuses us are looked at once it is back, the refusal met %s",
  async (when) => {
    const board = await world.board();
    const sha = await unheardLanding(board);
    refuse(board, 403);
    const { installation } = onForge(world, board);
    if (when === "before") await recordRefusal(world.service.deps, installation.id, "No");
    await followTrunks(world.service.deps);
    await putOff(CHECK_REFUSED_INSTALLATION, 1);
    expect(await waiting(FOLLOW_TRUNKS)).toEqual([]);
    expect(await brokenIn(board)).toHaveLength(1);
    await expectLanded(board, sha);
  },
);

it.each(["Inspect", "LandedHistory"])(
  "trunks of which the forge does not say are looked at a minute later (%s)",
  async (operation) => {
    const board = await world.board();
    const sha = await unheardLanding(board);
    const { installation } = onForge(world, board);
    const match = { installationId: installation.id, operation };
    world.forge.control.faults.add({ match, fault: { kind: "answer", status: 502 } });
    await followTrunks(world.service.deps);
    await putOff(FOLLOW_TRUNKS, 1);
    await expectLanded(board, sha);
  },
);
