import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { makeRelease, promote, type PromotionResponse } from "../support/stories/releases.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld({ paceWrites: true });
beforeAll(async () => {
  world.forge.settings.writesPerMinute = 80;
});
afterEach(() => leaveConsistent(world));

/** The call returns after 55 seconds; more writes than a minute allows. */
const CARDS = 90;

describe("a promotion of many cards with a limit of 80 writes a minute", () => {
  it("returns the pending cards in time and completes without exceeding the limit", async () => {
    const board = await world.board();
    const numbers: number[] = [];
    for (let created = 0; created < CARDS; created++) numbers.push((await board.api.card()).number);
    const id = await makeRelease(board.api, "1.4", numbers);
    const key = "promote-many-cards";
    const body = { statusId: board.stages["In progress"] };
    const first = await promote(board.api, id, body, { key });
    const { promoted, pending, operationId } = first.body;
    expect([...promoted.map(({ number }) => number), ...pending]).toEqual(numbers);
    expect(promoted.length).toBeGreaterThan(0);
    expect(pending.length).toBeGreaterThan(0);
    const ended = await eventually(
      async () => (await board.api.get<PromotionResponse>(`/v1/operations/${operationId}`)).body,
      (outcome) => outcome.pending.length === 0,
      900_000,
    );
    expect(ended).toMatchObject({ refused: [], skipped: [], operationId: null });
    expect(ended.promoted.map(({ number }) => number)).toEqual(numbers);
    expect(world.forge.requests.count(({ status }) => status === 403 || status === 429)).toBe(0);
    const path = `/repos/${board.owner}/web/branches?per_page=100&page=`;
    const branches = await Promise.all(
      ["1", "2", "3"].map((page) => board.person("ada", "GET", path + page)),
    );
    expect(branches.flatMap((response) => response.body as unknown as unknown[])).toHaveLength(CARDS + 1);
    const again = await promote(board.api, id, body, { key });
    expect([again.headers.get("idempotent-replay"), again.text]).toEqual(["true", first.text]);
  }, 1_200_000);
});
