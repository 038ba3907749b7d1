import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { loseWebhooks, reportStatus, resumeMovesAfter } from "../support/stories/repairing.ts";
import { webAndApi, work } from "../support/forge/repositories.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let number: number;
afterEach(() => expectConsistent({ forge: world.forge, db: world.service.deps.db }, board));

beforeEach(async () => {
  board = await world.board();
  world.forge.webUi.setMergeQueue(`${board.owner}/web`, "main", true);
  ({ number } = await cardWithCommit(board, "In progress"));
});

// Fault: C10
describe("a move into a branch with a merge queue", () => {
  it("returns 202, and the card moves automatically after the queue merged it", async () => {
    const response = await board.api.move(number, board.stages.Done);
    expect(response.status).toBe(202);
    expect(response.body).toMatchObject({
      task: { number, statusId: board.stages["In progress"], blocked: null },
      promoted: [],
      queued: [{ fullName: `${board.owner}/web`, prNumber: 1, targetBranch: "main" }],
    });
    expect((await board.api.readCard(number)).statusId).toBe(board.stages["In progress"]);
    await world.forge.webUi.mergeQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    const timeline = await board.api.timeline(number);
    expect(timeline.slice(-2)).toMatchObject([
      { kind: "pull_request_merged", actor: { login: null, user: { kind: "machine" } } },
      { kind: "status_changed", actor: { login: null, user: { kind: "machine" } } },
    ]);
    expect(timeline.filter(({ kind }) => kind === "pull_request_merged")).toHaveLength(1);
  });

  it("is refused when the queue removes the pull request, and can be retried", async () => {
    await board.api.move(number, board.stages.Done);
    await world.forge.webUi.dequeue(`${board.owner}/web`, 1, "CI_FAILURE");
    const { blocked, statusId } = await board.api.cardWhen(number, (card) => card.blocked !== null);
    expect(statusId).toBe(board.stages["In progress"]);
    expect(blocked).toMatchObject({ reason: "queue_rejected", repository: `${board.owner}/web` });
    expect(blocked?.message).toContain("CI_FAILURE");
    const again = await board.api.move(number, board.stages.Done);
    expect(again.status).toBe(202);
    await world.forge.webUi.mergeQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, (card) => card.statusId === board.stages.Done);
  });

  it("cannot be repeated with another head while it is queued", async () => {
    const body = { statusId: board.stages.Done, index: 0 };
    const path = `/v1/cards/${number}/move`;
    expect((await board.api.post(path, body)).status).toBe(202);
    const headShas = { [`${board.owner}/web`]: "a".repeat(40) };
    const other = await board.api.post(path, { ...body, headShas });
    expect([other.status, other.headers.get("retry-after")]).toEqual([409, "30"]);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    await world.forge.webUi.mergeQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  });

  it("queues the pull request once, however often the caller repeats it", async () => {
    const responses = [
      await board.api.move(number, board.stages.Done),
      await board.api.move(number, board.stages.Done),
    ];
    expect(responses.map(({ status }) => status)).toEqual([202, 202]);
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(409);
    await world.forge.webUi.mergeQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    const merged = await eventually(
      () => board.api.timeline(number),
      (timeline) => timeline.some(({ kind }) => kind === "pull_request_merged"),
    );
    expect(merged.filter(({ kind }) => kind === "pull_request_merged")).toHaveLength(1);
  });

  it("is resumed after some minutes without webhooks, and is refused or completed", async () => {
    const name = `${board.owner}/web`;
    await board.api.move(number, board.stages.Done);
    await resumeMovesAfter(world, board);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    loseWebhooks(world);
    await world.forge.webUi.dequeue(name, 1, "CI_FAILURE");
    world.forge.control.webhooks.clear();
    await resumeMovesAfter(world, board);
    expect((await board.api.readCard(number)).blocked).toMatchObject({
      reason: "queue_rejected",
      reasons: [{ details: { reason: "unknown" } }],
    });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    loseWebhooks(world);
    await world.forge.webUi.mergeQueued(name, 1);
    world.forge.control.webhooks.clear();
    await resumeMovesAfter(world, board);
    expect(await board.api.readCard(number)).toMatchObject({ statusId: board.stages.Done, blocked: null });
  });

  it("waits for the queue while checks are pending or fail", async () => {
    await board.api.move(number, board.stages.Done);
    const pull = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls/1`);
    const { sha } = (pull.body as { head: { sha: string } }).head;
    for (const state of ["pending", "failure"]) {
      await reportStatus(board, sha, state);
      await resumeMovesAfter(world, board);
      expect(await board.api.readCard(number)).toMatchObject({ blocked: null });
      expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    }
    await world.forge.webUi.mergeQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  });

  it("is refused after a lost webhook on a server without asynchronous merges", async () => {
    const match = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };
    const body = { message: "Not Found" };
    world.forge.control.faults.add({ match, fault: { kind: "response", status: 404, body } });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    await resumeMovesAfter(world, board);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    loseWebhooks(world);
    await world.forge.webUi.dequeue(`${board.owner}/web`, 1, "CI_FAILURE");
    world.forge.control.webhooks.clear();
    await resumeMovesAfter(world, board);
    expect((await board.api.readCard(number)).blocked).toMatchObject({ reason: "queue_rejected" });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    world.forge.control.faults.clear();
    await world.forge.webUi.mergeQueued(`${board.owner}/web`, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  });

  it("is refused for the repository whose queue removed it, while the other one is merged as its own", async () => {
    const { board: both, web, api, relink } = await webAndApi(world);
    board = both;
    const names = [`${board.owner}/web`, `${board.owner}/api`] as const;
    for (const name of names) world.forge.webUi.setMergeQueue(name, "main", true);
    ({ number } = await board.api.card({ title: "Say it twice" }));
    await relink(number, [web, api]);
    await board.api.move(number, board.stages["In progress"]);
    await work(board, number, "web");
    await work(board, number, "api");
    const waiting = await board.api.move(number, board.stages.Done);
    expect(waiting).toMatchObject({ status: 202, body: { queued: [{}, {}] } });
    // The second repository is removed: a refusal that always names the first one would fail here.
    const [lands = "", leaves = ""] = (waiting.body["queued"] as { fullName: string }[]).map(
      ({ fullName }) => fullName,
    );
    await world.forge.webUi.dequeue(leaves, 1, "CI_FAILURE");
    const { blocked } = await board.api.cardWhen(number, (card) => card.blocked !== null);
    expect(blocked).toMatchObject({ reason: "queue_rejected", repository: leaves });
    await world.forge.webUi.mergeQueued(lands, 1);
    await eventually(
      () => board.api.timeline(number),
      (timeline) => timeline.some(({ kind }) => kind === "pull_request_merged"),
    );
    const merged = (await board.api.timeline(number)).filter(({ kind }) => kind === "pull_request_merged");
    expect(merged).toMatchObject([{ repositoryFullName: lands, actor: { user: { kind: "machine" } } }]);
    const inbox = await board.api.get<{ kind: string }[]>("/v1/inbox");
    expect(JSON.stringify(inbox.body)).not.toContain("pr_merged_outside");
    const again = await board.api.move(number, board.stages.Done);
    expect(again).toMatchObject({ status: 202, body: { queued: [{ fullName: leaves }] } });
    await world.forge.webUi.mergeQueued(leaves, 1);
    await board.api.cardWhen(number, (card) => card.statusId === board.stages.Done);
  });
});
