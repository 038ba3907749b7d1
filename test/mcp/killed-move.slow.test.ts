import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { killedTogether, type KilledCall } from "../faults/support/kill-during.ts";
import { startKillableWorld, type KillableWorld } from "../faults/support/killable-world.ts";
import { eventually, type ApiResponse, type MoveResponse } from "../support/api.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { expectConsistent } from "../support/invariants.ts";
import { callTool } from "../support/mcp/client.ts";
import { cardReadyFor, FORGE_WRITES, type ForgeWrite } from "../support/stories/forge-writes.ts";
import type { TestBoard } from "../support/world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterEach(() => world.forge.control.reset());
afterAll(() => world.stop());

interface Story extends KilledCall {
  readonly number: number;
  readonly act: () => Promise<ApiResponse<MoveResponse>>;
}

const moveOf = (board: TestBoard, number: number, { to }: ForgeWrite) => {
  const input = { number, statusId: board.stages[to], index: 0, requestId: randomUUID() };
  return (signal?: AbortSignal) => callTool<MoveResponse>(board.api, "move_card", input, signal);
};

/** The branch, the pull request and the merge of the card, each once and recorded once. */
async function expectDoneOnce(board: TestBoard, number: number, { to, timelineKinds }: ForgeWrite) {
  const card = await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages[to]);
  expect(card.blocked).toBeNull();
  await world.forge.waitUntilIdle();
  const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
  const ours = kinds.filter((kind) => kind === "branch_created" || kind.startsWith("pull_request_"));
  expect(ours.toSorted()).toEqual(timelineKinds.toSorted());
  const clone = await board.clone();
  const merges = (await clone.git("rev-list", "--merges", "origin/main")).split("\n").filter(Boolean);
  await clone.remove();
  expect(merges).toHaveLength(to === "Done" ? 1 : 0);
  await expectConsistent(world, board);
}

describe.each(FORGE_WRITES)("move_card while $doing", (write) => {
  const storyOf = killedTogether<Story>(
    () => world,
    { before: { match: write.match, effect: "before" }, after: { match: write.match, effect: "after" } },
    async (held) => {
      const board = await world.board();
      const number = await cardReadyFor(board, write);
      await world.forge.waitUntilIdle();
      return { board, number, held, act: moveOf(board, number, write) };
    },
  );

  it.each(["before", "after"])(
    "has one effect if the process is killed %s it and the call is repeated",
    async (effect) => {
      const { board, number, act, ...story } = storyOf(effect);
      expect(story.response().body.task).toMatchObject({ number, statusId: board.stages[write.to] });
      const repeated = await act();
      expect(repeated.text).toMatch(/^This is the stored response/);
      expect(repeated.body).toEqual(story.response().body);
      await expectDoneOnce(board, number, write);
    },
  );

  it("continues when the client disconnects", async () => {
    const board = await world.board();
    const number = await cardReadyFor(board, write);
    await world.forge.waitUntilIdle();
    const held = holdCalls(world, write.match);
    const leaving = new AbortController();
    const act = moveOf(board, number, write);
    const left = act(leaving.signal).catch(() => null);
    await held.arrived();
    leaving.abort();
    expect(await left).toBeNull();
    held.resume();
    await expectDoneOnce(board, number, write);
    const repeated = await eventually(act, ({ status }) => status === 200);
    expect(repeated.text).toMatch(/^This is the stored response/);
  });
});
