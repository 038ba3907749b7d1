import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "@jest/globals";
import { markMerged } from "../../sandbox/forge/actions/close-pull-request.ts";
import { readRef, updateRef } from "../../sandbox/forge/git/refs.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { onForge, repositoryOf } from "../support/forge/installations.ts";
import { expectConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => world.forge.control.reset());

// Fault: C8
// Fault: C9 Mergeability is never computed => the merge call decides
it("a merge is requested after twenty reads without a mergeability, and GitHub decides", async () => {
  const board = await world.board();
  const { number } = await openCard(world, board);
  world.forge.control.faults.add({ fault: { kind: "mergeability-unknown" }, times: 20 });
  const moved = await board.api.move(number, board.stages.Done);
  expect(moved).toMatchObject({ status: 200, body: { promoted: [{ prNumber: 1 }] } });
  expect(await kindsOf(board, number)).not.toContain("promotion_refused");
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
});

// Fault: C8
it("a merge that GitHub shows only after a slow inspection is no refusal", async () => {
  const board = await world.board();
  const { number } = await openCard(world, board);
  const { context } = world.forge;
  const { id } = repositoryOf(world, board);
  const [pull] = context.state.pullRequests.inGroup(id);
  if (!pull) throw new Error("the card has no pull request");
  const git = context.git.repository(id);
  const baseSha = (await readRef(git, "refs/heads/main")) ?? "";
  // As in the middle of a merge: the target has the commits, the pull request is open.
  await updateRef(git, "refs/heads/main", pull.headSha, baseSha);
  const slow = holdCalls(world, { operation: "Inspect" }, "after");
  const moving = board.api.move(number, board.stages.Done);
  await slow.arrived();
  await sleep(3_000);
  const { by } = onForge(world, board);
  slow.resume();
  await markMerged(context, pull, { by, sha: pull.headSha, baseSha });
  expect(await moving).toMatchObject({ status: 200, body: { alreadyMerged: [{ prNumber: 1 }] } });
});
