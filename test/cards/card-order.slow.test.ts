import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});
afterEach(() => leaveConsistent(world, board));

type StageName = keyof TestBoard["stages"];
const STAGES: readonly StageName[] = ["Backlog", "To do", "In progress", "Done"];

type Columns = Map<string, number[]>;

const numbersOf = (tasks: readonly { number: number }[]) => tasks.map(({ number }) => number);

/** The card numbers of each column in order. Fails if a card's position differs from its place. */
async function columnsOf({ api, stages }: TestBoard): Promise<Columns> {
  const backlog = await api.get<{ number: number }[]>("/v1/backlog");
  const board = await api.get<{ columns: { statusId: string; tasks: { number: number }[] }[] }>("/v1/board");
  const columns: Columns = new Map([[stages.Backlog, numbersOf(backlog.body)]]);
  for (const { statusId, tasks } of board.body.columns) columns.set(statusId, numbersOf(tasks));
  for (const [statusId, column] of columns) {
    const cards = await Promise.all(column.map((number) => api.readCard(number)));
    expect(cards.map(({ position }) => position)).toEqual(column.map((_, index) => index));
    for (const card of cards) expect(card.statusId).toBe(statusId);
  }
  return columns;
}

async function deleteAllCards(board: TestBoard): Promise<void> {
  const left = [...(await columnsOf(board)).values()].flat();
  await Promise.all(left.map((number) => board.api.delete(`/v1/cards/${number}`)));
}

/** The titles of a column's cards, from the top. */
async function titlesIn({ api, stages }: TestBoard, stage: StageName): Promise<string[]> {
  const board = await api.get<{ columns: { statusId: string; tasks: { title: string }[] }[] }>("/v1/board");
  const column = board.body.columns.find(({ statusId }) => statusId === stages[stage]);
  return column?.tasks.map(({ title }) => title) ?? [];
}

async function threeToDo(): Promise<number[]> {
  await deleteAllCards(board);
  const numbers: number[] = [];
  for (const title of ["a", "b", "c"]) {
    numbers.push((await board.api.card({ title, statusId: board.stages["To do"] })).number);
  }
  return numbers;
}

describe("a card moved to an index", () => {
  it.each([
    [0, ["c", "a", "b"]],
    [1, ["a", "c", "b"]],
    [2, ["a", "b", "c"]],
    [3, ["a", "b", "c"]],
    [Number.MAX_SAFE_INTEGER, ["a", "b", "c"]],
  ])("%d of its own column gets that position", async (index, order) => {
    const numbers = await threeToDo();
    const moved = await board.api.move(numbers[2] ?? 0, board.stages["To do"], index);
    expect(moved.status).toBe(200);
    expect(moved.body.promoted).toEqual([]);
    expect(await titlesIn(board, "To do")).toEqual(order);
  });

  // Contract: Moves: `index` is the position in the column; 0 is the top
  it.each([
    [0, ["new", "a", "b", "c"]],
    [2, ["a", "b", "new", "c"]],
    [3, ["a", "b", "c", "new"]],
    [4, ["a", "b", "c", "new"]],
    [2 ** 31, ["a", "b", "c", "new"]],
    [Number.MAX_SAFE_INTEGER, ["a", "b", "c", "new"]],
  ])("%d of another column gets that position, or the last one", async (index, order) => {
    await threeToDo();
    const { number } = await board.api.card({ title: "new" });
    expect((await board.api.move(number, board.stages["To do"], index)).status).toBe(200);
    expect(await titlesIn(board, "To do")).toEqual(order);
  });

  it("beyond 32 bits of a stage with Git gets the last position", async () => {
    const { number } = await board.api.card();
    const moved = await board.api.move(number, board.stages["In progress"], 2 ** 40);
    expect(moved.status).toBe(200);
    expect(await board.api.readCard(number)).toMatchObject({
      statusId: board.stages["In progress"],
      position: 0,
    });
  });

  it.each<[string, unknown]>([
    ["a negative number", -1],
    ["a fraction", 0.5],
    ["text", "0"],
    ["null", null],
    ["nothing", undefined],
    ["a number that is too large", 1e300],
  ])("that is %s gets 400 and stays", async (_, index) => {
    const numbers = await threeToDo();
    const refused = await board.api.post(`/v1/cards/${numbers[0]}/move`, {
      statusId: board.stages.Done,
      index,
    });
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.index" }] } });
    expect(await titlesIn(board, "To do")).toEqual(["a", "b", "c"]);
  });

  // Contract: Timeline and comments: An event from the API has the credential's name and `login: null`
  it("is recorded in the timeline only if its stage changes", async () => {
    const numbers = await threeToDo();
    const number = numbers[2] ?? 0;
    await board.api.move(number, board.stages["To do"], 0);
    await board.api.move(number, board.stages.Backlog, 0);
    const [, , back, ...rest] = await board.api.timeline(number);
    expect(back).toMatchObject({
      kind: "status_changed",
      data: { from: board.stages["To do"], to: board.stages.Backlog },
      actor: { login: null, user: { kind: "machine", name: "maintainer agent" } },
    });
    expect(rest).toEqual([]);
  });
});

describe("columns", () => {
  // Invariant: I7
  it("have positions 0 to n-1 and the order of a plain list after random moves", async () => {
    const anyCard = fc.nat(20);
    const anyStage = fc.constantFrom(...STAGES);
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.record({ do: fc.constant("create" as const), stage: anyStage }) },
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant("move" as const),
          card: anyCard,
          stage: anyStage,
          index: fc.oneof(fc.nat(6), fc.constant(100)),
        }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), card: anyCard }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 16 }), async (steps) => {
        await deleteAllCards(board);
        const model: Columns = new Map(Object.values(board.stages).map((stageId) => [stageId, []]));
        const columnOf = (number: number) =>
          [...model.values()].find((column) => column.includes(number)) ?? [];
        const remove = (number: number) => columnOf(number).splice(columnOf(number).indexOf(number), 1);
        const pick = (place: number): number | undefined => {
          const numbers = [...model.values()].flat();
          return numbers[place % numbers.length];
        };
        for (const each of steps) {
          if (each.do === "create") {
            const statusId = board.stages[each.stage];
            const { number } = await board.api.card({ repositoryIds: [], statusId });
            model.get(statusId)?.push(number);
            continue;
          }
          const number = pick(each.card);
          if (number === undefined) continue;
          remove(number);
          if (each.do === "move") model.get(board.stages[each.stage])?.splice(each.index, 0, number);
          const response = await (each.do === "move"
            ? board.api.move(number, board.stages[each.stage], each.index)
            : board.api.delete(`/v1/cards/${number}`));
          expect(response.status).toBe(each.do === "move" ? 200 : 204);
        }
        expect(await columnsOf(board)).toEqual(model);
      }),
      { numRuns: 8 },
    );
  });

  it("lose and duplicate no card when many are moved to the top concurrently", async () => {
    await deleteAllCards(board);
    const cards = await Promise.all(Array.from({ length: 30 }, () => board.api.card({ repositoryIds: [] })));
    const moved = await Promise.all(
      cards.map(({ number }, index) => board.api.move(number, board.stages[index % 2 ? "To do" : "Done"], 0)),
    );
    expect(moved.map(({ status }) => status)).toEqual(cards.map(() => 200));
    const columns = await columnsOf(board);
    expect(columns.get(board.stages["To do"])).toHaveLength(15);
    expect(columns.get(board.stages.Done)).toHaveLength(15);
  });

  // Fault: E2
  it("have one result when a card is moved into two stages concurrently", async () => {
    const { number } = await board.api.card({ repositoryIds: [] });
    for (let round = 0; round < 10; round++) {
      const from = (await board.api.readCard(number)).statusId;
      const targets = Object.values(board.stages)
        .filter((id) => id !== from)
        .slice(0, 2);
      const responses = await Promise.all(targets.map((id) => board.api.move(number, id)));
      const reached = responses.flatMap(({ status, body }) => (status === 200 ? [body.task.statusId] : []));
      expect(reached.length).toBeGreaterThan(0);
      for (const { status, headers } of responses.filter((response) => response.status !== 200)) {
        expect([status, headers.has("retry-after")]).toEqual([409, true]);
      }
      expect(reached).toContain((await board.api.readCard(number)).statusId);
      const changes = (await board.api.timeline(number)).filter(({ kind }) => kind === "status_changed");
      expect(changes.at(-1)?.data["to"]).toBe((await board.api.readCard(number)).statusId);
    }
  });
});
