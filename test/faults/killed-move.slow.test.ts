import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { CallMatch } from "../../src/sandbox/forge/control/match.ts";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import type { TestBoard } from "../support/world.ts";
import { cardBefore, FORGE_WRITES, type ForgeWrite } from "../support/one-move-away.ts";
import { startKillableWorld, type KillableWorld } from "./killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterAll(() => world.stop());

/** Starts a move and kills the service while the forge holds an answer back, before or after the effect: the first one, or after so many. */
async function killDuring(
  board: TestBoard,
  number: number,
  match: CallMatch,
  effect: "before" | "after",
  to: string,
  skip = 0,
) {
  world.forge.control.faults.add({ match, fault: { kind: "hang", effect }, skip, times: 1 });
  const key = `killed-move-${number}-${Date.now()}`;
  const first = board.api.move(number, to, 0, { key }).then(
    () => "answered",
    () => "cut off",
  );
  await eventually(
    () => Promise.resolve(world.forge.control.faults.list()),
    (faults) => faults[0]?.hits === 1,
  );
  await world.kill();
  expect(await first).toBe("cut off");
  world.forge.control.faults.clear();
  await world.restart();
  return key;
}

/** What must hold whatever happened: one branch, one pull request, one merge at the most in each repository, each told once. */
async function expectDoneOnce(
  board: TestBoard,
  number: number,
  { to, told: deeds }: ForgeWrite,
): Promise<void> {
  const card = await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages[to]);
  expect(card.blocked).toBeNull();
  const names = Object.keys(board.repositories);
  for (const name of names) {
    const clone = await board.clone("ada", name);
    const branches = (await clone.git("branch", "-r", "--list", "origin/card/*")).split("\n");
    const merges = (await clone.git("rev-list", "--merges", "origin/main")).split("\n").filter(Boolean);
    await clone.remove();
    expect(branches).toHaveLength(1);
    expect(merges).toHaveLength(to === "Done" ? 1 : 0);
    const pulls = await board.person("ada", "GET", `/repos/${board.owner}/${name}/pulls?state=all`);
    expect(pulls.body).toHaveLength(to === "In progress" ? 0 : 1);
  }
  await world.forge.settle();
  const told = (await board.api.timeline(number)).map(({ kind }) => kind);
  const ours = told.filter((kind) => kind === "branch_created" || kind.startsWith("pull_request_"));
  expect(ours.toSorted()).toEqual(names.flatMap(() => deeds).toSorted());
  expect(told.at(-1)).toBe("status_changed");
  expect(told).not.toContain("promotion_refused");
  await expectConsistent(world, board);
}

describe.each(FORGE_WRITES)("killed while $doing", (write) => {
  const { match, to } = write;

  it.each(["before", "after"] as const)(
    "%s the forge did it: the retry finishes the move, once",
    async (effect) => {
      const board = await world.board();
      const number = await cardBefore(board, write);
      const key = await killDuring(board, number, match, effect, board.stages[to]);
      const answer = await eventually(
        () => board.api.move(number, board.stages[to], 0, { key }),
        ({ status }) => status === 200,
      );
      expect(answer.body.task).toEqual({ number, statusId: board.stages[to], blocked: null });
      const merge = { fullName: `${board.owner}/web`, targetBranch: "main", prNumber: 1 };
      expect(answer.body.promoted).toEqual(to === "Done" ? [merge] : []);
      const again = await board.api.move(number, board.stages[to], 0, { key });
      expect(again.headers.get("idempotent-replay")).toBe("true");
      expect(again.text).toBe(answer.text);
      await expectDoneOnce(board, number, write);
    },
  );

  it.each([1, 2])(
    "and %i of three repositories are done: the retry does what is left",
    async (done) => {
      const board = await world.board({ repositories: ["web", "api", "docs"] });
      const number = await cardBefore(board, write);
      world.forge.control.calls.reset();
      const key = await killDuring(board, number, match, "before", board.stages[to], done);
      const answer = await eventually(
        () => board.api.move(number, board.stages[to], 0, { key }),
        ({ status }) => status === 200,
      );
      expect(answer.body.promoted).toHaveLength(to === "Done" ? 3 : 0);
      // Three, and the one that never had an effect.
      expect(world.forge.control.calls.read().writes).toBe(4);
      await expectDoneOnce(board, number, write);
    },
    60_000,
  );

  it("after the forge did it, and nobody comes back: it is finished all the same", async () => {
    const board = await world.board();
    const number = await cardBefore(board, write);
    await killDuring(board, number, match, "after", board.stages[to]);
    await eventually(
      () => board.api.readCard(number),
      ({ statusId }) => statusId === board.stages[to],
      25_000,
    );
    await expectDoneOnce(board, number, write);
  }, 60_000);
});
