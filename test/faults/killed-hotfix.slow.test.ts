import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { CallMatch } from "../../sandbox/forge/control/match.ts";
import { allProcessedIn } from "../support/forge/deliveries.ts";
import { eventually } from "../support/api.ts";
import { itemWhen } from "../support/inbox.ts";
import { expectConsistent } from "../support/invariants.ts";
import { kindsOf, work } from "../support/forge/repositories.ts";
import { branchesOf, twoTargets } from "../support/stories/two-targets.ts";
import { startKillableWorld, type KillableWorld } from "./support/killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterEach(() => world.forge.control.reset());
afterAll(() => world.stop());

const WRITES: readonly (readonly [string, CallMatch])[] = [
  ["creating the branch", { method: "POST", path: "/repositories/*/git/refs" }],
  ["opening the pull request", { method: "POST", path: "/repositories/*/pulls" }],
];

describe.each(WRITES)("a process killed while a hotfix is merged back, %s", (_, match) => {
  // Fault: A1
  it.each(["before", "after"] as const)(
    "%s GitHub's write, leaves one branch and one pull request, recorded once",
    async (effect) => {
      const { board } = await twoTargets(world);
      const { number } = await board.api.card({ title: "Stop the leak", hotfix: true });
      await board.api.move(number, board.stages["In progress"]);
      await work(board, number);
      const { faults } = world.forge.control;
      faults.add({ match, fault: { kind: "hang", effect }, times: 1 });
      expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
      await eventually(
        () => Promise.resolve(faults.list()),
        ([fault]) => fault?.hits === 1,
      );
      await world.kill();
      faults.clear();
      await world.restart();
      const item = await eventually(
        () => itemWhen(board.api, "backmerge_open"),
        ({ data }) => data["prNumber"] !== null,
      );
      expect(item.data).toMatchObject({ prNumber: 2, targetBranch: "develop" });
      await allProcessedIn(world);
      const kinds = (await kindsOf(board, number)).filter((kind) => kind === "backmerge_opened");
      expect(kinds).toHaveLength(1);
      expect((await branchesOf(board)).filter((name) => name.startsWith("backmerge/"))).toHaveLength(1);
      await expectConsistent(world, board);
    },
  );
});
