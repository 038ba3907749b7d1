import { afterEach, describe, expect, it } from "@jest/globals";
import { createForgeLimits } from "../../src/store/forge/forge-limits.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld({ paceWrites: true });
afterEach(() => leaveConsistent(world));

describe("a service that paces its writes to GitHub", () => {
  // Fault: C5
  it("reserves a turn for each write of a move and returns 503 while GitHub's rate limit applies", async () => {
    const board = await world.board();
    const { db } = world.service.deps;
    const [first, second] = [await board.api.card(), await board.api.card()];
    expect((await board.api.move(first.number, board.stages["In progress"])).status).toBe(200);
    expect(await db("forge_turns")).toHaveLength(1);
    const [installation] = world.forge.control.installations();
    await createForgeLimits(db).record(String(installation?.id), { seconds: 3_600, byWrite: true });
    await world.forge.waitUntilIdle();
    world.forge.control.calls.reset();
    const refused = await board.api.move(second.number, board.stages["In progress"]);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);
    expect(world.forge.control.calls.read().operations).toEqual({});
    const message = expect.stringMatching(
      /^GitHub limits requests until \d{4}-\S+Z, so the move is not finished\. /,
    );
    expect(refused.body).toMatchObject({ message, reason: "rate_limit" });
    expect((await board.api.readCard(second.number)).blocked).toBeNull();
    const unavailable = async () => {
      const { body } = await board.api.get<{ health: { unavailable: object | null } }[]>("/v1/repositories");
      return body.map(({ health }) => health.unavailable);
    };
    const [limit] = await db("forge_limits");
    expect(await unavailable()).toEqual([{ reason: "rate_limit", until: limit.limited_until.toISOString() }]);
    await db("forge_limits").delete();
    expect(await unavailable()).toEqual([null]);
    expect((await board.api.move(second.number, board.stages["In progress"])).status).toBe(200);
  });
});
