import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { RESUME_QUEUED_MOVE, resumeOrphanedMoves } from "../../src/actions/moves/resume-move.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { eventually } from "../support/api.ts";
import { allWorked, deliver } from "../support/forge/deliveries.ts";
import { expectConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { hold, lose, released } from "../support/stories/repairing.ts";
import { webAndApi, work } from "../support/forge/repositories.ts";
import { workedCard } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
let number: number;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  board = await world.board();
  world.forge.pages.setMergeQueue(`${board.owner}/web`, "main", true);
  ({ number } = await workedCard(board));
});
afterEach(async () => {
  world.forge.control.reset();
  world.forge.settings.hasAsyncMerge = true;
  await allWorked(world);
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
});
afterAll(() => world.stop());

const dequeue = (reason: "CI_FAILURE" | "MERGE_CONFLICT" | "MANUAL", repository = "web") =>
  world.forge.pages.dequeue(`${board.owner}/${repository}`, 1, reason);
const land = (repository = "web") => world.forge.pages.landQueued(`${board.owner}/${repository}`, 1);
const isQueued = (repository = "web"): boolean => {
  const { id } = world.forge.repository(`${board.owner}/${repository}`);
  const [pull] = world.forge.context.state.pullRequests.in(id);
  return typeof pull?.queuedAt === "string";
};
const toDone = () => board.api.move(number, board.stages.Done);
const blocked = async () => (await board.api.cardWhen(number, (card) => card.blocked !== null)).blocked;
const done = () => board.api.cardWhen(number, (card) => card.statusId === board.stages.Done);

/** Some minutes without a word go by. */
async function afterMinutes(): Promise<void> {
  const updated_at = board.db.raw("now() - interval '6 minutes'");
  await board.db("operations").where({ workspace_id: board.workspaceId }).update({ updated_at });
  await resumeOrphanedMoves(world.service.deps);
}

/** A call that has put the pull request into the queue and waits for the answer, until it is let go. */
async function heldCall() {
  const match = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };
  const { faults } = world.forge.control;
  const gate = faults.add({ match, fault: { kind: "gate", effect: "after" }, times: 1 });
  const answer = toDone();
  await eventually(() => Promise.resolve(isQueued()), Boolean);
  return async () => {
    faults.remove(gate);
    expect((await answer).status).toBe(202);
  };
}

// Fault: C10
describe("what the forge's queue threw out", () => {
  it.each([true, false])(
    "is not put there again where word of it was lost (asynchronous merge: %s)",
    async (isAsync) => {
      world.forge.settings.hasAsyncMerge = isAsync;
      expect((await toDone()).status).toBe(202);
      lose(world);
      await dequeue("CI_FAILURE");
      await afterMinutes();
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

  it("is called so, and not by what stands in its way since", async () => {
    await toDone();
    const pull = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls/1`);
    const { sha } = (pull.body as { head: { sha: string } }).head;
    const status = { state: "failure", context: "ci" };
    await board.person("ada", "POST", `/repos/${board.owner}/web/statuses/${sha}`, status);
    await dequeue("CI_FAILURE");
    expect(await blocked()).toMatchObject({
      reason: "queue_rejected",
      reasons: [{ details: { reason: "CI_FAILURE" } }],
    });
  });

  it("is put there again by whoever moves the card before the queue's word has come, and that word is old news then", async () => {
    await toDone();
    hold(world);
    await dequeue("CI_FAILURE");
    expect((await toDone()).status).toBe(202);
    expect(isQueued()).toBe(true);
    await released(world);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    await land();
    expect((await done()).blocked).toBeNull();
  });

  it("is found out although reads lag behind the queue's word", async () => {
    await toDone();
    world.forge.control.staleReads({ seconds: 2 });
    await world.forge.control.keepStale();
    await dequeue("CI_FAILURE");
    expect(await blocked()).toMatchObject({ reasons: [{ details: { reason: "CI_FAILURE" } }] });
  });

  it("is refused for its word where the move could not go on in another repository", async () => {
    board = await world.board({ repositories: ["api", "web"] });
    world.forge.pages.setMergeQueue(`${board.owner}/api`, "main", true);
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

  it("waits for its word when only the other repository's has come", async () => {
    world.forge.settings.hasAsyncMerge = false;
    const { board: both, web, api, relink } = await webAndApi(world);
    board = both;
    for (const name of ["web", "api"])
      world.forge.pages.setMergeQueue(`${board.owner}/${name}`, "main", true);
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
    await allWorked(world);
    await eventually(
      () => board.db("graphile_worker.jobs").where({ task_identifier: RESUME_QUEUED_MOVE }),
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

describe("older news of the forge's queue", () => {
  it("does not win when a job carries it that is tried again late", async () => {
    await toDone();
    lose(world);
    await land();
    const { id: cardId } = await board.api.readCard(number);
    const where = { cardId, repositoryId: board.repositories["web"], prNumber: 1 };
    // As the version before wrote it down.
    await addJob(board.db, RESUME_QUEUED_MOVE, { ...where, thrownOut: "CI_FAILURE" });
    expect((await done()).blocked).toBeNull();
    const merged = (await board.api.timeline(number)).filter(({ kind }) => kind === "pull_request_merged");
    expect(merged).toMatchObject([{ actor: { user: { kind: "machine" } } }]);
  });

  it("does not win by coming last: the newest word is told", async () => {
    const letGo = await heldCall();
    await allWorked(world);
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
    await allWorked(world);
    await released(world);
    await letGo();
    expect(await blocked()).toMatchObject({ reasons: [{ details: { reason: "MERGE_CONFLICT" } }] });
  });
});
