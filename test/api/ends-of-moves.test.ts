import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { ApiAnswer, ApiCard } from "../support/api.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { keepCalls } from "../support/kept-calls.ts";
import { statementsOf } from "../support/statements.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
/** In their column, top first, where they came with branches. */
let there: ApiCard[];
beforeAll(async () => {
  world = await startWorld();
  board = await world.board();
  const { api, stages } = board;
  there = [await api.card(), await api.card()];
  for (const { number } of there) await api.move(number, stages["In progress"], 1_000);
});
afterEach(() => world.forge.control.faults.clear());
afterEach(() => leaveConsistent(world, board));
afterAll(() => world.stop());

const isByStatement = (made: readonly string[]): boolean => made.some((text) => text.includes("end_move("));
/** Whether rows were written one by one. */
const isInSteps = (made: readonly string[]): boolean => made.some((text) => text.startsWith("update cards"));

/** Moves a card made for it through the forge. Gives how, and what came of it. */
async function moved(index: number) {
  const { api, stages } = board;
  const { number } = await api.card();
  const answers: ApiAnswer[] = [];
  const made = await statementsOf(async () =>
    answers.push(await api.move(number, stages["In progress"], index)),
  );
  return { number, made, answer: answers[0], card: await api.readCard(number) };
}

const MADE_ANEW = new Set(["id", "at", "createdAt", "updatedAt", "number", "position", "branchName", "sha"]);
const saidBy = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, each: unknown) => (MADE_ANEW.has(name) ? null : each));

describe("a move that the forge has carried out", () => {
  it.each([
    ["the top", 0, 0],
    ["a place between others", 1, 1],
    ["the end", 1_000, 2],
  ])("ends by one statement with its card at %s", async (_, index, position) => {
    const { number, made, answer, card } = await moved(index);
    expect(answer).toMatchObject({ status: 200, body: { task: { number, blocked: null }, promoted: [] } });
    expect([isByStatement(made), isInSteps(made), made]).toEqual([true, false, made]);
    expect(card).toMatchObject({ statusId: board.stages["In progress"], position });
    await board.api.delete(`/v1/cards/${number}`);
  });

  it("ends step by step where one statement finds no place, and is answered and told of alike", async () => {
    const { api } = board;
    const byStatement = await moved(1_000);
    await board
      .db("cards")
      .where({ id: byStatement.card.id })
      .update({ rank: "z".repeat(27) });
    const inSteps = await moved(1_000);
    expect([isInSteps(byStatement.made), isInSteps(inSteps.made)]).toEqual([false, true]);
    const told: unknown[] = [];
    for (const { number, answer, card } of [byStatement, inSteps]) {
      told.push([answer?.status, saidBy(answer?.body), saidBy(card), saidBy(await api.timeline(number))]);
      await api.delete(`/v1/cards/${number}`);
    }
    expect(told[0]).toEqual(told[1]);
  });

  /** What another process changes when it takes over. */
  const takenOver: readonly [
    string,
    (move: { readonly number: number; readonly key: string }) => Promise<unknown>,
  ][] = [
    [
      "the move",
      ({ number }) =>
        board
          .db("operations")
          .where({ state: "running", workspace_id: board.workspaceId })
          .whereIn(
            "card_id",
            board.db("cards").where({ workspace_id: board.workspaceId, number }).select("id"),
          )
          .increment("attempt"),
    ],
    ["its key", ({ key }) => board.db("idempotency_keys").where({ key }).increment("attempt")],
  ];

  it.each(takenOver)("changes nothing where another has %s by then", async (_, takeOver) => {
    const { api, db, stages } = board;
    const { id, number } = await api.card();
    // With its branch already, so that the forge is only looked at.
    await api.move(number, stages["In progress"]);
    await api.move(number, stages["To do"]);
    const before = [await api.readCard(number), await api.timeline(number)];
    const key = `key-${randomUUID()}`;
    const kept = keepCalls(world, {});
    const moving = api.move(number, stages["In progress"], 0, { key });
    await kept.met();
    expect(await takeOver({ number, key })).toBe(1);
    kept.letGo();
    expect(await moving).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect([await api.readCard(number), await api.timeline(number)]).toEqual(before);
    await db("operations").where({ card_id: id, state: "running" }).update({ state: "abandoned" });
    await db("idempotency_keys").where({ key }).delete();
  });
});
