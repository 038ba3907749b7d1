import { afterEach, describe, expect, it } from "@jest/globals";
import { allProcessed } from "../support/forge/deliveries.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { eventually } from "../support/api.ts";
import {
  commentsOf,
  dueMirrors,
  editComment,
  forgeComments,
  MARK,
  mirrorsOf,
  endStaleReads,
  runNextAttempt,
  shown,
  untilMirrored,
  writeComment,
} from "../support/stories/comments.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { deleteKey } from "../support/keys.ts";
import { openCard } from "../support/stories/open-card.ts";
import { runDeferredJobs } from "../support/stories/deferred-jobs.ts";
import { branchOf, writeFile } from "../support/stories/work-on-card.ts";
import { settled } from "../support/database/database-content.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const WRITE = { method: "POST", path: "/repositories/*/issues/*/comments" };
const EDIT = { method: "PATCH", path: "/repositories/*/issues/comments/*" };
const UNKNOWN_ID = "01900000-0000-7000-8000-000000000000";

const mirrors = (board: TestBoard, repository = "web", prNumber = 1): Promise<string[]> =>
  mirrorsOf(world, board, repository, prNumber);

/** The mirrors on GitHub after later attempts. */
async function mirrorsWhen(board: TestBoard, isWanted: (found: string[]) => boolean): Promise<string[]> {
  await runDeferredJobs(world);
  return eventually(() => mirrors(board), isWanted);
}

describe("POST /v1/cards/{number}/comments", () => {
  it("adds the comment to the timeline with its author and makes no call to GitHub", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await settled(world);
    world.forge.requests.reset();
    const { status, body } = await writeComment(board.api, number, "Is this *still* wanted?");
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      body: "Is this *still* wanted?",
      author: {
        user: { id: expect.any(String), name: "maintainer agent", kind: "machine" },
        login: null,
      },
      mirroredTo: 0,
      editable: true,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      editedAt: null,
    });
    const { mirroredTo: _, ...rest } = body;
    expect(await commentsOf(board.api, number)).toEqual([{ type: "comment", ...rest }]);
    expect(world.forge.requests.all).toEqual([]);
  });

  // Contract: Timeline and comments: `editable` is true only for the comment's author
  it("makes the comment editable for its author only", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await writeComment(board.api, number, "Mine");
    const other = await board.as({ role: "maintainer" });
    expect(await commentsOf(other, number)).toMatchObject([{ body: "Mine", editable: false }]);
  });

  // Contract: Timeline and comments: The timeline lists events and comments, oldest first, in the order recorded
  it("places the comment among the events in the order recorded", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await writeComment(board.api, number, "First");
    await board.api.move(number, board.stages["To do"]);
    await writeComment(board.api, number, "Second");
    const timeline = await board.api.timeline(number);
    expect(timeline.map(({ type, kind }) => kind ?? type)).toEqual([
      "created",
      "comment",
      "status_changed",
      "comment",
    ]);
  });

  // Contract: Timeline and comments: A comment has 1 to 10,000 characters
  it.each([
    ["one character", "x"],
    ["10,000 characters", "x".repeat(10_000)],
    ["10,000 emoji", "🚂".repeat(10_000)],
    ["spaces around it, as Markdown needs", "    code\n"],
  ])("accepts a text of %s", async (_, text) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { status, body } = await writeComment(board.api, number, text);
    expect({ status, text: body.body, mirroredTo: body.mirroredTo }).toEqual({
      status: 201,
      text,
      mirroredTo: 1,
    });
    expect(await mirrors(board)).toEqual([shown(text)]);
  });

  // Contract: Timeline and comments: A comment has 1 to 10,000 characters
  it.each([
    ["no text", ""],
    ["10,001 characters", "x".repeat(10_001)],
    ["10,001 emoji", "🚂".repeat(10_001)],
    ["nothing but spaces", " \n\t "],
    ["a NUL character", "a\0b"],
    ["a number", 7],
    ["null", null],
    ["nothing", undefined],
  ])("returns 400 for a text of %s", async (_, text) => {
    const board = await world.board();
    const { number } = await board.api.card();
    const response = await writeComment(board.api, number, text);
    expect(response).toMatchObject({ status: 400, body: { issues: [{ path: "body.body" }] } });
    expect(await commentsOf(board.api, number)).toEqual([]);
  });

  it("returns 400 for other fields", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const response = await board.api.post(`/v1/cards/${number}/comments`, { body: "x", editable: true });
    expect(response).toMatchObject({ status: 400, body: { issues: [{ path: "body.editable" }] } });
  });

  it("needs the role member, the scope write and a card of the board", async () => {
    const board = await world.board();
    const other = await world.board();
    const { number } = await board.api.card();
    const viewer = await board.as({ role: "viewer" });
    const reader = await board.as({ role: "maintainer", scopes: ["read"] });
    const member = await board.as({ role: "member" });
    expect((await writeComment(viewer, number, "x")).status).toBe(403);
    expect((await writeComment(reader, number, "x")).status).toBe(403);
    expect((await writeComment(other.api, number, "x")).status).toBe(404);
    expect((await writeComment(board.api, 999, "x")).status).toBe(404);
    expect((await writeComment(member, number, "x")).status).toBe(201);
    await board.api.delete(`/v1/cards/${number}`);
    expect((await writeComment(member, number, "x")).status).toBe(404);
  });
});

describe("a mirrored comment", () => {
  // Contract: Timeline and comments: A comment is mirrored to each open pull request; `mirroredTo` counts them
  it("is written to each open or draft pull request of the card with one call each", async () => {
    const board = await world.board({ repositories: ["web", "api", "docs"] });
    const { number } = await openCard(world, board, ["web", "api", "docs"]);
    const draft = await board.person("ada", "GET", `/repos/${board.owner}/api/pulls/1`);
    const convert = `mutation { convertPullRequestToDraft(input: { pullRequestId: "${String(draft.body["node_id"])}" }) { clientMutationId } }`;
    await board.person("ada", "POST", "/../graphql", { query: convert });
    await board.person("ada", "PATCH", `/repos/${board.owner}/docs/pulls/1`, { state: "closed" });
    await board.api.cardWhen(number, ({ repositories }) =>
      ["draft", "closed", "open"].every((state, at) => repositories[at]?.prState === state),
    );
    await settled(world);
    world.forge.requests.reset();

    const { body } = await writeComment(board.api, number, "Hello there");

    expect(body.mirroredTo).toBe(2);
    expect(world.forge.requests.all.map(({ route }) => route)).toEqual([
      "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
      "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
    ]);
    expect(await mirrors(board, "web")).toEqual([shown("Hello there")]);
    expect(await mirrors(board, "api")).toEqual([shown("Hello there")]);
    expect(await mirrors(board, "docs")).toEqual([]);
  });

  it("is not added to the timeline as another comment", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await writeComment(board.api, number, "Hello there");
    await allProcessed(world);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "Hello there" }]);
  });

  it("mentions nobody on GitHub and has exactly one mark, whatever its text", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await writeComment(board.api, number, "The first");
    const [first] = await forgeComments(board);
    const copied = MARK.exec(first?.body ?? "")?.[0].trim() ?? "";
    expect(copied).not.toBe("");
    const text = `${copied}Ask @ada and @${board.owner}/team, <!-- trunkline:${copied}x -->not \`@code\``;
    const { body } = await writeComment(board.api, number, text);
    expect(body).toMatchObject({ body: text, mirroredTo: 1 });
    const [, second] = await forgeComments(board);
    expect(second?.body.match(/trunkline:comment/g)).toHaveLength(1);
    expect((await mirrors(board))[1]).toBe(
      shown(`Ask @\u200Dada and @\u200D${board.owner}/team, not \`@code\``),
    );
    await allProcessed(world);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "The first" }, { body: text }]);
  });

  it("is not written to a pull request that opens later", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["In progress"]);
    const branch = await branchOf(board, number);
    await writeFile(board, "web", branch, "hello.txt", "hello\n");
    expect((await writeComment(board.api, number, "Too early")).body.mirroredTo).toBe(0);
    await board.api.move(number, board.stages["In review"]);
    await allProcessed(world);
    expect(await mirrors(board)).toEqual([]);
  });
});

describe("a retry with the same key", () => {
  it("gets the same response and adds no second comment to the card or the pull request", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const key = "comment-with-this-key";
    const first = await writeComment(board.api, number, "Once", { key });
    const again = await writeComment(board.api, number, "Once", { key });
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect(again.text).toBe(first.text);
    expect((await writeComment(board.api, number, "Twice", { key })).status).toBe(409);
    expect(await mirrors(board)).toEqual([shown("Once")]);
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });

  it("finds the comment of an attempt that died before its response", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const key = "comment-of-a-dead-attempt";
    const first = await writeComment(board.api, number, "Once", { key });
    // The state after a crash between the write and the response.
    await deleteKey(board, key);
    const again = await writeComment(board.api, number, "Once", { key });
    expect(again.headers.get("idempotent-replay")).toBeNull();
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(await mirrors(board)).toEqual([shown("Once")]);
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });

  it("adds a new comment after more than a day", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const key = "comment-of-yesterday";
    const { db } = world.service.deps;
    const first = await writeComment(board.api, number, "Once", { key });
    await deleteKey(board, key);
    await db("timeline_items")
      .where({ id: first.body.id })
      .update({ at: db.raw("now() - interval '25 hours'") });
    const again = await writeComment(board.api, number, "Once", { key });
    expect(again.body.id).not.toBe(first.body.id);
    expect(await commentsOf(board.api, number)).toHaveLength(2);
  });

  it("adds one comment if several arrive concurrently", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const key = "comment-of-concurrent-calls";
    const responses = await Promise.all(
      [1, 2, 3].map(() => writeComment(board.api, number, "Once", { key })),
    );
    expect(responses.map(({ status }) => status).filter((status) => status !== 409)).toContain(201);
    expect(await mirrors(board)).toEqual([shown("Once")]);
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });
});

describe("a new comment while GitHub fails", () => {
  // Fault: C2
  // Fault: C14
  it.each([
    ["a 502 after the write", { kind: "response", status: 502, effect: "after" }],
    ["a closed connection after the write", { kind: "reset", effect: "after" }],
    ["an HTML response after the write", { kind: "garble", as: "html" }],
    ["a response without the comment's id", { kind: "garble", as: "without", fields: ["id"] }],
  ] as const)("is mirrored once, in the same call, after %s", async (_, fault) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.faults.add({ match: WRITE, fault, times: 1 });
    const { status, body } = await writeComment(board.api, number, "Once");
    expect({ status, mirroredTo: body.mirroredTo }).toEqual({ status: 201, mirroredTo: 1 });
    await allProcessed(world);
    expect(await mirrors(board)).toEqual([shown("Once")]);
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });

  it.each([
    ["a 502", { kind: "response", status: 502 }],
    ["a closed connection", { kind: "reset" }],
  ] as const)(
    "is mirrored once, when reads can no longer be stale, after %s without the write",
    async (_, fault) => {
      const board = await world.board();
      const { number } = await openCard(world, board);
      world.forge.control.faults.add({ match: WRITE, fault, times: 1 });
      const { status, body } = await writeComment(board.api, number, "Once");
      expect({ status, mirroredTo: body.mirroredTo }).toEqual({ status: 201, mirroredTo: 0 });
      await runNextAttempt(world.service.deps.db, body.id);
      expect(await mirrors(board)).toEqual([]);
      await endStaleReads(world.service.deps.db);
      expect(await mirrorsWhen(board, (found) => found.length > 0)).toEqual([shown("Once")]);
      await untilMirrored(world, body.id);
      expect(await commentsOf(board.api, number)).toHaveLength(1);
    },
  );

  // Fault: C11
  it("is mirrored once after a 502 with the write if reads are stale", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { control } = world.forge;
    control.setStaleReads({ seconds: 40 });
    control.webhooks.add({ match: { event: "issue_comment" }, fault: { kind: "drop", unlogged: true } });
    const fault = { kind: "response", status: 502, effect: "after" } as const;
    control.faults.add({ match: WRITE, fault, times: 1 });
    const { status, body } = await writeComment(board.api, number, "Once");
    expect({ status, mirroredTo: body.mirroredTo }).toEqual({ status: 201, mirroredTo: 0 });
    await runNextAttempt(world.service.deps.db, body.id);
    expect(await dueMirrors(world, body.id)).toBe(1);
    control.setStaleReads(null);
    await runDeferredJobs(world);
    await untilMirrored(world, body.id);
    expect(await mirrors(board)).toEqual([shown("Once")]);
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });

  it.each([
    ["a refusal", { kind: "response", status: 403, body: { message: "Conversation is locked" } }],
    ["a rate limit", { kind: "rate-limit", limit: "primary", resetIn: 1 }],
  ] as const)("returns 201 and is mirrored once later after %s", async (_, fault) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.faults.add({ match: WRITE, fault, times: 1 });
    const { status, body } = await writeComment(board.api, number, "Once");
    expect(status).toBe(201);
    expect(body.mirroredTo).toBe(0);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "Once" }]);
    await mirrorsWhen(board, (found) => found.length > 0);
    await untilMirrored(world, body.id);
    expect(await mirrors(board)).toEqual([shown("Once")]);
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });

  it("is mirrored to the other repositories if one fails", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number } = await openCard(world, board, ["web", "api"]);
    const { id } = world.forge.repository(`${board.owner}/api`);
    const match = { ...WRITE, path: `/repositories/${id}/issues/*/comments` };
    const fault = { kind: "response", status: 404, body: { message: "Not Found" } } as const;
    world.forge.control.faults.add({ match, fault });
    expect((await writeComment(board.api, number, "Hello")).body.mirroredTo).toBe(1);
    expect(await mirrors(board, "web")).toEqual([shown("Hello")]);
    world.forge.control.faults.clear();
    await runDeferredJobs(world);
    await eventually(
      () => mirrors(board, "api"),
      (found) => found.length === 1,
    );
    expect(await mirrors(board, "web")).toHaveLength(1);
  });

  // Fault: B5
  it("is not added again by a webhook that arrives before the response", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const response = holdCalls(world, WRITE);
    const writing = writeComment(board.api, number, "Once");
    await mirrorsWhen(board, (found) => found.length === 1);
    await allProcessed(world);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "Once", author: { login: null } }]);
    response.resume();
    expect((await writing).body.mirroredTo).toBe(1);
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });
});

describe("PATCH /v1/cards/{number}/comments/{id}", () => {
  // Contract: Timeline and comments: `editedAt` is `null` until the comment is edited
  it("changes the comment and its mirror with one call and sets `editedAt`", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const written = (await writeComment(board.api, number, "Frist")).body;
    await settled(world);
    world.forge.requests.reset();
    const { status, body } = await editComment(board.api, number, written.id, "First");
    expect(status).toBe(200);
    expect(body).toEqual({ ...written, body: "First", editedAt: expect.any(String) });
    expect(Date.parse(body.editedAt ?? "")).toBeGreaterThan(Date.parse(body.at));
    expect(world.forge.requests.all.map(({ route }) => route)).toEqual([
      "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}",
    ]);
    await allProcessed(world);
    expect(await mirrors(board)).toEqual([shown("First")]);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "First", editedAt: body.editedAt }]);
  });

  it("changes nothing if the text is the same", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const written = (await writeComment(board.api, number, "First")).body;
    await settled(world);
    world.forge.requests.reset();
    expect((await editComment(board.api, number, written.id, "First")).body).toEqual(written);
    expect(world.forge.requests.all).toEqual([]);
  });

  it("returns 403 for anyone but the author", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const { id } = (await writeComment(board.api, number, "Mine")).body;
    const other = await board.as({ role: "maintainer" });
    expect((await editComment(other, number, id, "Theirs")).status).toBe(403);
    const viewer = await board.as({ role: "viewer" });
    expect((await editComment(viewer, number, id, "Theirs")).status).toBe(403);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "Mine", editedAt: null }]);
  });

  it("returns 404 for an id that is no comment of the card, and 400 for an invalid id", async () => {
    const board = await world.board();
    const other = await world.board();
    const { number } = await board.api.card();
    const otherCard = await board.api.card();
    const { id } = (await writeComment(board.api, otherCard.number, "Mine")).body;
    const [created] = (await board.api.get<{ id: string }[]>(`/v1/cards/${number}/timeline`)).body;
    const eventId = created?.id ?? "";
    expect((await editComment(board.api, number, id, "x")).status).toBe(404);
    expect((await editComment(board.api, number, eventId, "x")).status).toBe(404);
    expect((await editComment(board.api, number, UNKNOWN_ID, "x")).status).toBe(404);
    expect((await editComment(other.api, otherCard.number, id, "x")).status).toBe(404);
    expect((await editComment(board.api, number, "latest", "x")).status).toBe(400);
    expect((await editComment(board.api, otherCard.number, id, "")).status).toBe(400);
    expect((await editComment(board.api, otherCard.number, id, "x".repeat(10_001))).status).toBe(400);
    expect((await editComment(board.api, otherCard.number, id, "x".repeat(10_000))).status).toBe(200);
  });

  it("changes the mirror later if GitHub refuses the edit", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { id } = (await writeComment(board.api, number, "Frist")).body;
    const fault = { kind: "response", status: 403, body: { message: "Conversation is locked" } } as const;
    world.forge.control.faults.add({ match: EDIT, fault, times: 1 });
    const { status, body } = await editComment(board.api, number, id, "First");
    expect({ status, mirroredTo: body.mirroredTo }).toEqual({ status: 200, mirroredTo: 0 });
    expect(await mirrors(board)).toEqual([shown("Frist")]);
    expect(await mirrorsWhen(board, ([text]) => text === shown("First"))).toHaveLength(1);
  });

  it("leads to one mirror with the new text if the first one is not confirmed yet", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const fault = { kind: "response", status: 502, effect: "after" } as const;
    world.forge.control.faults.add({ match: WRITE, fault });
    world.forge.control.faults.add({
      match: { method: "GET", path: "/repositories/*/issues/*/comments" },
      fault: { kind: "response", status: 502 },
    });
    world.forge.control.webhooks.add({ match: { event: "issue_comment" }, fault: { kind: "drop" } });
    const { body } = await writeComment(board.api, number, "Frist");
    expect(body.mirroredTo).toBe(0);
    expect(await mirrors(board)).toEqual([shown("Frist")]);
    world.forge.control.faults.clear();
    await editComment(board.api, number, body.id, "First");
    expect(await mirrorsWhen(board, ([text]) => text === shown("First"))).toHaveLength(1);
  });

  it("does not restore a mirror that a person deleted", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { id } = (await writeComment(board.api, number, "Frist")).body;
    const [mirror] = await forgeComments(board);
    await board.person("ada", "DELETE", `/repos/${board.owner}/web/issues/comments/${mirror?.id}`);
    await eventually(
      () => world.service.deps.db("comment_mirrors").where({ comment_id: id, gone: true }),
      (gone) => gone.length === 1,
    );
    expect((await editComment(board.api, number, id, "First")).body).toMatchObject({
      body: "First",
      mirroredTo: 0,
    });
    expect(await mirrors(board)).toEqual([]);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "First" }]);
  });
});
