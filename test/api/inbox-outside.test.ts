import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { allWorked } from "../support/deliveries.ts";
import { clearedWhen, itemsOf, itemWhen, readInbox } from "../support/inbox.ts";
import { loginOf, pullPath, workedCard } from "../support/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const merge = (board: TestBoard, number = 1) =>
  board.person("grace", "PUT", `${pullPath(board, number)}/merge`, {});
const change = (board: TestBoard, state: "open" | "closed", number = 1) =>
  board.person("grace", "PATCH", pullPath(board, number), { state });

describe("a pull request that somebody else merged", () => {
  it("is told while the card stands before that merge's stage", async () => {
    const board = await world.board();
    const { number } = await workedCard(board);
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

  it("is told where nothing but a push of its commits merged it", async () => {
    const board = await world.board();
    const { branchName } = await workedCard(board);
    const clone = await board.clone("grace");
    await clone.git("merge", "-q", "--no-edit", `origin/${branchName}`);
    await clone.push("origin", "HEAD:main");
    await clone.remove();
    expect(await itemWhen(board.api, "pr_merged_outside")).toMatchObject({
      data: { login: loginOf(board, "grace") },
    });
  });

  it("is told once, however often and in whatever order the forge says so", async () => {
    const board = await world.board();
    await workedCard(board);
    await allWorked(world);
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
    await allWorked(world);
    expect(await readInbox(board.api)).toMatchObject([{ kind: "pr_merged_outside" }]);
  });

  it("is never one that Trunkline merged, wherever the card goes from there", async () => {
    const board = await world.board();
    const { number } = await workedCard(board);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    await allWorked(world);
    expect(await readInbox(board.api)).toEqual([]);
    for (const stage of ["In review", "To do", "Backlog"] as const) {
      await board.api.move(number, board.stages[stage]);
      expect(await itemsOf(board.api, "pr_merged_outside")).toEqual([]);
    }
  });

  it("is none that Trunkline merged while its webhook came before the answer", async () => {
    const board = await world.board();
    const { number } = await workedCard(board);
    const pause = world.forge.control.faults.add({
      match: { method: "PUT", path: "/repositories/*/pulls/**" },
      fault: { kind: "delay", ms: 1_500, effect: "after" },
    });
    const moving = board.api.move(number, board.stages.Done);
    await board.api.eventWhen(number, ({ kind }) => kind === "pull_request_merged");
    const seen = await readInbox(board.api);
    expect((await moving).status).toBe(200);
    world.forge.control.faults.remove(pause);
    await allWorked(world);
    expect([seen, await readInbox(board.api)]).toEqual([[], []]);
  });

  it("is told after Trunkline tried to merge it, never heard what came of that, and gave the move up", async () => {
    const board = await world.board();
    const { number } = await workedCard(board);
    const outage = world.forge.control.faults.add({
      match: { method: "PUT", path: "/repositories/*/pulls/**" },
      fault: { kind: "answer", status: 502 },
    });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(503);
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
    world.forge.control.faults.remove(outage);
    await merge(board);
    await itemWhen(board.api, "pr_merged_outside");
  });
});

describe("a pull request that somebody else closed", () => {
  it("is told until it is open again, and anew when it is closed again", async () => {
    const board = await world.board();
    const { number } = await workedCard(board);
    await change(board, "closed");
    const first = await itemWhen(board.api, "pr_closed_outside");
    const login = loginOf(board, "grace");
    expect(first).toMatchObject({
      detail: `${login} closed pull request #1 without merging it.`,
      card: { number },
      repository: `${board.owner}/web`,
      dismissible: false,
      data: { prNumber: 1, targetBranch: "main", login },
    });
    await change(board, "open");
    await clearedWhen(board.api, "pr_closed_outside");
    // The forge's clock ticks in seconds: in one and the same it would be one happening.
    await eventually(
      async () => Math.floor(Date.now() / 1000),
      (second) => second > Math.floor(Date.parse(first.at) / 1000),
    );
    await change(board, "closed");
    expect((await itemWhen(board.api, "pr_closed_outside")).id).not.toBe(first.id);
  });

  it("is dealt with by another one in its place, or by parking the card", async () => {
    const board = await world.board();
    const { branchName } = await workedCard(board);
    await change(board, "closed");
    await itemWhen(board.api, "pr_closed_outside");
    const opened = await board.person("ada", "POST", `/repos/${board.owner}/web/pulls`, {
      title: "Once more",
      head: branchName,
      base: "main",
    });
    expect(opened.status).toBe(201);
    await clearedWhen(board.api, "pr_closed_outside");
    const other = await workedCard(board);
    await board.api.cardWhen(other.number, ({ repositories }) => repositories[0]?.prNumber === 3);
    await change(board, "closed", 3);
    await itemWhen(board.api, "pr_closed_outside");
    await board.api.move(other.number, board.stages.Backlog);
    expect(await itemsOf(board.api, "pr_closed_outside")).toEqual([]);
  });
});
