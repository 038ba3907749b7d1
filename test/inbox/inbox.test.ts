import { randomUUID } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { upsertInboxItem } from "../../src/store/inbox/stored-items.ts";
import type { ApiResponse } from "../support/api.ts";
import {
  clearedWhen,
  itemsOf,
  itemWhen,
  readInbox,
  reportedError,
  type InboxItem,
} from "../support/inbox.ts";
import { makeProject } from "../support/forge/repositories.ts";
import { statementsOf } from "../support/database/statements.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

/** A card whose move into review was refused because it has no commits. */
async function blockedCard(board: TestBoard, title = "Say hello"): Promise<number> {
  const { number } = await board.api.card({ title });
  expect((await board.api.move(number, board.stages["In review"])).status).toBe(409);
  return number;
}

/** Adds a stored item to a board's inbox. */
const put = (board: TestBoard, naturalKey: string, detail: string, at?: string): Promise<void> =>
  upsertInboxItem(world.service.deps.db, {
    workspaceId: board.workspaceId,
    projectId: board.projectId,
    cardId: null,
    repositoryId: null,
    kind: "error_reported",
    naturalKey,
    detail,
    data: reportedError(detail),
    at: at ?? null,
  });

describe("GET /v1/inbox", () => {
  it("returns an empty list while no decision is needed", async () => {
    const board = await world.board();
    await board.api.card();
    expect(await readInbox(board.api)).toEqual([]);
  });

  // Contract: Inbox: `promotion_blocked`: a move was refused; `detail` is GitHub's message
  it("has the message of a refused move while the card is blocked", async () => {
    const board = await world.board();
    const number = await blockedCard(board);
    const { blocked } = await board.api.readCard(number);
    const [item] = await readInbox(board.api);
    expect(item).toEqual({
      id: item?.id,
      kind: "promotion_blocked",
      detail: blocked?.message,
      projectId: board.projectId,
      card: { number, title: "Say hello" },
      repository: `${board.owner}/web`,
      dismissible: false,
      at: (blocked as unknown as { at: string }).at,
      data: { ...blocked },
    });
    expect(await readInbox(board.api)).toEqual([item]);
    // Both times come from the clock of the database.
    const refusal = (await board.api.timeline(number)).find(({ kind }) => kind === "promotion_refused");
    expect([refusal?.at, refusal?.data["at"]]).toEqual([item?.at, item?.at]);
    await board.api.move(number, board.stages["In progress"]);
    expect(await readInbox(board.api)).toEqual([]);
  });

  it("has a new item after the same move is refused again", async () => {
    const board = await world.board();
    const number = await blockedCard(board);
    const first = await itemWhen(board.api, "promotion_blocked");
    await board.api.move(number, board.stages["In review"]);
    const second = await itemWhen(board.api, "promotion_blocked");
    expect(second.id).not.toBe(first.id);
  });

  it("has no items of a deleted card", async () => {
    const board = await world.board();
    const number = await blockedCard(board);
    await board.api.delete(`/v1/cards/${number}`);
    expect(await readInbox(board.api)).toEqual([]);
  });

  it("returns the items newest first, in pages", async () => {
    const board = await world.board();
    await put(board, "oldest", "oldest", "2026-01-01T00:00:00.000Z");
    for (const title of ["one", "two", "three"]) await blockedCard(board, title);
    await put(board, "newest", "newest", "2126-01-01T00:00:00.000Z");
    for (const key of ["a", "b", "c"]) await put(board, key, "same time", "2026-01-01T00:00:00.000Z");
    const all = await readInbox(board.api);
    expect(all.map(({ card, detail }) => card?.title ?? detail).slice(0, 4)).toEqual([
      "newest",
      "three",
      "two",
      "one",
    ]);
    expect(all).toHaveLength(8);
    const paged: InboxItem[] = [];
    for (let path: string | undefined = "/v1/inbox?limit=3"; path !== undefined;) {
      const response: ApiResponse<InboxItem[]> = await board.api.get(path);
      paged.push(...response.body);
      path = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
    }
    expect(paged).toEqual(all);
    const forged = Buffer.from(JSON.stringify(["/v1/inbox", ["yesterday", "me"]])).toString("base64url");
    expect((await board.api.get(`/v1/inbox?cursor=${forged}`)).status).toBe(400);
  });

  it("returns the items of one project and requires `projectId` if there are several", async () => {
    const board = await world.board();
    await blockedCard(board);
    const other = await makeProject(board, "Second");
    expect((await board.api.get("/v1/inbox")).status).toBe(400);
    expect(await readInbox(board.api, board.projectId)).toHaveLength(1);
    expect(await readInbox(board.api, other)).toEqual([]);
    const otherBoard = await world.board();
    expect((await otherBoard.api.get(`/v1/inbox?projectId=${board.projectId}`)).status).toBe(404);
    expect(await readInbox(otherBoard.api)).toEqual([]);
  });

  it("reads all items with one statement", async () => {
    const board = await world.board();
    await blockedCard(board);
    const statements = await statementsOf(() => readInbox(board.api));
    expect(statements.filter((sql) => /\binbox_items\b/.test(sql))).toHaveLength(1);
  });
});

describe("DELETE /v1/inbox/{id}", () => {
  // Contract: Inbox: Only `dismissible` items can be dismissed; the others disappear with their cause
  it("dismisses a stored item permanently", async () => {
    const board = await world.board();
    await put(board, "group-1", "TypeError");
    const item = await itemWhen(board.api, "error_reported");
    expect(item).toMatchObject({ dismissible: true, card: null, repository: null });
    const member = await board.as({ role: "member" });
    const options = { key: `dismiss-${randomUUID()}` };
    expect(await member.delete(`/v1/inbox/${item.id}`, options)).toMatchObject({ status: 204, text: "" });
    const replay = await member.delete(`/v1/inbox/${item.id}`, options);
    expect([replay.status, replay.headers.get("idempotent-replay")]).toEqual([204, "true"]);
    expect(await readInbox(board.api)).toEqual([]);
    expect((await member.delete(`/v1/inbox/${item.id}`)).status).toBe(404);
  });

  it("makes the next report of the problem a new item, while reports before it keep the item's id", async () => {
    const board = await world.board();
    await put(board, "group-1", "TypeError");
    const first = await itemWhen(board.api, "error_reported");
    await put(board, "group-1", "TypeError, 12 times");
    const again = await itemWhen(board.api, "error_reported");
    expect([again.id, again.detail]).toEqual([first.id, "TypeError, 12 times"]);
    await board.api.delete(`/v1/inbox/${first.id}`);
    await put(board, "group-1", "TypeError, 13 times");
    expect((await itemWhen(board.api, "error_reported")).id).not.toBe(first.id);
  });

  // Contract: Inbox: Only `dismissible` items can be dismissed; the others disappear with their cause
  it("returns 409 for a derived item, which clears automatically", async () => {
    const board = await world.board();
    const number = await blockedCard(board);
    const item = await itemWhen(board.api, "promotion_blocked");
    const refused = await board.api.delete<{ message: string }>(`/v1/inbox/${item.id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain("clears automatically");
    expect(refused.body.message).toMatch(`Its detail: “${item.detail}”`);
    expect(await itemsOf(board.api, "promotion_blocked")).toEqual([item]);
    await board.api.move(number, board.stages["In progress"]);
    await clearedWhen(board.api, "promotion_blocked");
    expect((await board.api.delete(`/v1/inbox/${item.id}`)).status).toBe(404);
  });

  it("returns 403 for viewers and 404 for items of another board", async () => {
    const board = await world.board();
    await blockedCard(board);
    await put(board, "group-1", "TypeError");
    const otherBoard = await world.board();
    const viewer = await board.as({ role: "viewer" });
    const items = await readInbox(board.api);
    expect(items).toHaveLength(2);
    for (const { id } of [...items, { id: randomUUID() }]) {
      const foreign = await otherBoard.api.delete<{ message: string }>(`/v1/inbox/${id}`);
      expect([foreign.status, foreign.body.message]).toEqual([
        404,
        "There is no item with this id in an inbox of this board. GET /v1/inbox lists them.",
      ]);
      expect((await viewer.delete(`/v1/inbox/${id}`)).status).toBe(403);
    }
    expect((await board.api.delete("/v1/inbox/hello")).status).toBe(400);
    expect(await readInbox(board.api)).toEqual(items);
  });

  it("succeeds for one of several concurrent callers", async () => {
    const board = await world.board();
    await put(board, "group-1", "TypeError");
    const { id } = await itemWhen(board.api, "error_reported");
    const responses = await Promise.all([1, 2, 3].map(() => board.api.delete(`/v1/inbox/${id}`)));
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404, 404]);
  });
});
