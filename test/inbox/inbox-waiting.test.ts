import { describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { clearedWhen, itemsOf, itemWhen, readInbox } from "../support/inbox.ts";
import { pushTo, cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

describe("failing checks", () => {
  const report = (board: TestBoard, sha: string, state: string, context = "ci") =>
    board.person("ada", "POST", `/repos/${board.owner}/web/statuses/${sha}`, { state, context });

  it("have an inbox item after the draft stage until they pass", async () => {
    const board = await world.board();
    const { number, sha, branchName } = await cardWithCommit(board, "In progress");
    await report(board, sha, "failure", "unit");
    await report(board, sha, "failure", "lint");
    await allProcessed(world);
    expect(await itemsOf(board.api, "checks_broken")).toEqual([]);
    await board.api.move(number, board.stages["In review"]);
    const first = await itemWhen(board.api, "checks_broken");
    expect(first).toMatchObject({
      detail: "Checks are failing on pull request #1: lint, unit.",
      card: { number },
      repository: `${board.owner}/web`,
      data: { prNumber: 1, branchName, sha, failing: ["lint", "unit"] },
    });
    await report(board, sha, "success", "lint");
    const second = await eventually(
      () => itemWhen(board.api, "checks_broken"),
      ({ detail }) => detail.endsWith(": unit."),
    );
    expect([second.id, second.at]).toEqual([first.id, first.at]);
    await report(board, sha, "success", "unit");
    await clearedWhen(board.api, "checks_broken");
    await report(board, sha, "failure", "unit");
    expect((await itemWhen(board.api, "checks_broken")).id).not.toBe(first.id);
    await pushTo(board, branchName, "fixed.txt");
    await clearedWhen(board.api, "checks_broken");
  });

  it("have an inbox item if the status arrives before the push webhook", async () => {
    const board = await world.board();
    const { branchName, number } = await cardWithCommit(board);
    await allProcessed(world);
    const rule = world.forge.control.webhooks.add({ match: { event: "push" }, fault: { kind: "hold" } });
    const sha = await pushTo(board, branchName, "late.txt");
    await report(board, sha, "failure");
    await allProcessed(world);
    expect(await itemsOf(board.api, "checks_broken")).toEqual([]);
    world.forge.control.webhooks.remove(rule);
    await world.forge.control.webhooks.release();
    expect(await itemWhen(board.api, "checks_broken")).toMatchObject({ data: { sha } });
    expect((await board.api.timeline(number)).filter(({ kind }) => kind === "checks_changed")).toMatchObject([
      { data: { sha, from: null, to: "failing" } },
    ]);
  });

  it("have no inbox item in a flow that ignores checks", async () => {
    const board = await world.board();
    const { sha } = await cardWithCommit(board);
    const path = `/v1/projects/${board.projectId}/flow`;
    const flow = (await board.api.get(path)).body;
    expect((await board.api.put(path, { ...flow, checks: "ignored" })).status).toBe(200);
    await report(board, sha, "failure");
    await allProcessed(world);
    expect(await readInbox(board.api)).toEqual([]);
  });
});

describe("a card without activity", () => {
  const elapse = (days: number) =>
    world.service.deps.db.raw("update timeline_items set at = at - ? * interval '1 day'", [days]);

  // Contract: Inbox: `waiting_stale`: nothing happened for `staleAfterDays` of the flow
  it("has an inbox item after the flow's period until the next activity", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello", repositoryIds: [] });
    const draft = await board.api.card({ title: "A draft" });
    await board.api.move(number, board.stages["To do"]);
    await elapse(13);
    expect(await readInbox(board.api)).toEqual([]);
    await elapse(2);
    const first = await itemWhen(board.api, "waiting_stale");
    expect(first).toMatchObject({
      card: { number },
      repository: null,
      dismissible: false,
      data: { staleAfterDays: 14, statusId: board.stages["To do"] },
    });
    expect(first.detail).toContain(String(first.data["since"]).slice(0, 10));
    expect(Date.parse(first.at) - Date.parse(String(first.data["since"]))).toBe(14 * 86_400_000);
    await board.api.post(`/v1/cards/${number}/comments`, { body: "Still wanted" });
    expect(await readInbox(board.api)).toEqual([]);
    await elapse(15);
    expect((await itemWhen(board.api, "waiting_stale")).id).not.toBe(first.id);
    await board.api.move(number, board.stages.Done);
    await board.api.patch(`/v1/cards/${draft.number}`, { title: "Still a draft" });
    await elapse(15);
    expect(await readInbox(board.api)).toEqual([]);
  });
});
