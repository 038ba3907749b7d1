import { afterEach, describe, expect, it } from "@jest/globals";
import { allProcessed } from "../support/forge/deliveries.ts";
import { clearedWhen, itemWhen, readInbox } from "../support/inbox.ts";
import { deleteBranch, loginOf, pullPath, pushTo, cardWithCommit } from "../support/stories/work-on-card.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const webhooks = () => world.forge.control.webhooks;

describe("a card's branch that a person deleted", () => {
  const deletions = async (board: TestBoard, number: number) =>
    (await board.api.timeline(number)).filter(({ kind }) => kind === "branch_deleted");

  // Contract: Inbox: `branch_deleted`: someone deleted the card's branch; `detail` has their login
  // Fault: D6 The card's branch is deleted => one inbox item; moves are refused
  it("is in the inbox and the timeline with the person's login, without an item for the closed pull request", async () => {
    const board = await world.board();
    const { number, branchName, sha } = await cardWithCommit(board);
    await deleteBranch(board, branchName, "grace");
    const item = await itemWhen(board.api, "branch_deleted");
    const login = loginOf(board, "grace");
    expect(item).toMatchObject({
      detail: `${login} deleted ${branchName}, the card's branch, before it was merged.`,
      card: { number },
      repository: `${board.owner}/web`,
      dismissible: true,
      data: { branchName, sha, login },
    });
    await allProcessed(world);
    expect((await board.api.readCard(number)).repositories).toMatchObject([{ prState: "closed" }]);
    expect(await readInbox(board.api)).toEqual([item]);
    expect(await deletions(board, number)).toMatchObject([{ actor: { login }, data: { branchName, sha } }]);
    const refused = await board.api.move(number, board.stages.Done);
    expect([refused.status, refused.body.blocked?.reason]).toEqual([409, "branch_missing"]);
    expect(
      (await board.person("ada", "GET", `/repos/${board.owner}/web/branches/${branchName}`)).status,
    ).toBe(404);
  });

  it("is in the inbox once, and not again after the item was dismissed", async () => {
    const board = await world.board();
    const { number, branchName } = await cardWithCommit(board, "In progress");
    await allProcessed(world);
    webhooks().add({ fault: { kind: "hold" } });
    await deleteBranch(board, branchName);
    await world.forge.waitUntilIdle();
    const held = webhooks().held();
    expect(held.map(({ event }) => event).toSorted()).toEqual(["delete", "pull_request", "push"]);
    webhooks().clear();
    await webhooks().release("reversed");
    const { id } = await itemWhen(board.api, "branch_deleted");
    await board.api.delete(`/v1/inbox/${id}`);
    for (const { event, body } of held) await world.forge.control.sendWebhook({ event, payload: body });
    await allProcessed(world);
    expect(await readInbox(board.api)).toEqual([]);
    expect(await deletions(board, number)).toHaveLength(1);
  });

  it("has no inbox item after the branch is pushed again, and a new one after another deletion", async () => {
    const board = await world.board();
    const { branchName } = await cardWithCommit(board, "In progress");
    await deleteBranch(board, branchName);
    const first = await itemWhen(board.api, "branch_deleted");
    await pushTo(board, branchName, "again.txt");
    await clearedWhen(board.api, "branch_deleted");
    await deleteBranch(board, branchName);
    expect((await itemWhen(board.api, "branch_deleted")).id).not.toBe(first.id);
  });

  it.each([
    ["by GitHub", "kept"],
    ["by GitHub", "reversed"],
    ["by a person", "kept"],
    ["by a person", "reversed"],
  ] as const)("has no item if deleted after the merge %s (webhooks %s)", async (by, order) => {
    const board = await world.board();
    const { number, branchName } = await cardWithCommit(board);
    if (by !== "by a person") {
      await board.person("ada", "PATCH", `/repos/${board.owner}/web`, { delete_branch_on_merge: true });
    }
    await allProcessed(world);
    webhooks().add({ fault: { kind: "hold" } });
    expect((await board.person("grace", "PUT", `${pullPath(board, 1)}/merge`, {})).status).toBe(200);
    if (by === "by a person") await deleteBranch(board, branchName, "grace");
    await world.forge.waitUntilIdle();
    webhooks().clear();
    await webhooks().release(order);
    await allProcessed(world);
    expect((await readInbox(board.api)).map(({ kind }) => kind)).toEqual(["pr_merged_outside"]);
    expect(await deletions(board, number)).toEqual([]);
  });
});
