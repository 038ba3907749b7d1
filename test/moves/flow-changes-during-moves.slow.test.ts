import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "@jest/globals";
import type { Db, Trx } from "../../src/store/db/connect.ts";
import { duringTransaction } from "../support/during.ts";
import {
  newStage,
  putFlow,
  readColumns,
  readFlow,
  stageNames,
  without,
  type Flow,
} from "../support/flows.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { untilMoving } from "../support/stories/repairing.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => world.forge.control.faults.clear());
afterEach(() => leaveConsistent(world));

/** Deletes a stage, as the replacement of a flow does. */
const removing = (board: TestBoard, name: keyof TestBoard["stages"]) => async (trx: Trx) => {
  await trx("stages").where({ id: board.stages[name] }).delete();
};

describe("PUT /v1/projects/{id}/flow while cards move", () => {
  it("returns 409 with Retry-After until the move is finished", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const { number } = await board.api.card();
    const call = holdCalls(world, {}, "before");
    const moving = board.api.move(number, board.stages["In progress"]);
    await untilMoving(board);
    const refused = await putFlow(board, { ...flow, checks: "ignored" });
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.body.message).toContain(`Card ${number} is being moved`);
    call.resume();
    expect((await moving).status).toBe(200);
    expect(await readFlow(board)).toEqual(flow);
    expect((await putFlow(board, { ...flow, checks: "ignored" })).status).toBe(200);
  });

  it("does not wait for moves of another project", async () => {
    const [board, other] = [await world.board(), await world.board()];
    const { number } = await other.api.card();
    const call = holdCalls(world, {}, "before");
    const moving = other.api.move(number, other.stages["In progress"]);
    await call.arrived();
    expect((await putFlow(board, await readFlow(board))).status).toBe(200);
    call.resume();
    expect((await moving).status).toBe(200);
  });

  it("removes no stage that a card is entering", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const { number } = await board.api.card({ repositoryIds: [] });
    const setStage = (db: Db, stageId: string) =>
      db("cards").where({ workspace_id: board.workspaceId, number }).update({ stage_id: stageId });
    const refused = await duringTransaction(
      world,
      (trx) => setStage(trx, board.stages["To do"]),
      () => putFlow(board, without(flow, "To do")),
    );
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain("To do still holds 1 card");
    expect((await readColumns(board))[0]?.tasks).toMatchObject([{ number }]);
    await setStage(board.db, board.stages.Backlog);
  });

  it.each([
    ["without Git", "To do", []],
    ["that creates a branch", "In progress", undefined],
  ] as const)("refuses a move %s into a stage that is being removed", async (_, name, repositoryIds) => {
    const board = await world.board();
    const { number } = await board.api.card(repositoryIds ? { repositoryIds } : {});
    const refused = await duringTransaction(world, removing(board, name), () =>
      board.api.move(number, board.stages[name]),
    );
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.statusId" }] } });
    expect((await board.api.readCard(number)).statusId).toBe(board.stages.Backlog);
    expect((await board.api.move(number, board.stages["In review"])).status).not.toBe(500);
  });

  it("makes the creation of a card return 409 with Retry-After while the backlog is replaced", async () => {
    const board = await world.board();
    const id = randomUUID();
    const create = () => board.api.post("/v1/cards", { title: "Once" }, { key: "card-in-a-new-backlog" });
    const answered = await duringTransaction(
      world,
      async (trx) => {
        const [backlog] = await trx("stages").where({ id: board.stages.Backlog });
        await trx("stages").where({ id: board.stages.Backlog }).delete();
        await trx("stages").insert({ ...(backlog as object), id });
      },
      create,
    );
    expect([answered.status, answered.headers.get("retry-after")]).toEqual([409, "1"]);
    expect(await create()).toMatchObject({ status: 201, body: { number: 1, statusId: id } });
  });

  it("leaves every card in a stage of the flow, whatever moves, creations and replacements overlap", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const { number } = await board.api.card({ repositoryIds: [] });
    for (let round = 0; round < 6; round += 1) {
      await board.api.move(number, board.stages.Backlog);
      const stages = (await readFlow(board)).stages;
      const extra = stages.find(({ name }) => name === "Extra")?.id;
      if (extra === undefined) {
        await putFlow(board, { ...flow, stages: flow.stages.toSpliced(1, 0, newStage("Extra")) });
        continue;
      }
      const responses = await Promise.all([
        board.api.move(number, extra),
        board.api.post("/v1/cards", { title: "New", statusId: extra, repositoryIds: [] }),
        putFlow(board, flow),
        board.api.move(number, board.stages["To do"]),
      ]);
      for (const { status } of responses) expect([200, 201, 400, 409]).toContain(status);
      const known = new Set((await readFlow(board)).stages.map(({ id }) => id));
      const cards = await world.service.deps
        .db("cards")
        .where({ project_id: board.projectId })
        .whereNull("deleted_at");
      expect(cards.length).toBeGreaterThan(0);
      for (const { stage_id: stageId } of cards as { stage_id: string }[]) expect(known).toContain(stageId);
      for (const card of cards as { number: number; stage_id: string }[]) {
        if (card.stage_id === extra) await board.api.move(card.number, board.stages.Done);
      }
    }
  });

  it("applies two concurrent replacements completely, one after the other", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const [a, b] = await Promise.all(
      ["A", "B"].map((name) =>
        putFlow(board, {
          ...flow,
          stages: flow.stages.toSpliced(1, 0, newStage(`${name}1`), newStage(`${name}2`)),
        }),
      ),
    );
    expect([a?.status, b?.status]).toEqual([200, 200]);
    expect([stageNames(a?.body as Flow), stageNames(b?.body as Flow)]).toContainEqual(
      stageNames(await readFlow(board)),
    );
  });
});
