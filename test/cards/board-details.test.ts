import { beforeAll, describe, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { makeApi, type Api, type ApiResponse } from "../support/api.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let second: RunningService;
beforeAll(async () => {
  second = await startSecondService(world);
});

type Task = Readonly<Record<string, unknown>> & { readonly number: number };
interface Shown {
  readonly columns: readonly { readonly tasks: readonly Task[] }[];
}

const DETAILS = "/v1/board?include=details";

const readDetails = (api: Api): Promise<ApiResponse<Shown>> => api.get<Shown>(DETAILS);
const taskIn = ({ body }: ApiResponse<Shown>, number: number): Task | undefined =>
  body.columns.flatMap(({ tasks }) => tasks).find((task) => task.number === number);

/** A card after a change, on the board of a process that cached it before and did not make the change. */
async function shownElsewhere(
  board: TestBoard,
  number: number,
  change: () => Promise<unknown>,
): Promise<Task | undefined> {
  const reader = await board.as({});
  const elsewhere = makeApi(second.baseUrl, reader.apiKey);
  await readDetails(elsewhere);
  await change();
  return taskIn(await readDetails(elsewhere), number);
}

/** A board with a card in its first stage. */
async function boardWithCard(): Promise<{ board: TestBoard; number: number; id: string }> {
  const board = await world.board();
  const { number, id } = await board.api.card({ statusId: board.stages["To do"] });
  return { board, number, id };
}

describe("a board with details shows on every process", () => {
  it("the fields of the plain board and the details of a card", async () => {
    const { board, number } = await boardWithCard();
    const plain = await board.api.get<Shown>("/v1/board");
    const detailed = await readDetails(board.api);
    const card = await board.api.readCard(number);
    expect(taskIn(detailed, number)).toEqual({
      ...taskIn(plain, number),
      repositories: [
        {
          fullName: `${board.owner}/web`,
          branchName: null,
          prNumber: null,
          prState: null,
          checksState: null,
          reviewState: null,
          isBehind: null,
          hasConflicts: null,
          isInMergeQueue: null,
        },
      ],
      blocked: null,
      armed: null,
      dueDate: null,
      parentNumber: null,
      featureId: null,
      children: { total: 0, done: 0 },
      commentCount: 0,
      updatedAt: (card as unknown as { updatedAt: string }).updatedAt,
    });
    expect(taskIn(plain, number)).not.toHaveProperty("blocked");
  });

  it("fields that only details have", async () => {
    const { board, number } = await boardWithCard();
    const { body: feature } = await board.api.post<{ id: string }>("/v1/features", { name: "Greetings" });
    const changes = { dueDate: "2030-01-02", featureId: feature.id };
    expect(
      await shownElsewhere(board, number, () => board.api.patch(`/v1/cards/${number}`, changes)),
    ).toMatchObject(changes);
    expect(
      await shownElsewhere(board, number, () => board.api.delete(`/v1/features/${feature.id}`)),
    ).toMatchObject({ featureId: null });
  });

  it("comments", async () => {
    const { board, number } = await boardWithCard();
    const comment = () => board.api.post(`/v1/cards/${number}/comments`, { body: "Hello" });
    expect(await shownElsewhere(board, number, comment)).toMatchObject({ commentCount: 1 });
    expect(await shownElsewhere(board, number, comment)).toMatchObject({ commentCount: 2 });
  });

  it("sub-cards, also of another project, and how many are done", async () => {
    const { board, number } = await boardWithCard();
    const { body: other } = await board.api.post<{ id: string }>("/v1/projects", { name: "Another" });
    const { body: flow } = await board.api.get<{ stages: { id: string; kind: string }[] }>(
      `/v1/projects/${other.id}/flow`,
    );
    const last = flow.stages.at(-1)?.id ?? "";
    let child = 0;
    const path = `/v1/board?include=details&projectId=${board.projectId}`;
    const shown = async (change: () => Promise<unknown>): Promise<Task | undefined> => {
      const elsewhere = makeApi(second.baseUrl, board.api.apiKey);
      await elsewhere.get(path);
      await change();
      return taskIn(await elsewhere.get<Shown>(path), number);
    };
    const added = await shown(async () => {
      child = (await board.api.card({ parentNumber: number, projectId: other.id })).number;
    });
    expect(added).toMatchObject({ children: { total: 1, done: 0 } });
    expect(await shown(() => board.api.move(child, last))).toMatchObject({ children: { total: 1, done: 1 } });
    const { body: listed } = await board.api.get<Task[]>(`/v1/cards/${number}/children`);
    expect(listed).toMatchObject([{ number: child, parentNumber: number, statusId: last }]);
    const orphan = () => board.api.patch(`/v1/cards/${child}`, { parentNumber: null });
    expect(await shown(orphan)).toMatchObject({ children: { total: 0, done: 0 } });
    const adopt = () => board.api.patch(`/v1/cards/${child}`, { parentNumber: number });
    expect(await shown(adopt)).toMatchObject({ children: { total: 1, done: 1 } });
    expect(await shown(() => board.api.delete(`/v1/cards/${child}`))).toMatchObject({
      children: { total: 0, done: 0 },
    });
    expect((await board.api.get(`/v1/cards/${number}/children`)).body).toEqual([]);
  });

  it("that its parent is deleted", async () => {
    const { board, number } = await boardWithCard();
    const { number: parent } = await board.api.card({ statusId: board.stages["To do"] });
    const adopted = () => board.api.patch(`/v1/cards/${number}`, { parentNumber: parent });
    expect(await shownElsewhere(board, number, adopted)).toMatchObject({ parentNumber: parent });
    const deleted = () => board.api.delete(`/v1/cards/${parent}`);
    expect(await shownElsewhere(board, number, deleted)).toMatchObject({ parentNumber: null });
  });

  it("a refused move", async () => {
    const { board, number } = await boardWithCard();
    const flowPath = `/v1/projects/${board.projectId}/flow`;
    const { body: flow } = await board.api.get<{ stages: { name: string }[] }>(flowPath);
    const stages = flow.stages.map((stage) =>
      stage.name === "Done"
        ? { ...stage, gates: { wipLimit: null, humanOnly: true, secondPerson: false } }
        : stage,
    );
    await board.api.put(flowPath, { ...flow, stages });
    const task = await shownElsewhere(board, number, () => board.api.move(number, board.stages.Done));
    expect(task).toMatchObject({ blocked: { reason: "human_only", statusId: board.stages.Done } });
  });
});

it("a change of details changes the ETag of the board with details, and not that of the plain board", async () => {
  const { board, number } = await boardWithCard();
  const etagOf = async (path: string) => (await board.api.get(path)).headers.get("etag");
  const before = [await etagOf("/v1/board"), await etagOf(DETAILS)];
  await board.api.patch(`/v1/cards/${number}`, { dueDate: "2030-01-02" });
  const after = [await etagOf("/v1/board"), await etagOf(DETAILS)];
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
});
