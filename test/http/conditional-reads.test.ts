import { beforeAll, describe, expect, it } from "@jest/globals";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
  await board.api.card();
});

describe("a GET response", () => {
  it.each([
    "/v1/me",
    "/v1/workspaces",
    "/v1/organizations",
    "/v1/board",
    "/v1/backlog",
    "/v1/cards/1",
    "/v1/cards/1/timeline",
  ])("of %s has an ETag, and is 304 until it changes", async (path) => {
    const first = await board.api.get(path);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    const again = await board.api.get(path, { headers: { "if-none-match": etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect((await board.api.get(path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  });

  it("to an old ETag is complete after the card changed", async () => {
    const { number } = await board.api.card();
    const path = `/v1/cards/${number}`;
    const etag = (await board.api.get(path)).headers.get("etag") ?? "";
    await board.api.patch(path, { title: "Changed" });
    expect((await board.api.get(path, { headers: { "if-none-match": etag } })).status).toBe(200);
  });

  it("of a card has another ETag after a refusal, one of the board does not", async () => {
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    const read = async (path: string) => (await board.api.get(path)).headers.get("etag");
    const [cardReadyFor, boardBefore] = [await read(`/v1/cards/${number}`), await read("/v1/board")];
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    expect(await read("/v1/board")).toBe(boardBefore);
    expect(await read(`/v1/cards/${number}`)).not.toBe(cardReadyFor);
  });

  it("is 401 without a key, whatever ETag is sent", async () => {
    const etag = (await board.api.get("/v1/me")).headers.get("etag") ?? "";
    const response = await fetch(`${board.api.baseUrl}/v1/me`, { headers: { "if-none-match": etag } });
    expect(response.status).toBe(401);
  });
});
