/** GitHub limits the size of one GraphQL query, by no published number. */
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { expectAllConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld({}, expectAllConsistent);
let board: TestBoard;
beforeAll(async () => {
  board = await world.board({ repositories: ["web", "api", "docs"] });
});
afterEach(() => world.forge.control.faults.clear());

/** A card with a branch in each of the repositories. */
async function cardInAll(): Promise<number> {
  const { number } = await board.api.card({
    title: "Say hello",
    repositoryIds: Object.values(board.repositories),
  });
  expect(await board.api.move(number, board.stages["In progress"])).toMatchObject({ status: 200 });
  return number;
}

describe.each(["resource-limits", "timeout"] as const)("a query that GitHub ends (%s)", (as) => {
  it("is asked in parts, so that a card in several repositories moves", async () => {
    const number = await cardInAll();
    world.forge.control.faults.add({ fault: { kind: "query-limit", largest: 1, as } });
    world.forge.control.calls.reset();
    const moved = await board.api.move(number, board.stages["In review"]);
    // Nothing is pushed yet, so each repository refuses; without a response, the move is 503.
    expect(moved).toMatchObject({ status: 409, body: { blocked: { reason: "nothing_to_merge" } } });
    expect(world.forge.control.calls.read().operations["Inspect"]).toBe(5);
  });

  it("is 503 with the repository when it is for one branch only", async () => {
    const number = await cardInAll();
    world.forge.control.faults.add({ fault: { kind: "query-limit", largest: 0, as } });
    expect(await board.api.move(number, board.stages["In review"])).toMatchObject({ status: 503 });
    world.forge.control.faults.clear();
    expect(await board.api.move(number, board.stages["In review"])).toMatchObject({ status: 409 });
  });
});
