import { beforeAll, expect, it } from "@jest/globals";
import { expectAllConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld({}, expectAllConsistent);
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

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
