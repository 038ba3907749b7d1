import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { addJob } from "../../src/store/db/jobs.ts";
import { eventually } from "../support/api.ts";
import { allProcessed, deliver } from "../support/forge/deliveries.ts";
import { expectConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import {
  holdWebhooks,
  loseWebhooks,
  releaseWebhooks,
  reportStatus,
  resumeMovesAfter,
} from "../support/stories/repairing.ts";
import { webAndApi, work } from "../support/forge/repositories.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { JOBS } from "../../src/store/jobs.ts";

const world = useWorld();
let board: TestBoard;
let number: number;
beforeEach(async () => {
  board = await world.board();
  world.forge.webUi.setMergeQueue(`${board.owner}/web`, "main", true);
  ({ number } = await cardWithCommit(board));
});
afterEach(async () => {
  world.forge.control.reset();
  world.forge.settings.hasAsyncMerge = true;
  await allProcessed(world);
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
});

const dequeue = (reason: "CI_FAILURE" | "MERGE_CONFLICT" | "MANUAL", repository = "web") =>
  world.forge.webUi.dequeue(`${board.owner}/${repository}`, 1, reason);
const land = (repository = "web") => world.forge.webUi.mergeQueued(`${board.owner}/${repository}`, 1);
const isQueued = (repository = "web"): boolean => {
  const { id } = world.forge.repository(`${board.owner}/${repository}`);
  const [pull] = world.forge.context.state.pullRequests.inGroup(id);
  return typeof pull?.queuedAt === "string";
};
const toDone = () => board.api.move(number, board.stages.Done);
const blocked = async () => (await board.api.cardWhen(number, (card) => card.blocked !== null)).blocked;
const done = () => board.api.cardWhen(number, (card) => card.statusId === board.stages.Done);

/** A move that has queued the pull request; the returned function releases GitHub's response. */
async function waitingMove() {
  const match = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };
  const { faults } = world.forge.control;
  const held = faults.add({ match, fault: { kind: "hold", effect: "after" }, times: 1 });
  const response = toDone();
  await eventually(() => Promise.resolve(isQueued()), Boolean);
  return async () => {
    faults.remove(held);
    expect((await response).status).toBe(202);
  };
}

// Fault: C10
describe("a pull request that the merge queue removed", () => {
  it.each([true, false])(
    "is not queued again automatically when the webhook is lost (asynchronous merge: %s)",
    async (isAsync) => {
      world.forge.settings.hasAsyncMerge = isAsync;
      expect((await toDone()).status).toBe(202);
      loseWebhooks(world);
      await dequeue("CI_FAILURE");
      await resumeMovesAfter(world, board);
      const why = { reason: "queue_rejected", reasons: [{ details: { reason: "unknown" } }] };
      expect(await board.api.readCard(number)).toMatchObject({ blocked: why });
      expect(isQueued()).toBe(false);
      expect((await toDone()).status).toBe(202);
      expect(isQueued()).toBe(true);
      world.forge.control.reset();
      await land();
      await done();
    },
  );

  it("is refused with the queue's reason, not with a later blocker", async () => {
    await toDone();
    const pull = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls/1`);
    const { sha } = (pull.body as { head: { sha: string } }).head;
    await reportStatus(board, sha, "failure");
    await dequeue("CI_FAILURE");
    expect(await blocked()).toMatchObject({
      reason: "queue_rejected",
      reasons: [{ details: { reason: "CI_FAILURE" } }],
    });
  });

  it("is queued again by a move before its webhook arrives, which is then stale", async () => {
    await toDone();
    holdWebhooks(world);
    await dequeue("CI_FAILURE");
    expect((await toDone()).status).toBe(202);
    expect(isQueued()).toBe(true);
    await releaseWebhooks(world);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    await land();
    expect((await done()).blocked).toBeNull();
  });

  it("is refused although reads lag behind its webhook", async () => {
    await toDone();
    world.forge.control.setStaleReads({ seconds: 2 });
    await world.forge.control.takeSnapshot();
    await dequeue("CI_FAILURE");
    expect(await blocked()).toMatchObject({ reasons: [{ details: { reason: "CI_FAILURE" } }] });
  });

  it("is refused with the queue's reason when the move failed in another repository", async () => {
    board = await world.board({ repositories: ["api", "web"] });
    world.forge.webUi.setMergeQueue(`${board.owner}/api`, "main", true);
    ({ number } = await openCard(world, board, ["api", "web"]));
    const { id } = world.forge.repository(`${board.owner}/web`);
    for (const path of ["merge-async", "merge"]) {
      const match = { method: "PUT", path: `/repositories/${id}/pulls/*/${path}` };
      world.forge.control.faults.add({ match, fault: { kind: "reset" } });
    }
    expect((await toDone()).status).toBe(503);
    expect(isQueued("api")).toBe(true);
    await dequeue("CI_FAILURE", "api");
    expect(await blocked()).toMatchObject({
      repository: `${board.owner}/api`,
      reasons: [{ details: { reason: "CI_FAILURE" } }],
    });
    expect(isQueued("api")).toBe(false);
  });

  it("is refused after its own webhook, not after that of the other repository", async () => {
    world.forge.settings.hasAsyncMerge = false;
    const { board: both, web, api, relink } = await webAndApi(world);
    board = both;
    for (const name of ["web", "api"])
      world.forge.webUi.setMergeQueue(`${board.owner}/${name}`, "main", true);
    ({ number } = await board.api.card({ title: "Say it twice" }));
    await relink(number, [web, api]);
    await board.api.move(number, board.stages["In progress"]);
    await work(board, number, "web");
    await work(board, number, "api");
    expect((await toDone()).body.queued).toHaveLength(2);
    const rule = world.forge.control.webhooks.add({
      match: { event: "pull_request", action: "dequeued" },
      fault: { kind: "hold" },
    });
    await dequeue("MERGE_CONFLICT", "api");
    await land("web");
    await board.api.eventWhen(number, ({ kind }) => kind === "pull_request_merged");
    await allProcessed(world);
    await eventually(
      () => board.db("graphile_worker.jobs").where({ task_identifier: JOBS.resumeQueuedMove.name }),
      ({ length }) => length === 0,
    );
    expect(isQueued("api")).toBe(false);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    world.forge.control.webhooks.remove(rule);
    await world.forge.control.webhooks.release();
    expect(await blocked()).toMatchObject({
      repository: `${board.owner}/api`,
      reasons: [{ details: { reason: "MERGE_CONFLICT" } }],
    });
  });
});

describe("a stale removal from the merge queue", () => {
  it("is ignored when a late job retry carries it", async () => {
    await toDone();
    loseWebhooks(world);
    await land();
    const { id: cardId } = await board.api.readCard(number);
    const where = { cardId, repositoryId: board.repositories["web"], prNumber: 1 };
    // The payload of the previous version.
    await addJob(board.db, JOBS.resumeQueuedMove.name, { ...where, removedFromQueue: "CI_FAILURE" });
    expect((await done()).blocked).toBeNull();
    const merged = (await board.api.timeline(number)).filter(({ kind }) => kind === "pull_request_merged");
    expect(merged).toMatchObject([{ actor: { user: { kind: "machine" } } }]);
  });

  it("is ignored when it arrives after a newer removal", async () => {
    const release = await waitingMove();
    await allProcessed(world);
    const match = { event: "pull_request", action: "dequeued" };
    world.forge.control.webhooks.add({ match, fault: { kind: "hold" } });
    await dequeue("CI_FAILURE");
    await eventually(
      () => Promise.resolve(world.forge.control.webhooks.held()),
      ({ length }) => length === 1,
    );
    const [kept] = world.forge.control.webhooks.held();
    const payload = JSON.parse(kept?.body ?? "{}") as { pull_request: { updated_at: string } };
    const later = new Date(Date.parse(payload.pull_request.updated_at) + 60_000).toISOString();
    const newer = { ...payload.pull_request, updated_at: `${later.slice(0, 19)}Z` };
    await deliver(world, "pull_request", { ...payload, reason: "MERGE_CONFLICT", pull_request: newer });
    await allProcessed(world);
    await releaseWebhooks(world);
    await release();
    expect(await blocked()).toMatchObject({ reasons: [{ details: { reason: "MERGE_CONFLICT" } }] });
  });
});
