import { describe, expect, it } from "@jest/globals";
import type { Api } from "../support/api.ts";
import { itemsOf } from "../support/inbox.ts";
import { putFlow, readFlow, withStage } from "../support/flows.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

/** A board whose last stage is for people, with a card that `api` tried to move there. */
async function refusedCard(board: TestBoard, api: Api): Promise<number> {
  await putFlow(board, withStage(await readFlow(board), "Done", { gates: { humanOnly: true } }));
  const { number } = await board.api.card({ statusId: board.stages["To do"], repositoryIds: [] });
  expect((await api.move(number, board.stages.Done)).status).toBe(409);
  return number;
}

const withdraw = async (api: Api, number: number): Promise<number> =>
  (await api.delete(`/v1/cards/${number}/blocked`)).status;

describe("a refused move", () => {
  it("is withdrawn by who moved the card: blocked and its inbox item end, the timeline keeps the refusal", async () => {
    const board = await world.board();
    const mover = await board.as({ role: "member" });
    const number = await refusedCard(board, mover);
    expect(await itemsOf(board.api, "promotion_blocked")).toHaveLength(1);
    expect(await withdraw(mover, number)).toBe(204);
    expect(await board.api.readCard(number)).toMatchObject({
      blocked: null,
      statusId: board.stages["To do"],
    });
    expect(await itemsOf(board.api, "promotion_blocked")).toEqual([]);
    const timeline = await board.api.timeline(number);
    expect(timeline.map(({ kind }) => kind).slice(-2)).toEqual(["promotion_refused", "refusal_withdrawn"]);
    expect(timeline.at(-1)?.data).toEqual({ statusId: board.stages.Done, reason: "human_only" });
    expect(await withdraw(mover, number)).toBe(404);
  });

  it("is withdrawn by a maintainer, and not by another member", async () => {
    const board = await world.board();
    const [mover, other] = [await board.as({ role: "member" }), await board.as({ role: "member" })];
    const number = await refusedCard(board, mover);
    expect(await withdraw(other, number)).toBe(403);
    expect(await board.api.readCard(number)).toMatchObject({ blocked: { reason: "human_only" } });
    expect(await withdraw(board.api, number)).toBe(204);
  });
});
