import { afterEach, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { clearedWhen, itemWhen, readInbox } from "../support/inbox.ts";
import { branchesOf } from "../support/stories/two-targets.ts";
import { deleteBranch, loginOf, pushTo } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => world.forge.control.reset());

const webhooks = () => world.forge.control.webhooks;

describe("the suggestion of a branch that a person pushed", () => {
  // Contract: Inbox: `branch_suggestion`: another branch is named like a card's, until deleted
  it("exists once for the card in the branch name until the branch is deleted", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    await pushTo(board, "card/1-hello", "a.txt");
    const item = await itemWhen(board.api, "branch_suggestion");
    const login = loginOf(board, "ada");
    expect(item).toMatchObject({
      detail: `${login} pushed card/1-hello, which is named like a branch of card 1.`,
      card: { number, title: "Say hello" },
      repository: `${board.owner}/web`,
      dismissible: true,
      data: { branchName: "card/1-hello", login },
    });
    await pushTo(board, "card/1-hello", "b.txt", "grace");
    await allProcessed(world);
    expect(await readInbox(board.api)).toEqual([item]);
    await deleteBranch(board, "card/1-hello");
    await clearedWhen(board.api, "branch_suggestion");
  });

  it("is not repeated after its dismissal until the branch is deleted and created again", async () => {
    const board = await world.board();
    await board.api.card();
    await pushTo(board, "card/1-hello", "a.txt");
    const { id } = await itemWhen(board.api, "branch_suggestion");
    expect((await board.api.delete(`/v1/inbox/${id}`)).status).toBe(204);
    await pushTo(board, "card/1-hello", "b.txt");
    await allProcessed(world);
    expect(await readInbox(board.api)).toEqual([]);
    await deleteBranch(board, "card/1-hello");
    await pushTo(board, "card/1-hello", "c.txt");
    expect((await itemWhen(board.api, "branch_suggestion")).id).not.toBe(id);
  });

  it("is repeated if the branch was created again before the webhook of its deletion", async () => {
    const board = await world.board();
    await board.api.card();
    await pushTo(board, "card/1-hello", "a.txt");
    const { id } = await itemWhen(board.api, "branch_suggestion");
    await board.api.delete(`/v1/inbox/${id}`);
    webhooks().add({ fault: { kind: "hold" } });
    await deleteBranch(board, "card/1-hello");
    await pushTo(board, "card/1-hello", "c.txt");
    await world.forge.waitUntilIdle();
    webhooks().clear();
    const held = webhooks().held();
    await webhooks().release("reversed");
    const second = await itemWhen(board.api, "branch_suggestion");
    await board.api.delete(`/v1/inbox/${second.id}`);
    for (const { event, body } of held) await world.forge.control.sendWebhook({ event, payload: body });
    await allProcessed(world);
    expect(await readInbox(board.api)).toEqual([]);
  });

  it("does not exist for a missing card, a card of another project, or one that has a branch", async () => {
    const board = await world.board();
    await board.api.card({ title: "Has its branch" });
    await board.api.move(1, board.stages["In progress"]);
    const { body: other } = await board.api.post<{ id: string }>("/v1/projects", { name: "Second" });
    await board.api.card({ title: "Elsewhere", projectId: other.id });
    await board.api.card({ title: "Deleted", projectId: board.projectId });
    await board.api.delete("/v1/cards/3");
    await board.api.card({ title: "Wanted", projectId: board.projectId });
    const clone = await board.clone();
    const names = ["card/1-x", "card/2-x", "card/3-x", "card/99-x", "card/x", "4-wanted", "x/card/4-wanted"];
    for (const name of names) await clone.push("origin", `HEAD:refs/heads/${name}`);
    await clone.push("origin", "HEAD:refs/tags/card/4-wanted");
    await clone.remove();
    await allProcessed(world);
    for (const projectId of [board.projectId, other.id])
      expect(await readInbox(board.api, projectId)).toEqual([]);
  });

  it("causes no call to GitHub if the branch names no card", async () => {
    const board = await world.board();
    await allProcessed(world);
    world.forge.requests.reset();
    await pushTo(board, "fix-something", "a.txt");
    await pushTo(board, "card/12-no-such-card", "a.txt");
    await deleteBranch(board, "fix-something");
    await allProcessed(world);
    expect(world.forge.requests.all).toEqual([]);
  });

  it("exists once after duplicate deliveries, and not if the deletion arrives before the creation", async () => {
    const board = await world.board();
    await board.api.card({ title: "Twice" });
    await board.api.card({ title: "Gone" });
    const twice = webhooks().add({ fault: { kind: "duplicate", copies: 2 } });
    await pushTo(board, "card/1-twice", "a.txt");
    await allProcessed(world);
    webhooks().remove(twice);
    webhooks().add({ fault: { kind: "hold" } });
    await pushTo(board, "card/2-gone", "a.txt");
    await deleteBranch(board, "card/2-gone");
    await world.forge.waitUntilIdle();
    webhooks().clear();
    await webhooks().release("reversed");
    await allProcessed(world);
    expect(await readInbox(board.api)).toMatchObject([{ kind: "branch_suggestion", card: { number: 1 } }]);
  });

  it("does not exist for a branch of Trunkline whose webhook arrives before the response", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const response = holdCalls(world, { method: "POST", path: "/repositories/*/git/refs" });
    const moving = board.api.move(number, board.stages["In progress"]);
    await eventually(
      () => branchesOf(board),
      ({ length }) => length === 2,
    );
    await allProcessed(world);
    const itemsDuringMove = await readInbox(board.api);
    response.resume();
    expect((await moving).status).toBe(200);
    await allProcessed(world);
    expect([itemsDuringMove, await readInbox(board.api)]).toEqual([[], []]);
  });

  it("is removed after the repository leaves the project or the card is deleted", async () => {
    const board = await world.board();
    await board.api.card();
    await pushTo(board, "card/1-hello", "a.txt");
    await itemWhen(board.api, "branch_suggestion");
    const path = `/v1/projects/${board.projectId}/repositories`;
    expect((await board.api.put(path, { repositories: [] })).status).toBe(200);
    expect(await readInbox(board.api)).toEqual([]);
    await board.api.put(path, { repositories: [{ id: board.repositories["web"] }] });
    await itemWhen(board.api, "branch_suggestion");
    await board.api.delete("/v1/cards/1");
    expect(await readInbox(board.api)).toEqual([]);
  });
});
