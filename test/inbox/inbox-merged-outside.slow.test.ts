import { afterEach, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { itemsOf, itemWhen, readInbox } from "../support/inbox.ts";
import { loginOf, pullPath, cardWithCommit } from "../support/stories/work-on-card.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const merge = (board: TestBoard, number = 1) =>
  board.person("grace", "PUT", `${pullPath(board, number)}/merge`, {});

describe("the inbox item of a pull request merged by a person", () => {
  // Contract: Inbox: `pr_merged_outside`: someone merged the pull request, not Trunkline
  it("exists while the card is in a stage before the merge", async () => {
    const board = await world.board();
    const { number } = await cardWithCommit(board);
    const merged = await merge(board);
    const item = await itemWhen(board.api, "pr_merged_outside");
    const login = loginOf(board, "grace");
    expect(item).toMatchObject({
      detail: `${login} merged pull request #1 into main.`,
      card: { number },
      repository: `${board.owner}/web`,
      dismissible: false,
      data: {
        prNumber: 1,
        targetBranch: "main",
        login,
        sha: merged.body["sha"],
        statusId: board.stages.Done,
      },
    });
    expect((await board.api.delete(`/v1/inbox/${item.id}`)).status).toBe(409);
    await board.api.move(number, board.stages["To do"]);
    expect(await itemsOf(board.api, "pr_merged_outside")).toEqual([item]);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    expect(await readInbox(board.api)).toEqual([]);
  });

  it("exists if a push of the commits merged it", async () => {
    const board = await world.board();
    const { branchName } = await cardWithCommit(board);
    const clone = await board.clone("grace");
    await clone.git("merge", "-q", "--no-edit", `origin/${branchName}`);
    await clone.push("origin", "HEAD:main");
    await clone.remove();
    expect(await itemWhen(board.api, "pr_merged_outside")).toMatchObject({
      data: { login: loginOf(board, "grace") },
    });
  });

  it("is created once from repeated webhooks in any order", async () => {
    const board = await world.board();
    await cardWithCommit(board);
    await allProcessed(world);
    world.forge.control.webhooks.add({ fault: { kind: "hold" } });
    await merge(board);
    await eventually(
      async () => world.forge.control.webhooks.held(),
      (held) => held.some(({ action }) => action === "closed") && held.some(({ event }) => event === "push"),
    );
    const held = world.forge.control.webhooks.held();
    world.forge.control.webhooks.clear();
    await world.forge.control.webhooks.release("reversed");
    for (const { event, body } of held.toReversed()) {
      await world.forge.control.sendWebhook({ event, payload: body });
    }
    await allProcessed(world);
    expect(await readInbox(board.api)).toMatchObject([{ kind: "pr_merged_outside" }]);
  });

  // Contract: Inbox: `pr_merged_outside`: someone merged the pull request, not Trunkline
  it("is never created for a merge by Trunkline, whatever the later stages of the card", async () => {
    const board = await world.board();
    const { number } = await cardWithCommit(board);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    await allProcessed(world);
    expect(await readInbox(board.api)).toEqual([]);
    for (const stage of ["In review", "To do", "Backlog"] as const) {
      await board.api.move(number, board.stages[stage]);
      expect(await itemsOf(board.api, "pr_merged_outside")).toEqual([]);
    }
  });

  // Fault: B5
  it("is not created for a merge by Trunkline whose webhook arrives before the response", async () => {
    const board = await world.board();
    const { number } = await cardWithCommit(board);
    const response = holdCalls(world, { method: "PUT", path: "/repositories/*/pulls/**" });
    const moving = board.api.move(number, board.stages.Done);
    await board.api.eventWhen(number, ({ kind }) => kind === "pull_request_merged");
    const itemsDuringMove = await readInbox(board.api);
    response.resume();
    expect((await moving).status).toBe(200);
    await allProcessed(world);
    expect([itemsDuringMove, await readInbox(board.api)]).toEqual([[], []]);
  });

  it("exists after a failed merge by Trunkline whose move was replaced", async () => {
    const board = await world.board();
    const { number } = await cardWithCommit(board);
    const outage = world.forge.control.faults.add({
      match: { method: "PUT", path: "/repositories/*/pulls/**" },
      fault: { kind: "response", status: 502 },
    });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(503);
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
    world.forge.control.faults.remove(outage);
    await merge(board);
    await itemWhen(board.api, "pr_merged_outside");
  });

  it("does not keep a retried move from finding the merge, which is attributed to the person", async () => {
    const board = await world.board();
    const { number } = await cardWithCommit(board);
    const { faults } = world.forge.control;
    const outage = faults.add({
      match: { method: "PUT", path: "/repositories/*/pulls/**" },
      fault: { kind: "response", status: 502 },
    });
    const move = () => board.api.move(number, board.stages.Done, 0, { key: "goes-on-after-a-person" });
    expect((await move()).status).toBe(503);
    faults.remove(outage);
    await merge(board);
    // The resuming job may be running the move at this moment.
    const moved = await eventually(move, ({ status }) => status !== 409);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [] } });
    await board.api.eventWhen(number, ({ kind }) => kind === "pull_request_merged");
    const merges = (await board.api.timeline(number)).filter(({ kind }) => kind === "pull_request_merged");
    expect(merges).toMatchObject([{ actor: { login: loginOf(board, "grace") } }]);
  });
});
