/** A reader that applies the events to what it knows has the cards in the order of the board. */
import { expect, it } from "@jest/globals";
import { headOf, readFeed, type ApiEvent } from "../support/stories/event-stream.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

type Columns = ReadonlyMap<string, readonly number[]>;

/** The cards of each column, as the board and the backlog show them. */
async function columnsOf({ api, stages }: TestBoard): Promise<Columns> {
  const backlog = await api.get<{ number: number }[]>("/v1/backlog");
  const board = await api.get<{ columns: { statusId: string; tasks: { number: number }[] }[] }>("/v1/board");
  const columns = [{ statusId: stages.Backlog, tasks: backlog.body }, ...board.body.columns];
  return new Map(columns.map(({ statusId, tasks }) => [statusId, tasks.map(({ number }) => number)]));
}

interface Placement {
  readonly statusId?: string;
  readonly above?: number | null;
}

/** The cards of each column, from the events alone. */
function replay({ stages }: TestBoard, events: readonly ApiEvent[]): Columns {
  const columns = new Map<string, number[]>(Object.values(stages).map((id) => [id, []]));
  const place = (number: number, statusId: string | undefined, above: number | null | undefined): void => {
    for (const [id, column] of columns)
      columns.set(
        id,
        column.filter((one) => one !== number),
      );
    const column = columns.get(statusId ?? "") ?? [];
    if (above === undefined) column.push(number);
    else column.splice(above === null ? 0 : column.indexOf(above) + 1, 0, number);
  };
  for (const { kind, card, data } of events) {
    const number = card?.number ?? 0;
    const [to, above] = [data["to"], data["above"] as number | null];
    if (kind === "card_created") place(number, (to as Placement).statusId, undefined);
    if (kind === "status_changed") place(number, to as string, above);
    if (kind === "card_reordered") place(number, data["statusId"] as string, (to as Placement).above);
    if (kind === "card_deleted") place(number, undefined, null);
  }
  return columns;
}

/** The board and its replay agree. */
async function expectReplayed(board: TestBoard): Promise<ApiEvent[]> {
  await headOf(board);
  const events = await readFeed(board.api);
  expect(replay(board, events)).toEqual(await columnsOf(board));
  return events;
}

it("after cards were created, moved, reordered and deleted one after the other", async () => {
  const board = await world.board();
  const { Backlog, "To do": todo, "In progress": doing, Done } = board.stages;
  const stages = [Backlog, todo, doing, Done];
  for (let nth = 0; nth < 8; nth++)
    await board.api.card({ repositoryIds: [], ...(nth % 2 === 0 && { statusId: todo }) });
  for (let step = 0; step < 60; step++) {
    const [number, index] = [((step * 5) % 8) + 1, (step * 7) % 5];
    const moved = await board.api.move(number, stages[(step * 3) % 4] ?? "", index === 4 ? 1_000 : index);
    expect(moved.status).toBe(200);
    if (step % 20 === 0) await board.api.card({ repositoryIds: [] });
  }
  await board.api.delete("/v1/cards/3");
  await expectReplayed(board);
});

it("after concurrent calls moved cards into one column and reordered it", async () => {
  const board = await world.board();
  const todo = board.stages["To do"];
  const cards = await Promise.all(Array.from({ length: 16 }, () => board.api.card({ repositoryIds: [] })));
  for (let round = 0; round < 3; round++) {
    const moved = await Promise.all(
      cards.map(({ number }, nth) => board.api.move(number, todo, (nth * 5 + round) % 16)),
    );
    expect(moved.map(({ status }) => status)).toEqual(cards.map(() => 200));
  }
  await expectReplayed(board);
});

it("with an event for a new order, and none on the timeline or for the same order", async () => {
  const board = await world.board();
  const todo = board.stages["To do"];
  for (let nth = 0; nth < 3; nth++) await board.api.card({ repositoryIds: [], statusId: todo });
  const head = await headOf(board);
  for (const index of [0, 0, 1, 2, 99]) await board.api.move(3, todo, index);
  const events = (await expectReplayed(board)).slice(head);
  expect(events.map(({ kind, card, data }) => [kind, card?.number, data])).toEqual([
    ["card_reordered", 3, { statusId: todo, from: { above: 2 }, to: { above: null } }],
    ["card_reordered", 3, { statusId: todo, from: { above: null }, to: { above: 1 } }],
    ["card_reordered", 3, { statusId: todo, from: { above: 1 }, to: { above: 2 } }],
  ]);
  expect(events[0]?.actor?.user.name).toBe("maintainer agent");
  const timeline = await board.api.timeline(3);
  expect(timeline.map(({ kind }) => kind)).toEqual(["created", "status_changed"]);
});
