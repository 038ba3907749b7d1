import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { openCard } from "../support/stories/open-card.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { branchesOf, branchHas, twoTargets } from "../support/stories/two-targets.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

const deletesMerged = (board: TestBoard) =>
  board.person("ada", "PATCH", `/repos/${board.owner}/web`, { delete_branch_on_merge: true });
const promotion = (board: TestBoard, targetBranch: string, prNumber: number) => ({
  fullName: `${board.owner}/web`,
  targetBranch,
  prNumber,
});

describe("a flow that merges into several branches", () => {
  it("cuts from the first and aims there, then opens a second pull request from the same branch", async () => {
    const { board, staging } = await twoTargets(world);
    const { number, branchName } = await openCard(world, board);
    expect(await branchHas(board, branchName, "develop.txt")).toBe(true);
    const staged = await board.api.move(number, staging);
    expect(staged).toMatchObject({ status: 200, body: { promoted: [promotion(board, "develop", 1)] } });
    expect(await branchHas(board, "develop", "hello.txt")).toBe(true);
    expect(await branchHas(board, "main", "hello.txt")).toBe(false);
    const done = await board.api.move(number, board.stages.Done);
    expect(done).toMatchObject({ status: 200, body: { promoted: [promotion(board, "main", 2)] } });
    expect(done.body.promoted).toHaveLength(1);
    expect(await branchHas(board, "main", "hello.txt")).toBe(true);
    await world.forge.settle();
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => kind === "pull_request_merged")).toHaveLength(2);
    expect(kinds.filter((kind) => kind === "pull_request_opened")).toHaveLength(2);
    expect((await board.api.readCard(number)).repositories[0]).toMatchObject({
      prNumber: 2,
      prState: "merged",
    });
  });

  it("runs only the merge of the stage that is entered when one is skipped", async () => {
    const { board, staging } = await twoTargets(world);
    const { number } = await openCard(world, board);
    const done = await board.api.move(number, board.stages.Done);
    expect(done.body.promoted).toEqual([promotion(board, "main", 2)]);
    expect(await branchHas(board, "develop", "hello.txt")).toBe(false);
    const back = await board.api.move(number, staging);
    expect(back.body.promoted).toEqual([promotion(board, "develop", 1)]);
  });

  it("lets a card into the last stage whose work came there with the first branch", async () => {
    const { board, staging } = await twoTargets(world);
    const { number } = await openCard(world, board);
    await board.api.move(number, staging);
    const clone = await board.clone();
    await clone.checkout("develop");
    await clone.push("origin", "HEAD:main");
    await clone.remove();
    const done = await board.api.move(number, board.stages.Done);
    expect(done).toMatchObject({ status: 200, body: { promoted: [] } });
    expect(await branchHas(board, "main", "hello.txt")).toBe(true);
  });
});

describe("a forge that deletes merged branches", () => {
  it("has the card's branch made again while a later stage needs it, and nobody is told of a deletion", async () => {
    const { board, staging } = await twoTargets(world);
    await deletesMerged(board);
    const { number, branchName, heads } = await openCard(world, board);
    await board.api.move(number, staging);
    await eventually(
      () => branchesOf(board),
      (names) => names.includes(branchName),
    );
    await world.forge.settle();
    expect(await kindsOf(board, number)).not.toContain("branch_deleted");
    const done = await board.api.move(number, board.stages.Done);
    expect(done).toMatchObject({ status: 200, body: { promoted: [promotion(board, "main", 2)] } });
    await world.forge.settle();
    const kinds = await kindsOf(board, number);
    expect(kinds).not.toContain("branch_deleted");
    expect(kinds.filter((kind) => kind === "branch_created")).toHaveLength(1);
    const created = (await board.api.timeline(number)).filter(({ kind }) => kind === "pushed");
    expect(created.every(({ data }) => data["after"] === heads["web"])).toBe(true);
    expect(await branchesOf(board)).not.toContain(branchName);
  });

  it("and whose word of it was lost: the next move makes the branch again by itself", async () => {
    const { board, staging } = await twoTargets(world);
    await deletesMerged(board);
    const { number } = await openCard(world, board);
    world.forge.control.webhooks.add({ fault: { kind: "drop" } });
    await board.api.move(number, staging);
    const plan = await board.api.get<{ steps: { action: string }[] }>(
      `/v1/cards/${number}/move-plan?statusId=${board.stages.Done}`,
    );
    expect(plan.body.steps.map(({ action }) => action)).toEqual([
      "restore_branch",
      "open_pull_request",
      "merge",
    ]);
    world.forge.control.reset();
    const done = await board.api.move(number, board.stages.Done);
    expect(done).toMatchObject({ status: 200, body: { promoted: [promotion(board, "main", 2)] } });
    expect(await branchHas(board, "main", "hello.txt")).toBe(true);
  });

  it("is not taken for somebody who deletes a branch that was not merged", async () => {
    const { board } = await twoTargets(world);
    const { number, branchName } = await openCard(world, board);
    const clone = await board.clone();
    await clone.push("origin", "--delete", branchName);
    await clone.remove();
    await board.api.eventWhen(number, ({ kind }) => kind === "branch_deleted");
    expect(await branchesOf(board)).not.toContain(branchName);
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "branch_missing" } } });
  });
});
