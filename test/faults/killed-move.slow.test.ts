import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { isWrite } from "../../sandbox/forge/control/call-counts.ts";
import { installationIdOf } from "../../sandbox/forge/control/control.ts";
import { eventually, type ApiResponse, type MoveResponse } from "../support/api.ts";
import { onForge } from "../support/forge/installations.ts";
import { expectConsistent } from "../support/invariants.ts";
import type { TestBoard } from "../support/world.ts";
import { cardReadyFor, FORGE_WRITES, type ForgeWrite } from "../support/stories/forge-writes.ts";
import { killedTogether, type KilledCall, type Held } from "./support/kill-during.ts";
import { startKillableWorld, type KillableWorld } from "./support/killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterAll(() => world.stop());

interface Story extends KilledCall {
  readonly number: number;
  readonly act: () => Promise<ApiResponse<MoveResponse>>;
  /** The writes to the forge since the start. */
  readonly writes: () => number;
}

/** A card before the move, on a new board. */
async function beginMove(write: ForgeWrite, held: Held, repositories: readonly string[]): Promise<Story> {
  const board = await world.board({ repositories });
  const number = await cardReadyFor(board, write);
  await world.forge.waitUntilIdle();
  const { installation } = onForge(world, board);
  let written = 0;
  world.forge.control.observe({
    onCall: (call) => {
      if (isWrite(call) && installationIdOf(world.forge.context, call) === installation.id) written += 1;
    },
  });
  const key = `killed-move-${board.owner}`;
  return {
    board,
    number,
    held,
    act: () => board.api.move(number, board.stages[write.to], 0, { key }),
    writes: () => written,
  };
}

/** At most one branch, pull request and merge in each repository, each recorded once. */
async function expectDoneOnce(
  board: TestBoard,
  number: number,
  { to, timelineKinds: deeds }: ForgeWrite,
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
  await world.forge.waitUntilIdle();
  const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
  const ours = kinds.filter((kind) => kind === "branch_created" || kind.startsWith("pull_request_"));
  expect(ours.toSorted()).toEqual(names.flatMap(() => deeds).toSorted());
  expect(kinds.at(-1)).toBe("status_changed");
  expect(kinds).not.toContain("promotion_refused");
  await expectConsistent(world, board);
}

const OF_THREE = (["before", "after"] as const).flatMap((effect) =>
  (["first", "second", "third"] as const).map((which, skip) => [effect, which, skip] as const),
);

describe.each(FORGE_WRITES)("a process killed while $doing", (write) => {
  const { to, match } = write;
  const storyOf = killedTogether(
    () => world,
    {
      before: { match, effect: "before" },
      after: { match, effect: "after" },
      alone: { match, effect: "after" },
      ...Object.fromEntries(
        OF_THREE.map(([effect, which, skip]) => [`${effect} the ${which} of 3`, { match, effect, skip }]),
      ),
      "alone, after the second of 3": { match, effect: "after", skip: 1 },
    },
    async (held, name) => {
      const repositories = name.endsWith("of 3") ? ["web", "api", "docs"] : ["web"];
      return { ...(await beginMove(write, held, repositories)), isLeft: name.startsWith("alone") };
    },
  );

  // Fault: A1 The process is killed at any write to GitHub => a retry finishes the work once
  // Fault: A3 The process is killed after GitHub's merge => recorded once, as Trunkline's
  it.each(["before", "after"])("%s the effect leaves a move that its retry finishes once", async (effect) => {
    const { board, number, act, ...story } = storyOf(effect);
    const response = story.response();
    expect(response.body.task).toEqual({ number, statusId: board.stages[to], blocked: null });
    const merge = { fullName: `${board.owner}/web`, targetBranch: "main", prNumber: 1 };
    expect(response.body.promoted).toEqual(to === "Done" ? [merge] : []);
    const repeated = await act();
    expect(repeated.headers.get("idempotent-replay")).toBe("true");
    expect(repeated.text).toBe(response.text);
    await expectDoneOnce(board, number, write);
  });

  it.each(OF_THREE)(
    "%s the effect in the %s of three repositories leaves the others to the retry",
    async (effect, which) => {
      const { board, number, response, writes } = storyOf(`${effect} the ${which} of 3`);
      expect(response().body.promoted).toHaveLength(to === "Done" ? 3 : 0);
      // Three writes, and those without an effect. The others are found by reads, except branches.
      expect(writes()).toBe(effect === "before" || to === "In progress" ? 4 : 3);
      await expectDoneOnce(board, number, write);
    },
  );

  // Fault: A2 The process is killed without a retry => another process finishes the move
  it.each(["alone", "alone, after the second of 3"])(
    "after the effect leaves a move that is finished without a retry (%s)",
    async (name) => {
      const { board, number } = storyOf(name);
      await eventually(
        () => board.api.readCard(number),
        ({ statusId }) => statusId === board.stages[to],
      );
      await expectDoneOnce(board, number, write);
    },
  );
});
