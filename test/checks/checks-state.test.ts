import { beforeAll, expect, it } from "@jest/globals";
import { checksState, type CheckOutcome } from "../../src/flow/checks.ts";
import { saveCheckReport } from "../../src/store/forge/branches.ts";
import { allProcessed, cardWithStatuses, deliver } from "../support/forge/deliveries.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

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
      const series = { source: "check_run", name: outcome, appId: 1, suiteId: 1, forgeId: 1 } as const;
      await saveCheckReport(board.db, { repositoryId, sha, outcome, ...series, branchNames: ["card/1"] });
    }
    const branch = { branch_name: "card/1", head_sha: sha };
    await board.db("card_repositories").where({ card_id: id }).update(branch);
    const { body } = await board.api.get<{ repositories: { checksState: unknown }[] }>(`/v1/cards/${number}`);
    shown.push(body.repositories[0]?.checksState);
  }
  expect(shown).toEqual(subsets.map((subset) => checksState(subset)));
});

it("a report on the commit from which branches were created is shown only for the branch that it ran for", async () => {
  const { api } = await world.board().then((other) => (board = other));
  const { number, branchName, sha, status } = await cardWithStatuses(world, board);
  const others = [await cardWithStatuses(world, board), await cardWithStatuses(world, board)];
  expect(others.map((other) => other.sha)).toEqual([sha, sha]);
  const numbers = [number, ...others.map((other) => other.number)];
  const shown = async () => {
    await allProcessed(world);
    const cards = await Promise.all(numbers.map((each) => api.readCard(each)));
    return cards.map(({ repositories }) => repositories[0]?.checksState);
  };
  const { repository, sender } = status("failure");
  const run = (id: number, head_branch: string | null) => ({
    action: "completed",
    check_run: {
      id,
      name: "build",
      head_sha: sha,
      status: "completed",
      conclusion: "failure",
      check_suite: { id: 1, head_branch },
      pull_requests: [],
      app: { id: 1 },
    },
    repository,
    sender,
  });
  await deliver(world, "check_run", run(1, "main"));
  await deliver(world, "check_run", run(2, null));
  const branches = ["main", branchName, ...others.map((other) => other.branchName)];
  await deliver(world, "status", { ...status("failure"), branches: branches.map((name) => ({ name })) });
  expect(await shown()).toEqual([null, null, null]);
  await deliver(world, "check_run", run(3, branchName));
  expect(await shown()).toEqual(["failing", null, null]);
  const changes = await Promise.all(numbers.map((each) => api.timeline(each)));
  const kinds = changes.map((items) => items.filter(({ kind }) => kind === "checks_changed").length);
  expect(kinds).toEqual([1, 0, 0]);
});
