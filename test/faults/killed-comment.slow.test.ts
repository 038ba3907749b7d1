import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { commentsOf, forgeComments, writeComment } from "../support/comments.ts";
import { workedCard } from "../support/work-on-card.ts";
import type { TestBoard } from "../support/world.ts";
import { startKillableWorld, type KillableWorld } from "./killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
}, 120_000);
afterEach(async () => {
  const board = world.boards.at(-1);
  if (board) await expectConsistent(world, board);
});
afterAll(() => world.stop());

const WRITE = { method: "POST", path: "/repositories/*/issues/*/comments" };
/** The job that looks after what a dead process left behind runs after 12 seconds. */
const PATIENCE_MS = 40_000;

describe("killed while mirroring a comment", () => {
  it.each([
    ["before the forge did it, and nobody comes back", "before"],
    ["after the forge did it, and the caller comes back", "after"],
  ] as const)(
    "%s: there is one comment here and one there",
    async (_, effect) => {
      const board = await world.board();
      const { number } = await workedCard(board);
      await world.forge.settle();
      const key = `killed-comment-${effect}`;
      const { faults } = world.forge.control;
      faults.add({ match: WRITE, fault: { kind: "hang", effect }, times: 1 });
      const first = writeComment(board.api, number, "Once", { key }).then(
        () => "answered",
        () => "cut off",
      );
      await eventually(
        async () => ({ hits: faults.list()[0]?.hits, there: await forgeComments(board) }),
        ({ hits, there }) => hits === 1 && there.length === (effect === "after" ? 1 : 0),
      );
      await world.kill();
      expect(await first).toBe("cut off");
      faults.clear();
      await world.restart();
      if (effect === "after") await writeAgain(board, number, key);
      await eventually(
        () => forgeComments(board),
        (found) => found.length > 0,
        PATIENCE_MS,
      );
      // Until the job that looks after it has had its turn in either case.
      await sleep(15_000);
      await world.forge.settle();
      expect(await forgeComments(board)).toHaveLength(1);
      expect(await commentsOf(board.api, number)).toMatchObject([{ body: "Once", author: { login: null } }]);
    },
    120_000,
  );
});

async function writeAgain(board: TestBoard, number: number, key: string): Promise<void> {
  await eventually(
    () => writeComment(board.api, number, "Once", { key }),
    ({ status }) => status === 201,
  );
}
