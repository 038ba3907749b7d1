/** A branch belongs to its card even if the response to its creation was lost. */
import { afterEach, expect, it } from "@jest/globals";
import { listRefs } from "../../sandbox/forge/git/refs.ts";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { compareWithForge } from "../support/stories/repairing.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => world.forge.control.faults.clear());

/** GitHub creates the next branch, but its response and the reads of it fail. */
function loseCreation(): void {
  const { faults } = world.forge.control;
  faults.add({
    match: { method: "POST", path: "/repositories/*/git/refs" },
    fault: { kind: "reset", effect: "after" },
    times: 1,
  });
  faults.add({ match: { path: "/repositories/*/git/**" }, fault: { kind: "response", status: 502 } });
}

async function branchesOf(board: TestBoard): Promise<string[]> {
  const { id } = world.forge.repository(`${board.owner}/web`);
  const refs = await listRefs(world.forge.context.git.repository(id), "refs/heads/card/");
  return refs.map(({ name }) => name.slice("refs/heads/".length));
}

it("the branch of a lost response belongs to the card if its move is retried after a new title", async () => {
  const board = await world.board();
  const { number } = await board.api.card({ title: "Say hello" });
  const move = () => board.api.move(number, board.stages["In progress"]);
  loseCreation();
  expect((await move()).status).toBe(503);
  expect((await board.api.patch(`/v1/cards/${number}`, { title: "Say goodbye" })).status).toBe(200);
  world.forge.control.faults.clear();
  await eventually(move, ({ status }) => status === 200);
  expect(await branchesOf(board)).toEqual([`card/${number}-say-hello`]);
  expect(await branchOf(board, number)).toBe(`card/${number}-say-hello`);
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
});

it("the branch of a lost response belongs to the card if another move replaced its move", async () => {
  const board = await world.board();
  const { number } = await board.api.card({ title: "Say hello" });
  loseCreation();
  expect((await board.api.move(number, board.stages["In progress"])).status).toBe(503);
  expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
  world.forge.control.faults.clear();
  expect((await board.api.readCard(number)).repositories).toMatchObject([{ branchName: null }]);
  await compareWithForge(world);
  expect(await branchesOf(board)).toEqual([await branchOf(board, number)]);
  expect(await kindsOf(board, number)).toContain("branch_created");
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
});
