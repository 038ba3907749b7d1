import { expect, it } from "@jest/globals";
import { WORKERS } from "../../src/jobs/start-worker.ts";
import { eventually } from "../support/api.ts";
import { onForge } from "../support/forge/installations.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import { armedCard, expectLanded, passCi } from "./support/armed-cards.ts";

const world = useWorld();

const { boardRunning: PER_BOARD } = WORKERS.moves;
/** More than a process has workers for jobs of cards. */
const PUSHED = 20;

it("an armed move lands while GitHub does not answer the jobs of another board", async () => {
  const [busy, board] = [await world.board(), await world.board()];
  const { number, sha } = await armedCard(board);
  const branches: string[] = [];
  for (let nth = 0; nth < PUSHED; nth++) {
    const card = await busy.api.card();
    await busy.api.move(card.number, busy.stages["In progress"]);
    branches.push(await branchOf(busy, card.number));
  }
  const clone = await busy.clone();
  await clone.commit("Work", { "work.txt": "work\n" });
  const { faults } = world.forge.control;
  const match = { installationId: onForge(world, busy).installation.id };
  const id = faults.add({ match, fault: { kind: "hold", effect: "before" }, times: 1_000 });
  const held = () => Promise.resolve(faults.list().find((rule) => rule.id === id)?.hits ?? 0);
  await clone.push("origin", ...branches.map((branch) => `HEAD:refs/heads/${branch}`));
  await eventually(held, (calls) => calls >= PER_BOARD);
  await passCi(board, sha);
  await expectLanded(board, number, sha);
  expect(await held()).toBe(PER_BOARD);
  faults.remove(id);
  await eventually(
    () =>
      busy
        .db("pull_requests as p")
        .join("cards as c", "c.id", "p.card_id")
        .where({ workspace_id: busy.workspaceId }),
    ({ length }) => length === PUSHED,
  );
  await clone.remove();
  await leaveConsistent(world, busy);
  await leaveConsistent(world, board);
});
