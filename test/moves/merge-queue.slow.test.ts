import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { resumeOrphanedMoves } from "../../src/actions/moves/resume-move.ts";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { lose } from "../support/stories/repairing.ts";
import { webAndApi, work } from "../support/forge/repositories.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
let number: number;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => expectConsistent({ forge: world.forge, db: world.service.deps.db }, board));
afterAll(() => world.stop());

beforeEach(async () => {
  board = await world.board();
  world.forge.pages.setMergeQueue(`${board.owner}/web`, "main", true);
  ({ number } = await board.api.card({ title: "Say hello" }));
  await board.api.move(number, board.stages["In progress"]);
  const clone = await board.clone();
  await clone.checkout((await board.api.readCard(number)).repositories[0]?.branchName ?? "");
  await clone.commit("Say hello", { "hello.txt": "hello\n" });
  await clone.push();
  await clone.remove();
  await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
});

/** Some minutes without a word go by. */
async function afterMinutes(): Promise<void> {
  const updated_at = board.db.raw("now() - interval '6 minutes'");
  await board.db("operations").where({ workspace_id: board.workspaceId }).update({ updated_at });
  await resumeOrphanedMoves(world.service.deps);
}

// Fault: C10
describe("a move into a branch with a merge queue", () => {
  it("answers that it waits, and the card moves by itself when the queue lands it", async () => {
    const answer = await board.api.move(number, board.stages.Done);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      task: { number, statusId: board.stages["In progress"], blocked: null },
      promoted: [],
      queued: [{ fullName: `${board.owner}/web`, prNumber: 1, targetBranch: "main" }],
    });
    expect((await board.api.readCard(number)).statusId).toBe(board.stages["In progress"]);
    await world.forge.pages.landQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    const told = await board.api.timeline(number);
    expect(told.slice(-2)).toMatchObject([
      { kind: "pull_request_merged", actor: { login: null, user: { kind: "machine" } } },
      { kind: "status_changed", actor: { login: null, user: { kind: "machine" } } },
    ]);
    expect(told.filter(({ kind }) => kind === "pull_request_merged")).toHaveLength(1);
  });

  it("is refused when the queue throws it out, and may be tried again", async () => {
    await board.api.move(number, board.stages.Done);
    await world.forge.pages.dequeue(`${board.owner}/web`, 1, "CI_FAILURE");
    const { blocked, statusId } = await board.api.cardWhen(number, (card) => card.blocked !== null);
    expect(statusId).toBe(board.stages["In progress"]);
    expect(blocked).toMatchObject({ reason: "queue_rejected", repository: `${board.owner}/web` });
    expect(blocked?.message).toContain("CI_FAILURE");
    const again = await board.api.move(number, board.stages.Done);
    expect(again.status).toBe(202);
    await world.forge.pages.landQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, (card) => card.statusId === board.stages.Done);
  });

  it("is asked for once, however often the caller comes back", async () => {
    const answers = [
      await board.api.move(number, board.stages.Done),
      await board.api.move(number, board.stages.Done),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(409);
    await world.forge.pages.landQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    const merged = await eventually(
      () => board.api.timeline(number),
      (told) => told.some(({ kind }) => kind === "pull_request_merged"),
    );
    expect(merged.filter(({ kind }) => kind === "pull_request_merged")).toHaveLength(1);
  });

  it("is looked at again after some minutes without news, and refused where word of its end was lost", async () => {
    const name = `${board.owner}/web`;
    await board.api.move(number, board.stages.Done);
    await afterMinutes();
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    lose(world);
    await world.forge.pages.dequeue(name, 1, "CI_FAILURE");
    world.forge.control.webhooks.clear();
    await afterMinutes();
    expect((await board.api.readCard(number)).blocked).toMatchObject({
      reason: "queue_rejected",
      reasons: [{ details: { reason: "unknown" } }],
    });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    lose(world);
    await world.forge.pages.landQueued(name, 1);
    world.forge.control.webhooks.clear();
    await afterMinutes();
    expect(await board.api.readCard(number)).toMatchObject({ statusId: board.stages.Done, blocked: null });
  });

  it("waits on while checks are run again: what is in the queue is the queue's to judge", async () => {
    await board.api.move(number, board.stages.Done);
    const pull = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls/1`);
    const { sha } = (pull.body as { head: { sha: string } }).head;
    for (const state of ["pending", "failure"]) {
      await board.person("ada", "POST", `/repos/${board.owner}/web/statuses/${sha}`, {
        state,
        context: "ci",
      });
      await afterMinutes();
      expect(await board.api.readCard(number)).toMatchObject({ blocked: null });
      expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    }
    await world.forge.pages.landQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  });

  it("is refused where word of its end was lost and there is no asynchronous merge to ask about", async () => {
    const match = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };
    const body = { message: "Not Found" };
    world.forge.control.faults.add({ match, fault: { kind: "answer", status: 404, body } });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    await afterMinutes();
    expect((await board.api.readCard(number)).blocked).toBeNull();
    lose(world);
    await world.forge.pages.dequeue(`${board.owner}/web`, 1, "CI_FAILURE");
    world.forge.control.webhooks.clear();
    await afterMinutes();
    expect((await board.api.readCard(number)).blocked).toMatchObject({ reason: "queue_rejected" });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    world.forge.control.faults.clear();
    await world.forge.pages.landQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  });

  it("keeps apart what the queues of two repositories say, and calls what lands its own", async () => {
    const { board: both, web, api, relink } = await webAndApi(world);
    board = both;
    const names = [`${board.owner}/web`, `${board.owner}/api`] as const;
    for (const name of names) world.forge.pages.setMergeQueue(name, "main", true);
    ({ number } = await board.api.card({ title: "Say it twice" }));
    await relink(number, [web, api]);
    await board.api.move(number, board.stages["In progress"]);
    await work(board, number, "web");
    await work(board, number, "api");
    const waiting = await board.api.move(number, board.stages.Done);
    expect(waiting).toMatchObject({ status: 202, body: { queued: [{}, {}] } });
    // The second repository is the one thrown out, so that naming the first would be seen.
    const [lands = "", leaves = ""] = (waiting.body["queued"] as { fullName: string }[]).map(
      ({ fullName }) => fullName,
    );
    await world.forge.pages.dequeue(leaves, 1, "CI_FAILURE");
    const { blocked } = await board.api.cardWhen(number, (card) => card.blocked !== null);
    expect(blocked).toMatchObject({ reason: "queue_rejected", repository: leaves });
    await world.forge.pages.landQueued(lands, 1);
    await eventually(
      () => board.api.timeline(number),
      (told) => told.some(({ kind }) => kind === "pull_request_merged"),
    );
    const merged = (await board.api.timeline(number)).filter(({ kind }) => kind === "pull_request_merged");
    expect(merged).toMatchObject([{ repositoryFullName: lands, actor: { user: { kind: "machine" } } }]);
    const inbox = await board.api.get<{ kind: string }[]>("/v1/inbox");
    expect(JSON.stringify(inbox.body)).not.toContain("pr_merged_outside");
    const again = await board.api.move(number, board.stages.Done);
    expect(again).toMatchObject({ status: 202, body: { queued: [{ fullName: leaves }] } });
    await world.forge.pages.landQueued(leaves, 1);
    await board.api.cardWhen(number, (card) => card.statusId === board.stages.Done);
  });
});
