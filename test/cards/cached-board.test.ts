import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { makeApi, type Api } from "../support/api.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let second: RunningService;
beforeAll(async () => {
  second = await startSecondService(world);
});

interface Shown {
  readonly columns: readonly {
    readonly statusId: string;
    readonly name: string;
    readonly tasks: readonly {
      readonly number: number;
      readonly title: string;
      readonly assignee: { readonly name: string; readonly kind: string } | null;
      readonly labels: readonly { readonly name: string; readonly color: string }[];
    }[];
  }[];
}

const tasksOf = ({ columns }: Shown) => columns.flatMap(({ tasks }) => tasks);

/** The board after a change, from a process that cached it before and did not make the change. */
async function shownElsewhere(board: TestBoard, change: (api: Api) => Promise<unknown>): Promise<Shown> {
  const reader = await board.as({});
  const elsewhere = makeApi(second.baseUrl, reader.apiKey);
  await elsewhere.get("/v1/board");
  await change(board.api);
  return (await elsewhere.get<Shown>("/v1/board")).body;
}

describe("a cached board shows on every process", () => {
  it("created, renamed, moved and deleted cards", async () => {
    const board = await world.board();
    const stage = board.stages["To do"];
    const { number } = await board.api.card({ title: "First", statusId: stage });
    const added = await shownElsewhere(board, (api) => api.card({ title: "Second", statusId: stage }));
    expect(tasksOf(added).map(({ title }) => title)).toEqual(["First", "Second"]);
    const renamed = await shownElsewhere(board, (api) =>
      api.patch(`/v1/cards/${number}`, { title: "Renamed", priority: "high" }),
    );
    expect(tasksOf(renamed)).toMatchObject([{ title: "Renamed", priority: "high" }, { title: "Second" }]);
    const moved = await shownElsewhere(board, (api) => api.move(number, stage, 1));
    expect(tasksOf(moved).map(({ title }) => title)).toEqual(["Second", "Renamed"]);
    const removed = await shownElsewhere(board, (api) => api.delete(`/v1/cards/${number}`));
    expect(tasksOf(removed).map(({ title }) => title)).toEqual(["Second"]);
  });

  it("assigned, renamed and deleted labels", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ statusId: board.stages["To do"] });
    const { body: label } = await board.api.post<{ id: string }>("/v1/labels", { name: "bug", color: "red" });
    const set = await shownElsewhere(board, (api) =>
      api.patch(`/v1/cards/${number}`, { labelIds: [label.id] }),
    );
    expect(tasksOf(set)[0]?.labels).toMatchObject([{ name: "bug", color: "red" }]);
    const renamed = await shownElsewhere(board, (api) =>
      api.patch(`/v1/labels/${label.id}`, { name: "defect", color: "teal" }),
    );
    expect(tasksOf(renamed)[0]?.labels).toMatchObject([{ name: "defect", color: "teal" }]);
    const deleted = await shownElsewhere(board, (api) => api.delete(`/v1/labels/${label.id}`));
    expect(tasksOf(deleted)[0]?.labels).toEqual([]);
  });

  it("assignees with their current name and kind", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ statusId: board.stages["To do"] });
    const { body: members } = await board.api.get<{ id: string; name: string }[]>("/v1/members");
    const assigneeId = members[0]?.id ?? "";
    const { db } = world.service.deps;
    const assigned = await shownElsewhere(board, (api) => api.patch(`/v1/cards/${number}`, { assigneeId }));
    expect(tasksOf(assigned)[0]?.assignee).toMatchObject({ name: members[0]?.name });
    const renamed = await shownElsewhere(board, () =>
      db("users").where({ id: assigneeId }).update({ name: "another name", kind: "human" }),
    );
    expect(tasksOf(renamed)[0]?.assignee).toMatchObject({ name: "another name", kind: "human" });
    const registered = await shownElsewhere(board, () =>
      db("workspace_agents").insert({ workspace_id: board.workspaceId, user_id: assigneeId }),
    );
    expect(tasksOf(registered)[0]?.assignee).toMatchObject({ kind: "agent" });
  });

  it("a changed flow", async () => {
    const board = await world.board();
    const path = `/v1/projects/${board.projectId}/flow`;
    const { body: flow } = await board.api.get<{ stages: { name: string }[] }>(path);
    const stages = flow.stages.map((stage) => ({ ...stage, name: `${stage.name}!` }));
    const { columns } = await shownElsewhere(board, (api) => api.put(path, { ...flow, stages }));
    expect(columns.map(({ name }) => name)).toEqual(["To do!", "In progress!", "In review!", "Done!"]);
  });

  it("the selected project after a second one is created", async () => {
    const board = await world.board();
    await board.api.get("/v1/board");
    await board.api.post("/v1/projects", { name: "Another" });
    expect((await board.api.get("/v1/board")).status).toBe(400);
    expect((await board.api.get(`/v1/board?projectId=${board.projectId}`)).status).toBe(200);
  });
});

it("no read misses a write whose response came before it, on either process", async () => {
  const board = await world.board();
  const statusId = board.stages["To do"];
  const both = [board.api, makeApi(second.baseUrl, board.api.apiKey)];
  const misses: string[] = [];
  const writer = async (api: Api, reader: Api): Promise<void> => {
    const { number } = await api.card({ statusId });
    for (let round = 0; round < 15; round++) {
      const title = randomUUID();
      expect((await api.patch(`/v1/cards/${number}`, { title })).status).toBe(200);
      const shown = tasksOf((await reader.get<Shown>("/v1/board")).body).find(
        (task) => task.number === number,
      );
      if (shown?.title !== title) misses.push(`${title} is not ${shown?.title}`);
    }
  };
  const [here, there] = both as [Api, Api];
  await Promise.all([writer(here, there), writer(there, here), writer(here, here), writer(there, there)]);
  expect(misses).toEqual([]);
});

it("an unchanged board keeps its ETag on both processes and returns 304", async () => {
  const board = await world.board();
  await board.api.card({ statusId: board.stages["To do"] });
  const read = (baseUrl: string, etag?: string): Promise<Response> =>
    fetch(`${baseUrl}/v1/board`, {
      headers: {
        authorization: `Bearer ${board.api.apiKey}`,
        ...(etag !== undefined && { "if-none-match": etag }),
      },
    });
  const first = await read(world.service.baseUrl);
  const etag = first.headers.get("etag") ?? "";
  expect(first.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect((await read(second.baseUrl)).headers.get("etag")).toBe(etag);
  expect((await read(second.baseUrl, etag)).status).toBe(304);
  await board.api.card({ statusId: board.stages["To do"] });
  expect((await read(second.baseUrl, etag)).status).toBe(200);
});
