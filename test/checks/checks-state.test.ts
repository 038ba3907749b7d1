import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { checksState, type CheckOutcome } from "../../src/flow/checks.ts";
import { saveCheckReport } from "../../src/store/forge/branches.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld();
  board = await world.board();
});
afterAll(() => world.stop());

const OUTCOMES: readonly CheckOutcome[] = ["passing", "failing", "pending", "skipped"];
const subsets = OUTCOMES.reduce<CheckOutcome[][]>(
  (some, outcome) => [...some, ...some.map((subset) => [...subset, outcome])],
  [[]],
);

it("a card has the checks state that results from each combination of check outcomes", async () => {
  const { id, number } = await board.api.card();
  const repositoryId = board.repositories["web"] ?? "";
  const shown: unknown[] = [];
  for (const [at, subset] of subsets.entries()) {
    const sha = String(at).padStart(40, "a");
    for (const outcome of subset) {
      const series = { source: "check_run", name: outcome, appId: 1, forgeId: 1 } as const;
      await saveCheckReport(board.db, { repositoryId, sha, outcome, ...series });
    }
    await board.db("card_repositories").where({ card_id: id }).update({ head_sha: sha });
    const { body } = await board.api.get<{ repositories: { checksState: unknown }[] }>(`/v1/cards/${number}`);
    shown.push(body.repositories[0]?.checksState);
  }
  expect(shown).toEqual(subsets.map((subset) => checksState(subset)));
});
