import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { ApiCard } from "../support/api.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
/** The cards in the column, from the top. */
let present: ApiCard[];
beforeAll(async () => {
  board = await world.board();
  const { api, stages } = board;
  present = [await api.card(), await api.card()];
  for (const { number } of present) await api.move(number, stages["In progress"], 1_000);
});
afterEach(() => world.forge.control.faults.clear());
afterEach(() => leaveConsistent(world, board));

describe("a move whose Git work is done", () => {
  it.each([
    ["the top", 0, 0],
    ["a position between others", 1, 1],
    ["the end", 1_000, 2],
  ])("places its card at %s", async (_, index, position) => {
    const { api, stages } = board;
    const { number } = await api.card();
    const response = await api.move(number, stages["In progress"], index);
    expect(response).toMatchObject({ status: 200, body: { task: { number, blocked: null }, promoted: [] } });
    expect(await api.readCard(number)).toMatchObject({ statusId: stages["In progress"], position });
    await api.delete(`/v1/cards/${number}`);
  });

  it("places its card behind a last card whose rank has no successor of the same length", async () => {
    const { api, db, stages } = board;
    const last = await api.card();
    await api.move(last.number, stages["In progress"], 1_000);
    await db("cards")
      .where({ id: last.id })
      .update({ rank: "z".repeat(27) });
    const { number } = await api.card();
    expect((await api.move(number, stages["In progress"], 1_000)).status).toBe(200);
    const { position } = await api.readCard(last.number);
    expect(await api.readCard(number)).toMatchObject({ position: position + 1 });
    for (const each of [number, last.number]) await api.delete(`/v1/cards/${each}`);
  });

  /** What another process changes when it takes a move over. */
  const takeovers: readonly [
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
          .increment("generation"),
    ],
    ["its idempotency key", ({ key }) => board.db("idempotency_keys").where({ key }).increment("generation")],
  ];

  it.each(takeovers)("changes nothing after another process took over %s", async (_, takeOver) => {
    const { api, db, stages } = board;
    const { id, number } = await api.card();
    // The branch exists, so that the second move only reads from GitHub.
    await api.move(number, stages["In progress"]);
    await api.move(number, stages["To do"]);
    const before = [await api.readCard(number), await api.timeline(number)];
    const key = `key-${randomUUID()}`;
    const kept = holdCalls(world, {});
    const moving = api.move(number, stages["In progress"], 0, { key });
    await kept.arrived();
    expect(await takeOver({ number, key })).toBe(1);
    kept.resume();
    expect(await moving).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect([await api.readCard(number), await api.timeline(number)]).toEqual(before);
    await db("operations").where({ card_id: id, state: "running" }).update({ state: "abandoned" });
    await db("idempotency_keys").where({ key }).delete();
  });
});
