import { afterEach, describe, expect, it } from "@jest/globals";
import { resumeOrphans } from "../support/resume-orphans.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { eventually } from "../support/api.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { setGates } from "../support/flows.ts";
import { moveAsHuman } from "../support/gates/human-mover.ts";
import { openCard } from "../support/stories/open-card.ts";
import { connectMcp } from "../support/mcp/client.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const MESSAGE =
  "Only a person who is signed in to Trunkline may move cards into Done. An API key may not, whoever owns it.";

/** An unfinished move that a process which has died started when the stage had no gate. */
async function insertDeadMove(board: TestBoard, cardId: string, isHuman: boolean): Promise<void> {
  const card = await board.db<{ id: string; created_by: string }>("cards").where({ id: cardId }).first();
  await board.db("operations").insert({
    id: world.service.deps.newId(),
    workspace_id: board.workspaceId,
    kind: "move",
    card_id: cardId,
    stage_id: board.stages.Done,
    input: { index: 0, headShas: null, whenReady: null },
    progress: { promoted: [] },
    actor_id: card?.created_by,
    is_human: isHuman,
    state: "running",
    updated_at: board.db.raw("now() - interval '1 hour'"),
  });
}

describe("a stage for people only", () => {
  it("refuses every API key, whoever owns it and whatever the request says", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await setGates(board, "Done", { humanOnly: true });
    const login = `ada-${board.owner.slice(4)}`;
    world.forge.control.calls.reset();
    for (const api of [board.api, await board.as({ role: "maintainer", owner: login })]) {
      const { status, body } = await api.move(number, board.stages.Done);
      expect([status, body.blocked?.message]).toEqual([409, MESSAGE]);
      expect(body.blocked?.reasons).toEqual([
        { reason: "human_only", message: MESSAGE, repository: "", details: {} },
      ]);
    }
    expect(world.forge.control.calls.read().writes).toBe(0);
    const path = `/v1/cards/${number}/move`;
    const claimed = { statusId: board.stages.Done, index: 0, isHuman: true };
    expect((await board.api.post(path, claimed)).status).toBe(400);
    const headers = { "x-is-human": "true", "x-trunkline-kind": "human" };
    const response = await board.api.post(path, { statusId: board.stages.Done, index: 0 }, { headers });
    expect(response.status).toBe(409);
    expect((await board.api.readCard(number)).statusId).toBe(board.stages["In review"]);
  });

  it("lets a person in", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await setGates(board, "Done", { humanOnly: true });
    await board.api.move(number, board.stages.Done);
    expect(await moveAsHuman(world, board, number, board.stages.Done)).toBe("moved");
    expect(await board.api.readCard(number)).toMatchObject({ statusId: board.stages.Done, blocked: null });
  });

  it("tells an agent what to do", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ repositoryIds: [] });
    await setGates(board, "Done", { humanOnly: true });
    const mcp = await connectMcp(board.api);
    const statusId = board.stages.Done;
    const planned = await mcp.call("plan_move", { number, statusId });
    expect(planned.data).toMatchObject({ wouldMove: false, reasons: [{ reason: "human_only" }] });
    const moved = await mcp.write("move_card", { number, statusId, index: 0 });
    expect(moved).toMatchObject({ isError: true, data: { blocked: { reason: "human_only" } } });
    expect(moved.text).toContain("Only a person may move cards into the stage. Ask one to move it.");
    await mcp.client.close();
  });

  it("keeps a refused card blocked until the gate is removed", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ repositoryIds: [] });
    await setGates(board, "Done", { humanOnly: true });
    await board.api.move(number, board.stages.Done);
    await setGates(board, "Done", { humanOnly: true, wipLimit: 3 });
    await allProcessed(world);
    expect((await board.api.readCard(number)).blocked?.reason).toBe("human_only");
    await setGates(board, "Done");
    await eventually(
      () => board.api.readCard(number),
      ({ blocked }) => blocked === null,
    );
  });

  it.each([
    [true, "Done"],
    [false, "In review"],
  ] as const)("is checked again when a job resumes a move (isHuman %p)", async (isHuman, name) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await setGates(board, "Done", { humanOnly: true });
    const { id } = await board.api.readCard(number);
    await insertDeadMove(board, id, isHuman);
    await resumeOrphans(world.service.deps, board.workspaceId);
    const card = await board.api.readCard(number);
    expect([card.statusId, card.blocked?.reason ?? null]).toEqual([
      board.stages[name],
      isHuman ? null : "human_only",
    ]);
  });

  it("is not entered by an API key that repeats the unfinished move of a person who has left", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await setGates(board, "Done", { humanOnly: true });
    const { id } = await board.api.readCard(number);
    const leaver = await board.as({ role: "member" });
    const { clientId } = (await leaver.get<{ clientId: string }>("/v1/me")).body;
    const [user] = await board.db<{ user_id: string; client_id: string }>("credentials").where({
      client_id: clientId,
    });
    await insertDeadMove(board, id, true);
    await board.db("operations").where({ card_id: id, state: "running" }).update({ actor_id: user?.user_id });
    await board.db("memberships").where({ user_id: user?.user_id }).delete();
    const { body } = await board.api.move(number, board.stages.Done);
    expect(body.blocked?.reason).toBe("human_only");
    await resumeOrphans(world.service.deps, board.workspaceId);
    expect((await board.api.readCard(number)).statusId).toBe(board.stages["In review"]);
  });
});
