import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { itemWhen, readInbox } from "../support/inbox.ts";
import { pushTo } from "../support/stories/work-on-card.ts";
import { expectLastConsistent, startKillableWorld, type KillableWorld } from "./support/killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterEach(() => expectLastConsistent(world));
afterAll(() => world.stop());

// Fault: A1
it("a process killed while adopting a branch changes nothing, and the same call succeeds", async () => {
  const board = await world.board();
  await board.api.card({ title: "Say hello" });
  await pushTo(board, "card/1-hello", "hello.txt");
  const item = await itemWhen(board.api, "branch_suggestion");
  const { faults } = world.forge.control;
  faults.add({ match: { path: "/graphql" }, fault: { kind: "hang", effect: "after" }, times: 1 });
  const options = { key: "killed-while-adopting" };
  const adopt = () => board.api.post(`/v1/inbox/${item.id}/adopt`, undefined, options);
  const first = adopt().then(
    () => "answered",
    () => "cut off",
  );
  await eventually(
    async () => faults.list()[0]?.hits,
    (hits) => hits === 1,
  );
  await world.kill();
  expect(await first).toBe("cut off");
  faults.clear();
  await world.restart();
  expect(await readInbox(board.api)).toEqual([item]);
  expect((await board.api.readCard(1)).repositories).toMatchObject([{ branchName: null }]);
  await eventually(adopt, ({ status }) => status === 204);
  expect((await adopt()).headers.get("idempotent-replay")).toBe("true");
  expect((await board.api.timeline(1)).filter(({ kind }) => kind === "branch_adopted")).toHaveLength(1);
  expect(await readInbox(board.api)).toEqual([]);
});
