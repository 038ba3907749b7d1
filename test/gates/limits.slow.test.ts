import { afterEach, describe, expect, it } from "@jest/globals";
import { allProcessed } from "../support/forge/deliveries.ts";
import { eventually } from "../support/api.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { setGates } from "../support/flows.ts";
import { openCard } from "../support/stories/open-card.ts";
import { reportStatus } from "../support/stories/repairing.ts";
import { makeRelease } from "../support/stories/releases.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

/** A board whose stage `To do` has this limit and as many cards. */
async function fullBoard(limit = 1): Promise<{ board: TestBoard; inside: number[] }> {
  const board = await world.board();
  await setGates(board, "To do", { wipLimit: limit });
  const inside: number[] = [];
  for (let count = 0; count < limit; count++) {
    const { number } = await board.api.card({ repositoryIds: [], statusId: board.stages["To do"] });
    inside.push(number);
  }
  return { board, inside };
}
const draft = ({ api }: TestBoard) => api.card({ repositoryIds: [] });
const unblocked = ({ api }: TestBoard, number: number) =>
  eventually(
    () => api.readCard(number),
    ({ blocked }) => blocked === null,
  );

describe("a stage with a limit", () => {
  it("refuses a card when it is full, and changes nothing else", async () => {
    const { board } = await fullBoard(2);
    const { number, statusId } = await draft(board);
    world.forge.control.calls.reset();
    const { status, body } = await board.api.move(number, board.stages["To do"]);
    expect(status).toBe(409);
    expect(body.blocked).toMatchObject({
      reason: "wip_limit",
      message:
        "To do has room for 2 cards, and 2 cards are in it or being moved there. Wait until one leaves it, then move the card again.",
      repository: "",
      reasons: [{ reason: "wip_limit", repository: "", details: { wipLimit: 2, cards: 2 } }],
      statusId: board.stages["To do"],
      headSha: null,
    });
    expect(body.promoted).toEqual([]);
    const card = await board.api.readCard(number);
    expect([card.statusId, card.blocked]).toEqual([statusId, body.blocked]);
    expect((await board.api.timeline(number)).at(-1)).toMatchObject({ kind: "promotion_refused" });
    expect(world.forge.control.calls.read().total).toBe(0);
  });

  it("refuses with a key that can be used again", async () => {
    const { board, inside } = await fullBoard();
    const { number } = await draft(board);
    const key = crypto.randomUUID();
    const move = () => board.api.move(number, board.stages["To do"], 0, { key });
    expect((await move()).status).toBe(409);
    await board.api.move(inside[0]!, board.stages["Backlog"]);
    expect((await move()).status).toBe(200);
  });

  it("lets its own cards change their order", async () => {
    const { board, inside } = await fullBoard(2);
    expect((await board.api.move(inside[1]!, board.stages["To do"], 0)).status).toBe(200);
  });

  it("unblocks a refused card when another one leaves, is deleted, or the limit grows", async () => {
    const { board, inside } = await fullBoard(2);
    const { number } = await draft(board);
    const refuse = async () =>
      expect((await board.api.move(number, board.stages["To do"])).body.blocked?.reason).toBe("wip_limit");
    await refuse();
    await board.api.move(inside[0]!, board.stages["In review"]);
    await unblocked(board, number);
    await board.api.move(inside[0]!, board.stages["To do"]);
    await refuse();
    await board.api.delete(`/v1/cards/${inside[0]!}`);
    await unblocked(board, number);
    await board.api.card({ repositoryIds: [], statusId: board.stages["To do"] });
    await refuse();
    await setGates(board, "To do", { wipLimit: 3 });
    await unblocked(board, number);
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
  });

  it("keeps a refused card blocked while it is full", async () => {
    const { board } = await fullBoard(1);
    const { number } = await draft(board);
    await board.api.move(number, board.stages["To do"]);
    // Every change of the flow checks blocked cards again.
    await setGates(board, "Done", { wipLimit: 5 });
    await setGates(board, "To do", { wipLimit: 1, humanOnly: false });
    await allProcessed(world);
    expect((await board.api.readCard(number)).blocked?.reason).toBe("wip_limit");
  });

  it("keeps its cards when the limit falls below their number, and takes no more", async () => {
    const { board, inside } = await fullBoard(3);
    await setGates(board, "To do", { wipLimit: 1 });
    const { number } = await draft(board);
    for (const leaving of inside) {
      const { body } = await board.api.move(number, board.stages["To do"]);
      expect(body.blocked?.reason).toBe("wip_limit");
      await board.api.move(leaving, board.stages["Backlog"]);
    }
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
  });

  it("leaves a new card in the backlog, blocked", async () => {
    const { board } = await fullBoard();
    const response = await board.api.post("/v1/cards", { title: "More", statusId: board.stages["To do"] });
    expect(response).toMatchObject({
      status: 201,
      body: { statusId: board.stages.Backlog, blocked: { reason: "wip_limit" } },
    });
  });

  it("shows in the plan of a move what would refuse it", async () => {
    const { board } = await fullBoard();
    const { number } = await draft(board);
    const plan = () => board.api.get(`/v1/cards/${number}/move-plan?statusId=${board.stages["To do"]}`);
    const reasons = [{ reason: "wip_limit", repository: "" }];
    expect((await plan()).body).toMatchObject({ wouldMove: false, certainty: "certain", steps: [], reasons });
    await setGates(board, "To do");
    expect((await plan()).body).toMatchObject({ wouldMove: true, reasons: [] });
  });

  it("refuses the cards of a promotion that it has no room for", async () => {
    const board = await world.board();
    await setGates(board, "To do", { wipLimit: 2 });
    const cards = [await draft(board), await draft(board), await draft(board)];
    const id = await makeRelease(
      board.api,
      "1.0",
      cards.map(({ number }) => number),
    );
    const statusId = board.stages["To do"];
    const { body } = await board.api.post(`/v1/releases/${id}/promote`, { statusId });
    expect(body).toMatchObject({
      promoted: [{ number: cards[0]?.number }, { number: cards[1]?.number }],
      refused: [{ number: cards[2]?.number, reason: "wip_limit", repository: "" }],
    });
  });
});

describe("a move that runs on GitHub", () => {
  it("takes a place in the stage before it begins, and gives it back when GitHub refuses", async () => {
    const board = await world.board();
    const first = await openCard(world, board);
    const second = await openCard(world, board);
    await setGates(board, "Done", { wipLimit: 1 });
    await reportStatus(board, first.heads["web"], "failure");
    const held = holdCalls(world, { operation: "Inspect" }, "before");
    const moving = board.api.move(first.number, board.stages.Done);
    await held.arrived();
    const { body } = await board.api.move(second.number, board.stages.Done);
    expect(body.blocked).toMatchObject({ reason: "wip_limit", reasons: [{ details: { cards: 1 } }] });
    held.resume();
    expect((await moving).body.blocked).toMatchObject({ reason: "checks_failing" });
    await unblocked(board, second.number);
  });
});
