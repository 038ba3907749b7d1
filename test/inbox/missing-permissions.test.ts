import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { expectAllConsistent } from "../support/invariants.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld();
  board = await world.board();
});
afterAll(() => expectAllConsistent(world));
afterAll(() => world.stop());

it("names the permission that a refused move lacks", async () => {
  const { permissions } = world.forge.context.state.apps.all()[0] ?? { permissions: {} };
  world.forge.webUi.acceptPermissions(board.owner, { ...permissions, contents: "read" });
  const { number } = await board.api.card({ title: "Say hello" });
  expect(await board.api.move(number, board.stages["In progress"])).toMatchObject({
    status: 409,
    body: {
      blocked: {
        reason: "not_permitted",
        message: "Resource not accessible by integration",
        reasons: [{ details: { permissions: ["contents: write"] } }],
      },
    },
  });
  world.forge.webUi.acceptPermissions(board.owner, permissions);
  expect(await board.api.move(number, board.stages["In progress"])).toMatchObject({ status: 200 });
});
