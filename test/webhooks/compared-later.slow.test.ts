/** A reconciliation that fails because of a refused account is repeated when access returns. */
import { afterEach, beforeAll, expect, it } from "@jest/globals";
import { scheduleRepairs } from "../../src/jobs/tasks.ts";
import { followAllTrunks } from "../../src/actions/trunks/follow-trunk.ts";
import { recordRefusal } from "../../src/actions/installations/refused-installation.ts";
import { eventually } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { brokenIn, brokenWhen, onForge } from "../support/forge/installations.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { runDeferredJobs } from "../support/stories/deferred-jobs.ts";
import { loseWebhooks, push, releaseWebhooks, eventsOf } from "../support/stories/repairing.ts";
import { readTrunk } from "../support/stories/trunk.ts";
import { pushTo } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { JOBS } from "../../src/store/jobs.ts";

const world = useWorld({}, expectAllConsistent);
beforeAll(async () => {
  // The first read of GitHub's log finds no earlier one and schedules a reconciliation in a minute.
  await scheduleRepairs(world.service.deps.db);
  await scheduled(JOBS.reconcile.name, 1);
  await runDeferredJobs(world);
  await scheduled(JOBS.reconcile.name, 0);
});
afterEach(() => world.forge.control.faults.clear());
afterEach(() => releaseWebhooks(world));

/** A card with a push and check results whose webhooks were lost. */
async function missedPush(board: TestBoard): Promise<{ number: number; sha: string }> {
  const { number, branchName } = await openCard(world, board);
  await allProcessed(world);
  loseWebhooks(world);
  const sha = await push(board, branchName);
  const report = { state: "pending", context: "ci" };
  await board.person("ada", "POST", `/repos/${board.owner}/web/statuses/${sha}`, report);
  return { number, sha };
}

/** Makes the forge refuse the account's tokens and mint no new ones. */
function refuse(board: TestBoard, status: number): void {
  const { installation } = onForge(world, board);
  const { faults } = world.forge.control;
  const fault = {
    kind: "response",
    status,
    body: { message: "This installation has been suspended" },
  } as const;
  faults.add({ match: { path: `/app/installations/${installation.id}/access_tokens` }, fault });
  faults.add({ match: { installationId: installation.id }, fault });
}

const waiting = (task: string) =>
  world.service.deps.db("graphile_worker.jobs").where("task_identifier", task);
/** The times at which the remaining jobs with this name run. */
const scheduled = (task: string, count: number) =>
  eventually(
    () => waiting(task),
    (jobs) => jobs.length === count && jobs.every(({ run_at: at }) => at > Date.now() + 30_000),
  );

/** Starts the repair and waits for the jobs that can run now. */
async function repaired(comparisonsLeft: number): Promise<void> {
  await scheduleRepairs(world.service.deps.db);
  await scheduled(JOBS.reconcile.name, comparisonsLeft);
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
      () => waiting(JOBS.reconcile.name),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
}

// Fault: C19 A comparison meets a refused account => repeated when access returns
it.each([401, 403])(
  "a reconciliation that starts while GitHub refuses the account (%i) finds the changes later",
  async (status) => {
    const board = await world.board();
    const card = await missedPush(board);
    refuse(board, status);
    await board.api.get(`/v1/cards/${card.number}/reviews`);
    expect(await brokenIn(board)).toHaveLength(1);
    await scheduled(JOBS.checkRefusedInstallation.name, 1);
    await repaired(0);
    await repaired(0);

    world.forge.control.faults.clear();
    await runDeferredJobs(world);
    await brokenWhen(board, 0);
    await expectFound(board, card);
  },
);

it.each([401, 403])(
  "a reconciliation that is the first to be refused (%i) finds the changes later",
  async (status) => {
    const board = await world.board();
    const card = await missedPush(board);
    refuse(board, status);
    await repaired(0);
    await scheduled(JOBS.checkRefusedInstallation.name, 1);
    expect(await brokenIn(board)).toHaveLength(1);

    world.forge.control.faults.clear();
    await runDeferredJobs(world);
    await brokenWhen(board, 0);
    await expectFound(board, card);
  },
);

it("a reconciliation without a response from GitHub finds the changes later", async () => {
  const board = await world.board();
  const card = await missedPush(board);
  world.forge.control.faults.add({
    match: { installationId: onForge(world, board).installation.id, path: "/graphql" },
    fault: { kind: "response", status: 502 },
  });
  await repaired(1);

  world.forge.control.faults.clear();
  await runDeferredJobs(world);
  await expectFound(board, card);
});

/** A commit on the trunk without a webhook. */
async function missedLanding(board: TestBoard): Promise<string> {
  await followAllTrunks(world.service.deps);
  loseWebhooks(world);
  return pushTo(board, "main", "landed.txt");
}

/** Waits for the landing after the scheduled jobs were moved forward. */
async function expectLandingLater(board: TestBoard, sha: string): Promise<void> {
  expect((await readTrunk(board.api)).landings.map((landing) => landing.sha)).not.toContain(sha);
  world.forge.control.faults.clear();
  await runDeferredJobs(world);
  await eventually(
    () => readTrunk(board.api),
    ({ landings }) => landings.some((landing) => landing.sha === sha),
  );
}

it.each(["before", "by the inspection itself"])(
  "trunks of a refused account are inspected when access returns; the refusal is found %s",
  async (when) => {
    const board = await world.board();
    const sha = await missedLanding(board);
    refuse(board, 403);
    const { installation } = onForge(world, board);
    if (when === "before") await recordRefusal(world.service.deps, installation.id, "No");
    await followAllTrunks(world.service.deps);
    await scheduled(JOBS.checkRefusedInstallation.name, 1);
    // Jobs for the accounts of other tests may wait.
    const key = `${JOBS.followAllTrunks.name}:${installation.id}`;
    expect(await waiting(JOBS.followAllTrunks.name).where({ key })).toEqual([]);
    expect(await brokenIn(board)).toHaveLength(1);
    await expectLandingLater(board, sha);
  },
);

it.each(["Inspect", "LandedHistory"])(
  "trunks are inspected a minute later if GitHub does not respond (%s)",
  async (operation) => {
    const board = await world.board();
    const sha = await missedLanding(board);
    const { installation } = onForge(world, board);
    const match = { installationId: installation.id, operation };
    world.forge.control.faults.add({ match, fault: { kind: "response", status: 502 } });
    await followAllTrunks(world.service.deps);
    await scheduled(JOBS.followAllTrunks.name, 1);
    await expectLandingLater(board, sha);
  },
);
