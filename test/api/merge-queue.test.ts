import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
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
});
