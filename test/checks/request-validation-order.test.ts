import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { ApiResponse } from "../support/api.ts";
import { untilMoving } from "../support/stories/repairing.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let other: TestBoard;
beforeAll(async () => {
  board = await world.board();
  other = await world.board();
  // Only maintainers finish a card here.
  await world.service.deps.db("stages").where({ id: board.stages.Done }).update({ min_role: "maintainer" });
});

/** The parts of a call; an omitted part is invalid. Each step of the test corrects one of them. */
interface Call {
  readonly apiKey?: string;
  readonly workspace?: string;
  readonly key?: string;
  readonly number?: number;
  readonly body?: unknown;
}

async function move({
  apiKey,
  workspace,
  key,
  number = 4711,
  body,
}: Call): Promise<Pick<ApiResponse, "status" | "text">> {
  const response = await fetch(`${board.api.baseUrl}/v1/cards/${number}/move`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      "x-service-workspace": workspace ?? "nonsense",
      "idempotency-key": key ?? "short",
    },
    body: JSON.stringify(body ?? { nonsense: true }),
  });
  return { status: response.status, text: await response.text() };
}

describe("the order of the checks of a call", () => {
  it("is API key, board, scope, idempotency key, role, card, body, stage, column role, state", async () => {
    const as = async (role: "viewer" | "member" | "maintainer", scopes: readonly ("read" | "write")[]) =>
      (await board.as({ role, scopes, boards: [board, other] })).apiKey;
    const workspace = board.workspaceId;
    const key = randomUUID();

    const noKey = await move({});
    expect(noKey.status).toBe(401);

    const noBoard = await move({ apiKey: await as("viewer", ["read"]) });
    expect(noBoard.status).toBe(400);
    expect(noBoard.text).toContain("X-Service-Workspace");

    const noScope = await move({ apiKey: await as("viewer", ["read"]), workspace });
    expect(noScope.status).toBe(403);
    expect(noScope.text).toContain("scope read only");

    const viewer = await as("viewer", ["read", "write"]);
    const noIdempotencyKey = await move({ apiKey: viewer, workspace });
    expect(noIdempotencyKey.status).toBe(400);
    expect(noIdempotencyKey.text).toContain("Idempotency-Key");

    const noRole = await move({ apiKey: viewer, workspace, key });
    expect(noRole.status).toBe(403);
    expect(noRole.text).toContain("needs the role member. You have the role viewer");

    const apiKey = await as("member", ["read", "write"]);
    const noCard = await move({ apiKey, workspace, key });
    expect(noCard.status).toBe(404);

    const { number } = await board.api.card();
    const noBody = await move({ apiKey, workspace, key, number });
    expect(noBody.status).toBe(400);
    expect(noBody.text).toContain("body.nonsense");

    const otherStage = { statusId: other.stages.Done, index: 0 };
    const noStage = await move({ apiKey, workspace, key, number, body: otherStage });
    expect(noStage.status).toBe(400);
    expect(noStage.text).toContain("body.statusId");

    const done = { statusId: board.stages.Done, index: 0 };
    const noColumn = await move({ apiKey, workspace, key, number, body: done });
    expect(noColumn.status).toBe(403);
    expect(noColumn.text).toContain(
      "Moving a card into Done needs the role maintainer. You have the role member",
    );

    const nothingToMerge = await move({ apiKey: board.api.apiKey, workspace, key, number, body: done });
    expect(nothingToMerge.status).toBe(409);

    const toDo = { statusId: board.stages["To do"], index: 0 };
    expect((await move({ apiKey, workspace, key, number, body: toDo })).status).toBe(200);
  });

  it("has the replay before the card and the body", async () => {
    const { number } = await board.api.card();
    const key = randomUUID();
    const first = await board.api.patch(`/v1/cards/${number}`, { title: "Once" }, { key });
    await board.api.delete(`/v1/cards/${number}`);
    const replay = await board.api.patch(`/v1/cards/${number}`, { title: "Once" }, { key });
    expect([replay.status, replay.text]).toEqual([200, first.text]);
  });

  // Contract: Moves: `minRole` applies to moves into a column and new cards in it
  it("has the column's role before the creation of a card", async () => {
    const member = await board.as({ role: "member" });
    const refused = await member.post("/v1/cards", {
      title: "Straight to the end",
      statusId: board.stages.Done,
    });
    expect(refused.status).toBe(403);
    expect(refused.body["message"]).toContain("needs the role maintainer");
    expect((await board.api.get("/v1/backlog")).text).not.toContain("Straight to the end");
  });

  // Contract: Moves: `minRole` applies to moves into a column and new cards in it
  it("has the column's role before a move without Git", async () => {
    await board.db("stages").where({ id: board.stages["To do"] }).update({ min_role: "maintainer" });
    const { number } = await board.api.card({ repositoryIds: [] });
    const refused = await (await board.as({ role: "member" })).move(number, board.stages["To do"], 1_000);
    expect(refused.status).toBe(403);
    expect((await board.api.readCard(number)).statusId).toBe(board.stages.Backlog);
    expect((await board.api.move(number, board.stages["To do"], 1_000)).status).toBe(200);
    await board.db("stages").where({ id: board.stages["To do"] }).update({ min_role: "member" });
  });

  it("ends with 409 and Retry-After for a move or deletion while another call moves the card", async () => {
    const { number } = await board.api.card();
    const fault = world.forge.control.faults.add({ fault: { kind: "delay", ms: 1_000 }, times: 1 });
    const first = board.api.move(number, board.stages["In progress"]);
    await untilMoving(board);
    for (const result of [
      await board.api.move(number, board.stages["In progress"]),
      await board.api.move(number, board.stages["In review"]),
      await board.api.move(number, board.stages["To do"], 1_000),
      await board.api.delete(`/v1/cards/${number}`),
    ]) {
      expect(result).toMatchObject({ status: 409, body: { error: "Conflict", statusCode: 409 } });
      expect(Number(result.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect((await first).status).toBe(200);
    world.forge.control.faults.remove(fault);
  });
});
