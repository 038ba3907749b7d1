import { beforeAll, describe, expect, it } from "@jest/globals";
import { readColumns, readFlow } from "../support/flows.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

describe("GET /v1/board", () => {
  // Contract: Board and projects: The board has the flow's columns with name, kind, `minRole` and cards, in order
  it("returns the flow's columns in order, each with its cards in order", async () => {
    const { stages } = board;
    const first = await board.api.card({ statusId: stages["To do"], repositoryIds: [] });
    const above = await board.api.card({ repositoryIds: [] });
    await board.api.move(above.number, stages["To do"], 0);
    const flow = await readFlow(board);
    const columns = await readColumns(board);
    expect(columns.map(({ tasks: _tasks, ...column }) => column)).toEqual(
      flow.stages
        .slice(1)
        .map(({ id, name, kind, minRole, rule }) => ({ statusId: id, name, kind, minRole, rule })),
    );
    const todo = columns.find(({ statusId }) => statusId === stages["To do"]);
    expect(todo?.tasks.map(({ number }) => number)).toEqual([above.number, first.number]);
  });

  // Contract: Board and projects: A card in `GET /v1/board` has `id`, `number`, `title`, `projectId`, `statusId`, `priority`, `assignee`, `labels`
  it("returns the eight fields of a board task for each card", async () => {
    const { id, number } = await board.api.card({
      title: "Shown",
      statusId: board.stages.Done,
      repositoryIds: [],
      priority: "high",
    });
    const done = (await readColumns(board)).at(-1);
    expect(done?.tasks.find((task) => task.number === number)).toEqual({
      id,
      number,
      title: "Shown",
      projectId: board.projectId,
      statusId: board.stages.Done,
      priority: "high",
      assignee: null,
      labels: [],
    });
  });
});

describe("GET /v1/backlog", () => {
  // Contract: Board and projects: A card in `GET /v1/backlog` has the fields of a single card
  it("returns a draft with the fields of GET /v1/cards/{number}", async () => {
    const { number } = await board.api.card({ title: "A draft" });
    const backlog = await board.api.get<{ number: number }[]>("/v1/backlog");
    expect(backlog.body.find((card) => card.number === number)).toEqual(await board.api.readCard(number));
  });
});
