/** Comments of people on a card's pull request, in the card's timeline. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import {
  commentOnForge,
  commentsOf,
  editComment,
  forgeComments,
  writeComment,
  type TimelineComment,
} from "../support/stories/comments.ts";
import { openCard } from "../support/stories/open-card.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { settled } from "../support/database/database-content.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(async () => {
  world.forge.control.webhooks.clear();
  await world.forge.control.webhooks.release();
});

const EVENT = "issue_comment";

const commentsWhen = (
  board: TestBoard,
  number: number,
  isWanted: (found: TimelineComment[]) => boolean,
): Promise<TimelineComment[]> => eventually(() => commentsOf(board.api, number), isWanted);

const change = (board: TestBoard, id: number, body: string) =>
  board.person("ada", "PATCH", `/repos/${board.owner}/web/issues/comments/${id}`, { body });
const remove = (board: TestBoard, id: number) =>
  board.person("ada", "DELETE", `/repos/${board.owner}/web/issues/comments/${id}`);

describe("a comment on a card's pull request", () => {
  it("is in the timeline with its author's login and is not editable", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await settled(world);
    world.forge.requests.reset();
    await commentOnForge(board, "grace", "Why *hello*?\r\n\r\n@ada, look");
    const [comment] = await commentsWhen(board, number, (found) => found.length === 1);
    expect(comment).toEqual({
      type: "comment",
      id: expect.any(String),
      body: "Why *hello*?\r\n\r\n@ada, look",
      author: {
        user: { id: expect.any(String), name: `grace-${board.owner.slice(4)}`, kind: "human" },
        login: `grace-${board.owner.slice(4)}`,
      },
      editable: false,
      at: expect.any(String),
      editedAt: null,
    });
    // Grace's own call is the only one.
    expect(world.forge.requests.all).toHaveLength(1);
    expect((await editComment(board.api, number, comment?.id ?? "", "No")).status).toBe(403);
    expect(await forgeComments(board)).toHaveLength(1);
  });

  it("follows edits and the deletion", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const id = await commentOnForge(board, "ada", "Frist");
    await commentOnForge(board, "grace", "Second");
    const written = await commentsWhen(board, number, (found) => found.length === 2);
    await change(board, id, "First");
    const edited = await commentsWhen(board, number, ([first]) => first?.body === "First");
    expect(edited.map((comment) => comment.body)).toEqual(["First", "Second"]);
    expect(edited[0]).toMatchObject({
      id: written[0]?.id,
      at: written[0]?.at,
      editedAt: expect.any(String),
    });
    await remove(board, id);
    const left = await commentsWhen(board, number, (found) => found.length === 1);
    expect(left).toMatchObject([{ body: "Second" }]);
    const rows = await world.service.deps.db("timeline_items").where({ id: written[0]?.id ?? "" });
    expect(rows).toMatchObject([{ body: "" }]);
    expect((await editComment(board.api, number, written[0]?.id ?? "", "x")).status).toBe(404);
  });

  it("is added once after duplicate webhooks", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const fault = { kind: "duplicate", copies: 3 } as const;
    world.forge.control.webhooks.add({ match: { event: EVENT }, fault });
    await commentOnForge(board, "ada", "Once");
    await commentsWhen(board, number, (found) => found.length > 0);
    await allProcessed(world);
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });

  it.each([
    ["an edit before the comment", ["edited", "created"], [{ body: "First", editedAt: expect.any(String) }]],
    ["a deletion before the comment", ["deleted", "created"], []],
    ["a deletion before the edit", ["created", "deleted", "edited"], []],
    ["all events in reverse order", ["deleted", "edited", "created"], []],
  ])("has the state of GitHub after webhooks with %s", async (_, order, expected) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { webhooks } = world.forge.control;
    webhooks.add({ match: { event: EVENT }, fault: { kind: "hold" } });
    const id = await commentOnForge(board, "ada", "Frist");
    await change(board, id, "First");
    if (order.includes("deleted")) await remove(board, id);
    await world.forge.waitUntilIdle();
    const held = webhooks.held();
    webhooks.clear();
    for (const action of order) {
      const delivery = held.find((each) => each.action === action);
      if (!delivery) throw new Error(`no webhook ${action}`);
      const payload: unknown = JSON.parse(delivery.body);
      await world.forge.control.sendWebhook({ event: EVENT, payload });
    }
    await allProcessed(world);
    expect(await commentsOf(board.api, number)).toMatchObject(expected);
    // The held webhooks repeat what was sent and change nothing.
    await webhooks.release("reversed");
    await allProcessed(world);
    expect(await commentsOf(board.api, number)).toMatchObject(expected);
  });

  it("is ignored without a call to GitHub if the pull request has no card", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await world.forge.commit(`${board.owner}/web`, "theirs", { "theirs.txt": "theirs\n" }, { from: "main" });
    const theirs = { title: "Theirs", head: "theirs", base: "main" };
    const pull = await board.person("ada", "POST", `/repos/${board.owner}/web/pulls`, theirs);
    await commentOnForge(board, "ada", "Not for the card", Number(pull.body["number"]));
    await settled(world);
    world.forge.requests.reset();
    await commentOnForge(board, "ada", "Nor this", Number(pull.body["number"]));
    await allProcessed(world);
    expect(world.forge.requests.all).toHaveLength(1);
    expect(await commentsOf(board.api, number)).toEqual([]);
    expect(await world.service.deps.db("timeline_items").where({ body: "Not for the card" })).toEqual([]);
  });

  it("is in the timeline if another bot wrote it", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const login = `helper-${board.owner.slice(4)}[bot]`;
    const bot = world.forge.createUser(login, { type: "Bot", organizations: { [board.owner]: "admin" } });
    const path = `/repos/${board.owner}/web/issues/1/comments`;
    const response = await fetch(`${world.forge.apiUrl}${path}`, {
      method: "POST",
      headers: { authorization: `token ${bot.token}`, "content-type": "application/json" },
      body: JSON.stringify({ body: "Coverage is 87 %" }),
    });
    expect(response.status).toBe(201);
    const found = await commentsWhen(board, number, (comments) => comments.length === 1);
    expect(found).toMatchObject([{ body: "Coverage is 87 %", author: { login } }]);
  });
});

describe("a mirror on GitHub", () => {
  it("that a person copies with its mark is that person's comment", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await writeComment(board.api, number, "Ours");
    const [mirror] = await forgeComments(board);
    await commentOnForge(board, "grace", mirror?.body ?? "");
    const found = await commentsWhen(board, number, (comments) => comments.length === 2);
    expect(found).toMatchObject([
      { body: "Ours", author: { login: null } },
      { body: expect.stringContaining("Ours"), author: { login: `grace-${board.owner.slice(4)}` } },
    ]);
    expect(found[1]?.body).not.toContain("<!--");
  });

  it("that a person edits stays a mirror and gets the text of the comment's next edit", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { id } = (await writeComment(board.api, number, "Ours")).body;
    const [mirror] = await forgeComments(board);
    expect((await change(board, mirror?.id ?? 0, "Without a mark")).status).toBe(200);
    await allProcessed(world);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "Ours" }]);
    await editComment(board.api, number, id, "Ours again");
    const after = await forgeComments(board);
    expect(after).toHaveLength(1);
    expect(after[0]?.body).toContain("Ours again");
  });

  it("is recognised by its mark if the response to its creation was lost", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { id } = (await writeComment(board.api, number, "Ours")).body;
    await allProcessed(world);
    const [mirror] = await forgeComments(board);
    const { db } = world.service.deps;
    // The state after the process died during the call to GitHub.
    const forgotten = { forge_comment_id: null, shown_revision: null };
    await db("comment_mirrors").where({ comment_id: id }).update(forgotten);
    await change(board, mirror?.id ?? 0, `${mirror?.body} `);
    await eventually(
      () => db("comment_mirrors").where({ comment_id: id }),
      (rows) => rows[0]?.forge_comment_id === mirror?.id,
    );
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });
});
