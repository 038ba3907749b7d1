import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { putInboxItem } from "../../src/store/inbox/stored-items.ts";
import type { ApiAnswer } from "../support/api.ts";
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
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** A card whose move was refused: there is nothing to review yet. */
async function blockedCard(board: TestBoard, title = "Say hello"): Promise<number> {
  const { number } = await board.api.card({ title });
  expect((await board.api.move(number, board.stages["In review"])).status).toBe(409);
  return number;
}

/** Puts a stored item into a board's inbox as whatever finds it does. */
const put = (board: TestBoard, naturalKey: string, detail: string, at?: string): Promise<void> =>
  putInboxItem(world.service.deps.db, {
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

describe("the inbox", () => {
  it("is empty while nothing asks for a decision", async () => {
    const board = await world.board();
    await board.api.card();
    expect(await readInbox(board.api)).toEqual([]);
  });

  // Contract: Inbox: `promotion_blocked`: a move was refused; `detail` is GitHub's message
  it("tells of a refused promotion in the words of the refusal, for as long as the card is blocked", async () => {
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
    // One moment, by one clock: the database's, which the timeline goes by.
    const refusal = (await board.api.timeline(number)).find(({ kind }) => kind === "promotion_refused");
    expect([refusal?.at, refusal?.data["at"]]).toEqual([item?.at, item?.at]);
    await board.api.move(number, board.stages["In progress"]);
    expect(await readInbox(board.api)).toEqual([]);
  });

  it("has a new item when the same promotion is refused again", async () => {
    const board = await world.board();
    const number = await blockedCard(board);
    const first = await itemWhen(board.api, "promotion_blocked");
    await board.api.move(number, board.stages["In review"]);
    const second = await itemWhen(board.api, "promotion_blocked");
    expect(second.id).not.toBe(first.id);
  });

  it("forgets the items of a deleted card", async () => {
    const board = await world.board();
    const number = await blockedCard(board);
    await board.api.delete(`/v1/cards/${number}`);
    expect(await readInbox(board.api)).toEqual([]);
  });

  it("comes newest first, and in pages that together are the whole", async () => {
    const board = await world.board();
    await put(board, "oldest", "oldest", "2026-01-01T00:00:00.000Z");
    for (const title of ["one", "two", "three"]) await blockedCard(board, title);
    await put(board, "newest", "newest", "2126-01-01T00:00:00.000Z");
    for (const key of ["a", "b", "c"]) await put(board, key, "same time", "2026-01-01T00:00:00.000Z");
    const whole = await readInbox(board.api);
    expect(whole.map(({ card, detail }) => card?.title ?? detail).slice(0, 4)).toEqual([
      "newest",
      "three",
      "two",
      "one",
    ]);
    expect(whole).toHaveLength(8);
    const paged: InboxItem[] = [];
    for (let path: string | undefined = "/v1/inbox?limit=3"; path !== undefined;) {
      const answer: ApiAnswer<InboxItem[]> = await board.api.get(path);
      paged.push(...answer.body);
      path = /<https?:\/\/[^/]+([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    }
    expect(paged).toEqual(whole);
    const made = Buffer.from(JSON.stringify(["/v1/inbox", ["yesterday", "me"]])).toString("base64url");
    expect((await board.api.get(`/v1/inbox?cursor=${made}`)).status).toBe(400);
  });

  it("is one project's: with several, the call names one of this board's", async () => {
    const board = await world.board();
    await blockedCard(board);
    const other = await makeProject(board, "Second");
    expect((await board.api.get("/v1/inbox")).status).toBe(400);
    expect(await readInbox(board.api, board.projectId)).toHaveLength(1);
    expect(await readInbox(board.api, other)).toEqual([]);
    const stranger = await world.board();
    expect((await stranger.api.get(`/v1/inbox?projectId=${board.projectId}`)).status).toBe(404);
    expect(await readInbox(stranger.api)).toEqual([]);
  });

  it("is read with one statement, whatever it holds", async () => {
    const board = await world.board();
    await blockedCard(board);
    const statements = await statementsOf(() => readInbox(board.api));
    expect(statements.filter((sql) => /\binbox_items\b/.test(sql))).toHaveLength(1);
  });
});

describe("putting an item away", () => {
  // Contract: Inbox: Stored items can be dismissed; derived items clear automatically
  it("takes a stored one out of the inbox, for good", async () => {
    const board = await world.board();
    await put(board, "group-1", "TypeError");
    const item = await itemWhen(board.api, "error_reported");
    expect(item).toMatchObject({ dismissible: true, card: null, repository: null });
    const member = await board.as({ role: "member" });
    const options = { key: `away-${randomUUID()}` };
    expect(await member.delete(`/v1/inbox/${item.id}`, options)).toMatchObject({ status: 204, text: "" });
    const replay = await member.delete(`/v1/inbox/${item.id}`, options);
    expect([replay.status, replay.headers.get("idempotent-replay")]).toEqual([204, "true"]);
    expect(await readInbox(board.api)).toEqual([]);
    expect((await member.delete(`/v1/inbox/${item.id}`)).status).toBe(404);
  });

  it("keeps one item of what is told again, under its id, and has a new one after it was put away", async () => {
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

  // Contract: Inbox: Stored items can be dismissed; derived items clear automatically
  it("is a conflict for a derived one, which clears by itself", async () => {
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

  it("takes a member, and an item of this very board", async () => {
    const board = await world.board();
    await blockedCard(board);
    await put(board, "group-1", "TypeError");
    const stranger = await world.board();
    const viewer = await board.as({ role: "viewer" });
    const items = await readInbox(board.api);
    expect(items).toHaveLength(2);
    for (const { id } of [...items, { id: randomUUID() }]) {
      const foreign = await stranger.api.delete<{ message: string }>(`/v1/inbox/${id}`);
      expect([foreign.status, foreign.body.message]).toEqual([
        404,
        "There is no item with this id in an inbox of this board. GET /v1/inbox lists them.",
      ]);
      expect((await viewer.delete(`/v1/inbox/${id}`)).status).toBe(403);
    }
    expect((await board.api.delete("/v1/inbox/hello")).status).toBe(400);
    expect(await readInbox(board.api)).toEqual(items);
  });

  it("is done by one of two callers at once", async () => {
    const board = await world.board();
    await put(board, "group-1", "TypeError");
    const { id } = await itemWhen(board.api, "error_reported");
    const answers = await Promise.all([1, 2, 3].map(() => board.api.delete(`/v1/inbox/${id}`)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404, 404]);
  });
});
