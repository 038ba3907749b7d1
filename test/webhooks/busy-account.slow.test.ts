/** Deliveries about many repositories of one board leave a worker to those of other boards. */
import { expect, it } from "@jest/globals";
import { WORKERS } from "../../src/jobs/start-worker.ts";
import { eventually } from "../support/api.ts";
import { allProcessed, deliver, storedDelivery, storedDeliveryWhen } from "../support/forge/deliveries.ts";
import { onForge } from "../support/forge/installations.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();

const { running, boardRunning } = WORKERS.lanes;

/** A status of a repository under a name that it does not have, so that GitHub is asked for its name. */
const renamed = (fullName: string, id: number) => ({
  id,
  sha: "c".repeat(40),
  context: "ci",
  state: "success",
  created_at: "2026-01-01T00:00:00Z",
  branches: [],
  repository: { id, full_name: `${fullName}-renamed`, default_branch: "main" },
  sender: { id: 1, login: "ada", type: "User" },
});

it.each([
  ["on its board", false],
  ["on no board", true],
])(
  "a delivery is processed while GitHub answers nothing about repositories of another account %s",
  async (_, areUnlinked) => {
    const names = Array.from({ length: running + 1 }, (_, nth) => `repository-${nth}`);
    const [busy, board] = [await world.board({ repositories: names }), await world.board()];
    await allProcessed(world);
    if (areUnlinked)
      await board
        .db("repositories")
        .whereIn("id", Object.values(busy.repositories))
        .update({ project_id: null });
    const { faults } = world.forge.control;
    const match = { installationId: onForge(world, busy).installation.id };
    const held = faults.add({ match, fault: { kind: "hold", effect: "before" }, times: 1_000 });
    const hits = () => Promise.resolve(faults.list().find((rule) => rule.id === held)?.hits ?? 0);
    const send = (owner: string, name: string) => {
      const fullName = `${owner}/${name}`;
      return deliver(world, "status", renamed(fullName, world.forge.repository(fullName).id));
    };
    const delayed = await Promise.all(names.map((name) => send(busy.owner, name)));
    await eventually(hits, (calls) => calls >= boardRunning);
    const { guid } = await send(board.owner, "web");
    await storedDeliveryWhen(world, guid, ({ state }) => state === "done");
    expect(await hits()).toBe(boardRunning);
    const states = await Promise.all(
      delayed.map(async (each) => (await storedDelivery(world, each.guid))?.state),
    );
    expect(new Set(states)).toEqual(new Set(["waiting"]));
    faults.remove(held);
    await allProcessed(world);
    await leaveConsistent(world, board);
  },
);
