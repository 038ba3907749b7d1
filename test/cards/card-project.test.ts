import { beforeAll, describe, expect, it } from "@jest/globals";
import { v7 as uuidv7 } from "uuid";
import { DEFAULT_FLOW } from "../../src/flow/flow.ts";
import { insertProject } from "../../src/store/cards/projects.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const create = (fields: unknown, on = board) => on.api.post("/v1/cards", fields);

describe("the project of a new card", () => {
  // Contract: Board and projects: `projectId` is optional with one project and required (400) with several
  it("is required on a board with several projects", async () => {
    const several = await world.board();
    const projectId = uuidv7();
    const stages = DEFAULT_FLOW.stages.map((stage) => ({ ...stage, id: uuidv7() }));
    const { db } = world.service.deps;
    const flow = { ...DEFAULT_FLOW, stages };
    await insertProject(db, {
      id: projectId,
      workspaceId: several.workspaceId,
      name: "Second",
      slug: "second",
      flow,
    });
    for (const refused of [
      await create({ title: "x" }, several),
      await several.api.get("/v1/board"),
      await several.api.get("/v1/backlog"),
    ]) {
      expect(refused.status).toBe(400);
      expect(refused.body["message"]).toContain(several.projectId);
      expect(refused.body["message"]).toContain(projectId);
    }
    expect(await create({ title: "x", projectId }, several)).toMatchObject({
      status: 201,
      body: { projectId },
    });
    const foreignStage = await create({ title: "x", projectId, statusId: several.stages["To do"] }, several);
    expect(foreignStage).toMatchObject({ status: 400, body: { issues: [{ path: "body.statusId" }] } });
    expect((await several.api.get(`/v1/board?projectId=${projectId}`)).status).toBe(200);
  });

  // Contract: Authentication: A project of another board is 404, even if the credential reaches that board
  it("returns 404 if it belongs to another board, even if the credential reaches that board", async () => {
    const other = await world.board();
    const api = await board.as({ boards: [board, other] });
    const headers = { "x-service-workspace": board.workspaceId };
    const responses = await Promise.all(
      [other.projectId, UNKNOWN_ID].map(async (projectId) => [
        await api.post("/v1/cards", { title: "x", projectId }, { headers }),
        await api.get(`/v1/board?projectId=${projectId}`, { headers }),
        await api.get(`/v1/backlog?projectId=${projectId}`, { headers }),
      ]),
    );
    const [foreign, unknown] = responses.map((kinds) => kinds.map(({ status, text }) => ({ status, text })));
    expect(foreign).toEqual(unknown);
    for (const response of foreign ?? []) expect(response.status).toBe(404);
  });

  it.each(["web", "", "1,2", "019a0000-0000-7000-8000"])(
    "returns 400 for `%s`, which is no id",
    async (projectId) => {
      expect((await board.api.get(`/v1/board?projectId=${projectId}`)).status).toBe(400);
      expect((await create({ title: "x", projectId })).status).toBe(400);
    },
  );

  it("returns 400 if a query has it twice", async () => {
    const twice = `projectId=${board.projectId}&projectId=${board.projectId}`;
    expect((await board.api.get(`/v1/board?${twice}`)).status).toBe(400);
  });

  it("is refused beside an unknown query parameter", async () => {
    expect((await board.api.get(`/v1/board?projectId=${board.projectId}&page=2`)).status).toBe(400);
  });
});
