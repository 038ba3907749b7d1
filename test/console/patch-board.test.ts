import { describe, expect, it } from "@jest/globals";
import {
  addCard,
  applyMove,
  findCard,
  placeCard,
  putCard,
  removeCard,
  updateCard,
} from "../../console/api/patch-board.ts";
import type { Board, Card, Event } from "../../console/api/schema.d.ts";
import { boardColumn, boardTask } from "../support/console/board-data.ts";

const board: Board = { columns: [boardColumn("todo", [1, 2, 3]), boardColumn("doing", [4])] };
const numbersIn = (shown: Board | null): Record<string, number[]> =>
  Object.fromEntries(
    (shown?.columns ?? []).map(({ statusId, tasks }) => [statusId, tasks.map((each) => each.number)]),
  );

const moved = (number: number, data: Event["data"], kind: Event["kind"] = "status_changed"): Event => ({
  seq: 9,
  id: "w-9",
  kind,
  at: "2026-01-01T00:00:00.000Z",
  card: { number, title: `Card ${number}` },
  actor: null,
  data,
});

describe("an event about a move", () => {
  it.each([
    ["to the top", moved(2, { from: "todo", to: "doing", above: null }), { todo: [1, 3], doing: [2, 4] }],
    ["below a card", moved(2, { from: "todo", to: "doing", above: 4 }), { todo: [1, 3], doing: [4, 2] }],
    [
      "within a column",
      moved(3, { statusId: "todo", from: { above: 2 }, to: { above: 1 } }, "card_reordered"),
      { todo: [1, 3, 2], doing: [4] },
    ],
    ["to the backlog", moved(2, { from: "todo", to: "backlog", above: null }), { todo: [1, 3], doing: [4] }],
  ])("places the card %s", (_, event, expected) => {
    expect(numbersIn(applyMove(board, event))).toEqual(expected);
  });

  it("changes nothing when it is applied again", () => {
    const event = moved(2, { from: "todo", to: "doing", above: 4 });
    const once = applyMove(board, event);
    expect(once && applyMove(once, event)).toBe(once);
  });

  it("asks for the card if the board does not have it, or the event does not say where it is", () => {
    expect(applyMove(board, moved(7, { from: "backlog", to: "todo", above: 1 }))).toBeNull();
    expect(applyMove(board, moved(2, { fields: ["title"] }, "updated"))).toBeNull();
  });

  it("leaves the other cards as they are", () => {
    const after = applyMove(board, moved(2, { from: "todo", to: "doing", above: 4 }));
    expect(after && findCard(after, 3)?.task).toBe(findCard(board, 3)?.task);
  });
});

describe("a card as the service has it", () => {
  it("replaces the shown one, at its position", () => {
    const card = { ...boardTask(1, "doing"), title: "New", position: 1 } as Card;
    const after = putCard(board, card);
    expect(numbersIn(after)).toEqual({ todo: [2, 3], doing: [4, 1] });
    expect(findCard(after, 1)?.task.title).toBe("New");
  });
});

describe("a card that the board does not have yet", () => {
  const arrives = (number: number) => moved(number, { from: "backlog", to: "todo", above: null });

  it("is placed by its event, so that several stay in order although they are read late", () => {
    const events = [7, 8, 9].map(arrives);
    const shown = events.reduce((before, event) => addCard(before, event, "project"), board);
    expect(numbersIn(shown)["todo"]).toEqual([9, 8, 7, 1, 2, 3]);
    const read = { ...boardTask(7, "todo"), priority: "high", position: 0 } as unknown as Card;
    const after = updateCard(shown, read);
    expect(numbersIn(after)).toEqual(numbersIn(shown));
    expect(findCard(after, 7)?.task.priority).toBe("high");
  });

  it("is not added twice, nor by an event that does not say where it is", () => {
    expect(addCard(board, arrives(3), "project")).toBe(board);
    expect(addCard(board, moved(7, { fields: ["title"] }, "updated"), "project")).toBe(board);
  });

  it("is not added if it went elsewhere", () => {
    const gone = moved(7, { from: "todo", to: "backlog", above: null });
    expect(numbersIn(addCard(board, gone, "project"))).toEqual(numbersIn(board));
  });
});

describe("a board", () => {
  it("is the same object if a removed card was not on it", () => {
    expect(removeCard(board, 99)).toBe(board);
  });

  it("places a card at the end if the one above it is gone", () => {
    expect(numbersIn(placeCard(board, boardTask(1, "todo"), "doing", { above: 88 }))["doing"]).toEqual([
      4, 1,
    ]);
  });
});
