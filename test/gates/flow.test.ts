import { afterEach, describe, expect, it } from "@jest/globals";
import { leaveConsistent } from "../support/invariants.ts";
import { newStage, putFlow, readColumns, readFlow, withStage, type Stage } from "../support/flows.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const gatesOf = async (board: TestBoard, name: string) =>
  (await readFlow(board)).stages.find((stage) => stage.name === name)?.gates;
const withoutGates = ({ id, name, kind, minRole, rule }: Stage) => ({ id, name, kind, minRole, rule });
const put = async (board: TestBoard, name: string, changes: Partial<Stage>) =>
  putFlow(board, withStage(await readFlow(board), name, changes));

describe("the gates of a stage", () => {
  it("are stored with the flow and shown only where one is set", async () => {
    const board = await world.board();
    const before = await board.api.get(`/v1/projects/${board.projectId}/flow`);
    expect(before.text).not.toContain("gates");
    const response = await put(board, "In review", { gates: { wipLimit: 3 } });
    const gates = { wipLimit: 3, humanOnly: false, secondPerson: false };
    expect(response.status).toBe(200);
    expect(response.body.stages.map((stage) => stage.gates)).toEqual([
      undefined,
      undefined,
      undefined,
      gates,
      undefined,
    ]);
    expect(await readFlow(board)).toEqual(response.body);
    expect(Object.keys((await readColumns(board))[2] ?? {})).not.toContain("gates");
  });

  it("are kept by a flow that does not name them, and removed by one that turns them off", async () => {
    const board = await world.board();
    const gates = { wipLimit: null, humanOnly: true, secondPerson: true };
    await put(board, "Done", { gates });
    const flow = await readFlow(board);
    const stages = flow.stages.map(withoutGates);
    expect((await putFlow(board, { ...flow, stages })).body).toEqual(flow);
    expect(await gatesOf(board, "Done")).toEqual(gates);
    const off = { wipLimit: null, humanOnly: false, secondPerson: false };
    await put(board, "Done", { gates: off });
    expect(JSON.stringify(await readFlow(board))).not.toContain("gates");
  });

  it("are lost when the stage becomes the backlog, and are copied to a new project", async () => {
    const board = await world.board();
    await put(board, "Done", { gates: { secondPerson: true } });
    await put(board, "To do", { gates: { wipLimit: 1 } });
    const flow = await readFlow(board);
    const [backlog, todo, ...rest] = flow.stages as [Stage, Stage, ...Stage[]];
    const stages = [{ ...withoutGates(todo), kind: "backlog" }, { ...backlog, kind: "stage" }, ...rest];
    expect((await putFlow(board, { ...flow, stages })).status).toBe(200);
    expect(await gatesOf(board, "To do")).toBeUndefined();
    const created = await board.api.post<{ id: string }>("/v1/projects", {
      name: "Copy",
      flowFrom: board.projectId,
    });
    const copied = await readFlow({ ...board, projectId: created.body.id });
    expect(copied.stages.at(-1)?.gates).toEqual({ wipLimit: null, humanOnly: false, secondPerson: true });
  });

  it.each([
    [
      "In review",
      { wipLimit: 0 },
      "body.stages.3.gates.wipLimit",
      "has a wipLimit of 0: it must be 1 to 10000, or null",
    ],
    ["In review", { wipLimit: 10_001 }, "body.stages.3.gates.wipLimit", "must be 1 to 10000"],
    ["In review", { wipLimit: 1.5 }, "body.stages.3.gates.wipLimit", "integer"],
    ["In review", { humans: true }, "body.stages.3.gates.humans", "humans"],
    ["Backlog", { wipLimit: 5 }, "body.stages.0.gates", "Stage 1 (Backlog) is the backlog"],
  ])("of %s are not %j", async (name, gates, path, message) => {
    const board = await world.board();
    const response = await put(board, name, { gates: gates as NonNullable<Stage["gates"]> });
    expect(response).toMatchObject({ status: 400, body: { issues: [{ path }] } });
    expect(response.text).toContain(message);
  });

  it("can be set for a new stage", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const stages = flow.stages.toSpliced(2, 0, { ...newStage("Next"), gates: { wipLimit: 10_000 } });
    expect((await putFlow(board, { ...flow, stages })).status).toBe(200);
    expect(await gatesOf(board, "Next")).toMatchObject({ wipLimit: 10_000 });
  });
});
