import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { CallMatch } from "../../src/sandbox/forge/control/match.ts";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import type { TestBoard } from "../support/world.ts";
import { startKillableWorld, type KillableWorld } from "./killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterAll(() => world.stop());

type StageName = keyof TestBoard["stages"];

/** Every writing call of a card's life, the stage whose entering makes it, and what the timeline then tells of ours. */
const WRITES: readonly (readonly [string, CallMatch, StageName, readonly string[]])[] = [
  [
    "cutting the branch",
    { method: "POST", path: "/repositories/*/git/refs" },
    "In progress",
    ["branch_created"],
  ],
  [
    "opening the pull request",
    { method: "POST", path: "/repositories/*/pulls" },
    "In review",
    ["branch_created", "pull_request_opened"],
  ],
  [
    "marking it ready",
    { operation: "markPullRequestReadyForReview" },
    "In review",
    ["branch_created", "pull_request_opened", "pull_request_ready"],
  ],
  [
    "merging it",
    { method: "PUT", path: "/repositories/*/pulls/*/merge-async" },
    "Done",
    ["branch_created", "pull_request_opened", "pull_request_ready", "pull_request_merged"],
  ],
];

/** A card that is one move away from the write. */
async function cardBefore(board: TestBoard, write: string): Promise<number> {
  const { number } = await board.api.card({ title: "Say hello" });
  if (write === "cutting the branch") return number;
  await board.api.move(number, board.stages["In progress"]);
  // Out of the stage that would open the pull request by itself.
  if (write === "opening the pull request") await board.api.move(number, board.stages["To do"]);
  const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  const clone = await board.clone();
  await clone.checkout(branch);
  await clone.commit("Say hello", { "hello.txt": "hello\n" });
  await clone.push();
  await clone.remove();
  await board.api.eventWhen(number, ({ kind }) => kind === "pushed");
  if (write === "opening the pull request") return number;
  await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  if (write === "merging it") await board.api.move(number, board.stages["In review"]);
  return number;
}

/** Starts a move and kills the service while the forge holds its answer back, before or after the effect. */
async function killDuring(
  board: TestBoard,
  number: number,
  match: CallMatch,
  effect: "before" | "after",
  to: string,
) {
  world.forge.control.faults.add({ match, fault: { kind: "hang", effect }, times: 1 });
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

/** What must hold whatever happened: one branch, one pull request, one merge at the most, each told once. */
async function expectDoneOnce(
  board: TestBoard,
  number: number,
  to: StageName,
  deeds: readonly string[],
): Promise<void> {
  const card = await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages[to]);
  expect(card.blocked).toBeNull();
  const clone = await board.clone();
  const branches = (await clone.git("branch", "-r", "--list", "origin/card/*")).split("\n");
  const merges = (await clone.git("rev-list", "--merges", "origin/main")).split("\n").filter(Boolean);
  await clone.remove();
  expect(branches).toHaveLength(1);
  expect(merges).toHaveLength(to === "Done" ? 1 : 0);
  const pulls = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls?state=all`);
  expect(pulls.body).toHaveLength(to === "In progress" ? 0 : 1);
  await world.forge.settle();
  const told = (await board.api.timeline(number)).map(({ kind }) => kind);
  const ours = told.filter((kind) => kind === "branch_created" || kind.startsWith("pull_request_"));
  expect(ours.toSorted()).toEqual(deeds.toSorted());
  expect(told.at(-1)).toBe("status_changed");
  expect(told).not.toContain("promotion_refused");
  await expectConsistent(world, board);
}

describe.each(WRITES)("killed while %s", (write, match, to, deeds) => {
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
      await expectDoneOnce(board, number, to, deeds);
    },
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
    await expectDoneOnce(board, number, to, deeds);
  }, 60_000);
});
