import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "@jest/globals";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import type { Api, ApiResponse, MoveResponse } from "../support/api.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardReadyFor, FORGE_WRITES } from "../support/stories/forge-writes.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => world.forge.control.reset());

/** Runs `act` while the forge has the move's write, and returns the move's response. */
async function duringMove(
  write: (typeof FORGE_WRITES)[number],
  act: (board: TestBoard, number: number, mover: Api) => Promise<unknown>,
): Promise<{
  board: TestBoard;
  number: number;
  moved: ApiResponse<MoveResponse>;
  again: () => Promise<ApiResponse<MoveResponse>>;
}> {
  const board = await world.board();
  const number = await cardReadyFor(board, write);
  const mover = await board.as({});
  const response = holdCalls(world, write.match);
  const key = randomUUID();
  const move = () => mover.move(number, board.stages[write.to], 0, { key });
  const moving = move();
  await response.arrived();
  await act(board, number, mover);
  response.resume();
  return { board, number, moved: await moving, again: move };
}

const clientIdOf = ({ apiKey }: Api): string => apiKey.split("_")[1] ?? "";

// Fault: E14 A card, project, credential or label is deleted during a move => it still finishes
describe.each(FORGE_WRITES)("while a card's move is $doing", (write) => {
  it("its card cannot be deleted (409) until the move ends; its branch stays", async () => {
    const refusals: ApiResponse[] = [];
    const { board, number, moved, again } = await duringMove(write, async ({ api }, card) => {
      refusals.push(await api.delete(`/v1/cards/${card}`));
    });
    expect(refusals).toMatchObject([{ status: 409, body: { error: "Conflict" } }]);
    expect(Number(refusals[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(moved.status).toBe(200);
    await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
    const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
    expect((await board.api.delete(`/v1/cards/${number}`)).status).toBe(204);
    // The stored response is returned; a new move finds no card.
    expect((await again()).text).toBe(moved.text);
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(404);
    const kept = await board.person("ada", "GET", `/repos/${board.owner}/web/git/ref/heads/${branch}`);
    expect(kept.status).toBe(200);
  });

  it("its project cannot be deleted (409), and the move succeeds", async () => {
    const refusals: ApiResponse[] = [];
    const { board, moved } = await duringMove(write, async ({ api, projectId }) => {
      await api.post("/v1/projects", { name: "Another" });
      refusals.push(await api.delete(`/v1/projects/${projectId}`));
    });
    expect(refusals).toMatchObject([{ status: 409, body: { error: "Conflict" } }]);
    expect(moved.status).toBe(200);
    await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
  });

  it("its revoked credential finishes the accepted move once and starts no other", async () => {
    const { board, number, moved, again } = await duringMove(write, async (_board, _number, mover) => {
      expect(await revokeCredential(world.service.deps.db, clientIdOf(mover))).toBe(true);
    });
    expect(moved.status).toBe(200);
    expect((await again()).status).toBe(401);
    await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => write.timelineKinds.at(-1) === kind)).toHaveLength(1);
  });

  it("its label is deleted; the card loses it, and the move succeeds", async () => {
    const { board, number, moved } = await duringMove(write, async ({ api }, card) => {
      const { body: label } = await api.post<{ id: string }>("/v1/labels", {
        name: "soon gone",
        color: "red",
      });
      expect((await api.patch(`/v1/cards/${card}`, { labelIds: [label.id] })).status).toBe(200);
      expect((await api.delete(`/v1/labels/${label.id}`)).status).toBe(204);
    });
    expect(moved.status).toBe(200);
    expect(await board.api.readCard(number)).toMatchObject({ labels: [], blocked: null });
    await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
  });
});

it("a card that is moved and deleted concurrently is moved first or missing", async () => {
  const board = await world.board();
  for (let round = 0; round < 20; round++) {
    const { number } = await board.api.card({ title: `Round ${round}` });
    const stage = round % 2 === 0 ? board.stages["In progress"] : board.stages["To do"];
    const [moved, deleted] = await Promise.all([
      board.api.move(number, stage),
      board.api.delete(`/v1/cards/${number}`),
    ]);
    const left = await board.api.get(`/v1/cards/${number}`);
    const mayComeAgain = Number(deleted.headers.get("retry-after")) > 0;
    // Moved and then deleted, deleted first, or deleted during the move, which is 409 or 503.
    expect([
      [200, 204, false, 404],
      [404, 204, false, 404],
      [200, 409, true, 200],
    ]).toContainEqual([moved.status, deleted.status, mayComeAgain, left.status]);
  }
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
});
