import { afterEach, describe, expect, it } from "@jest/globals";
import { allProcessed } from "../support/forge/deliveries.ts";
import { eventually } from "../support/api.ts";
import { openCard } from "../support/stories/open-card.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { branchesOf, branchHas, twoTargets } from "../support/stories/two-targets.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const deleteMergedBranches = (board: TestBoard) =>
  board.person("ada", "PATCH", `/repos/${board.owner}/web`, { delete_branch_on_merge: true });
const mergeInto = (board: TestBoard, targetBranch: string, prNumber: number) => ({
  fullName: `${board.owner}/web`,
  targetBranch,
  prNumber,
});

describe("a flow that merges into several branches", () => {
  it("starts branches at the first target and opens one pull request per target from the same branch", async () => {
    const { board, staging } = await twoTargets(world);
    const { number, branchName } = await openCard(world, board);
    expect(await branchHas(board, branchName, "develop.txt")).toBe(true);
    const staged = await board.api.move(number, staging);
    expect(staged).toMatchObject({ status: 200, body: { promoted: [mergeInto(board, "develop", 1)] } });
    expect(await branchHas(board, "develop", "hello.txt")).toBe(true);
    expect(await branchHas(board, "main", "hello.txt")).toBe(false);
    const done = await board.api.move(number, board.stages.Done);
    expect(done).toMatchObject({ status: 200, body: { promoted: [mergeInto(board, "main", 2)] } });
    expect(done.body.promoted).toHaveLength(1);
    expect(await branchHas(board, "main", "hello.txt")).toBe(true);
    await allProcessed(world);
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => kind === "pull_request_merged")).toHaveLength(2);
    expect(kinds.filter((kind) => kind === "pull_request_opened")).toHaveLength(2);
    expect((await board.api.readCard(number)).repositories[0]).toMatchObject({
      prNumber: 2,
      prState: "merged",
    });
  });

  it("runs only the merge of the entered stage when a stage is skipped", async () => {
    const { board, staging } = await twoTargets(world);
    const { number } = await openCard(world, board);
    const done = await board.api.move(number, board.stages.Done);
    expect(done.body.promoted).toEqual([mergeInto(board, "main", 2)]);
    expect(await branchHas(board, "develop", "hello.txt")).toBe(false);
    const back = await board.api.move(number, staging);
    expect(back.body.promoted).toEqual([mergeInto(board, "develop", 1)]);
  });

  it("moves a card into the last stage without a merge if another branch brought its commits there", async () => {
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

describe("a repository that deletes merged branches", () => {
  it("gets the card's branch restored while a later stage needs it, without a deletion in the timeline", async () => {
    const { board, staging } = await twoTargets(world);
    await deleteMergedBranches(board);
    const { number, branchName, heads } = await openCard(world, board);
    await board.api.move(number, staging);
    await eventually(
      () => branchesOf(board),
      (names) => names.includes(branchName),
    );
    await allProcessed(world);
    expect(await kindsOf(board, number)).not.toContain("branch_deleted");
    const done = await board.api.move(number, board.stages.Done);
    expect(done).toMatchObject({ status: 200, body: { promoted: [mergeInto(board, "main", 2)] } });
    await allProcessed(world);
    const kinds = await kindsOf(board, number);
    expect(kinds).not.toContain("branch_deleted");
    expect(kinds.filter((kind) => kind === "branch_created")).toHaveLength(1);
    const pushes = (await board.api.timeline(number)).filter(({ kind }) => kind === "pushed");
    expect(pushes.every(({ data }) => data["after"] === heads["web"])).toBe(true);
    expect(await branchesOf(board)).not.toContain(branchName);
  });

  it("gets the branch restored by the next move if the webhook was lost", async () => {
    const { board, staging } = await twoTargets(world);
    await deleteMergedBranches(board);
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
    expect(done).toMatchObject({ status: 200, body: { promoted: [mergeInto(board, "main", 2)] } });
    expect(await branchHas(board, "main", "hello.txt")).toBe(true);
  });

  it("does not get a branch restored that a person deleted before its merge", async () => {
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
