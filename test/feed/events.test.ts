import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { beginTransaction } from "../../src/store/db/transaction.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import { removeFromBoard } from "../../src/store/tenancy/members.ts";
import { setMembership } from "../../src/store/tenancy/memberships.ts";
import { upsertForgeUser } from "../../src/store/tenancy/users.ts";
import { eventually, type Api } from "../support/api.ts";
import {
  headOf,
  openStream,
  readFeed,
  type ApiEvent,
  type EventPage,
} from "../support/stories/event-stream.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld({ keepAliveMs: 300 });
});
afterAll(() => world.stop());

const kindsOf = (events: readonly ApiEvent[]): string[] => events.map(({ kind }) => kind);

const wait = (api: Api, after: number, query = "") =>
  api.get<EventPage>(`/v1/events?after=${after}&wait=10${query}`);

describe("the feed of a board", () => {
  it("has every event once, numbered from 1 without gaps", async () => {
    const board = await world.board();
    const { api, stages } = board;
    const cards = await Promise.all(Array.from({ length: 12 }, () => api.card()));
    await Promise.all(cards.map(({ number }) => api.move(number, stages["To do"])));
    const head = await headOf(board);
    const events = await readFeed(api);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, at) => at + 1));
    for (const { number } of cards) {
      const own = events.filter(({ card }) => card?.number === number);
      expect(kindsOf(own)).toEqual(["card_created", "status_changed"]);
    }
  });

  it("shows what the timeline shows, with the same kind, actor and data", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Both channels" });
    await board.api.patch(`/v1/cards/${number}`, { title: "Renamed" });
    await board.api.move(number, board.stages["To do"]);
    await headOf(board);
    const events = await readFeed(board.api, `&card=${number}`);
    const [created, ...timeline] = await board.api.timeline(number);
    const shown = timeline.map(({ kind, actor, data }) => ({ kind, actor, data }));
    const { projectId, stages } = board;
    expect(events).toEqual(
      [
        {
          kind: "card_created",
          actor: created?.actor,
          data: { from: null, to: { projectId, statusId: stages.Backlog } },
        },
        ...shown,
      ].map((event) => expect.objectContaining(event)),
    );
    expect(events.map(({ card }) => card?.title)).toEqual(["Both channels", "Renamed", "Renamed"]);
  });

  it("has comments by their id, without their text", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const { body } = await board.api.post(`/v1/cards/${number}/comments`, { body: "Secret words" });
    await board.api.patch(`/v1/cards/${number}/comments/${String(body["id"])}`, { body: "Other words" });
    await headOf(board);
    const events = await readFeed(board.api, "&kinds=comment,comment_edited");
    expect(kindsOf(events)).toEqual(["comment", "comment_edited"]);
    expect(events.map(({ data }) => data)).toEqual([{ commentId: body["id"] }, { commentId: body["id"] }]);
    expect(JSON.stringify(events)).not.toContain("words");
  });

  it("has changes to labels, features, pages, projects, flows and releases with before and after", async () => {
    const board = await world.board();
    const { api, projectId } = board;
    const before = await headOf(board);
    const label = await api.post("/v1/labels", { name: "bug" });
    await api.patch(`/v1/labels/${String(label.body["id"])}`, { name: "defect" });
    await api.delete(`/v1/labels/${String(label.body["id"])}`);
    const feature = await api.post("/v1/features", { name: "Search" });
    const page = await api.post("/v1/docs", { title: "Home", body: "Body of the page" });
    await api.patch(`/v1/projects/${projectId}`, { name: "Renamed project" });
    const release = await api.post("/v1/releases", { name: "1.0" });
    const { number } = await api.card();
    await api.put(`/v1/releases/${String(release.body["id"])}/cards`, { taskNumbers: [number] });
    await api.delete(`/v1/cards/${number}`);
    await headOf(board);
    const { body } = await api.get<EventPage>(`/v1/events?after=${before}`);
    const id = label.body["id"];
    expect(body.events.map(({ kind, data }) => [kind, data])).toEqual([
      ["label_changed", { from: null, to: expect.objectContaining({ id, name: "bug" }) }],
      [
        "label_changed",
        { from: expect.objectContaining({ name: "bug" }), to: expect.objectContaining({ name: "defect" }) },
      ],
      ["label_changed", { from: expect.objectContaining({ name: "defect" }), to: null }],
      ["feature_changed", { from: null, to: expect.objectContaining({ id: feature.body["id"] }) }],
      ["page_changed", { from: null, to: { id: page.body["id"], title: "Home", parentId: null } }],
      ["project_changed", { from: expect.anything(), to: { id: projectId, name: "Renamed project" } }],
      ["release_changed", { releaseId: release.body["id"], releaseName: "1.0", from: null, to: "open" }],
      ["card_created", { from: null, to: expect.objectContaining({ projectId }) }],
      ["release_added", { releaseId: release.body["id"], releaseName: "1.0" }],
      [
        "release_changed",
        {
          releaseId: release.body["id"],
          releaseName: "1.0",
          from: { taskNumbers: [] },
          to: { taskNumbers: [number] },
        },
      ],
      ["card_deleted", { from: expect.objectContaining({ projectId }), to: null }],
    ]);
    expect(body.events.every(({ actor }) => actor !== null)).toBe(true);
  });

  it("has new, changed and former members, with who changed them", async () => {
    const board = await world.board();
    const { db, workspaceId } = board;
    const [maintainer] = (await board.api.get<{ id: string }[]>("/v1/members")).body;
    const by = maintainer?.id;
    const account = { forgeId: 4_712, login: "hopper", avatarUrl: null, isBot: false };
    const { id: userId } = await upsertForgeUser(db, account, "human", randomUUID());
    const head = await headOf(board);
    await setMembership(db, { workspaceId, userId, role: "viewer" }, by);
    await setMembership(db, { workspaceId, userId, role: "viewer" }, by);
    await setMembership(db, { workspaceId, userId, role: "member" }, by);
    await removeFromBoard(db, { workspaceId, userIds: [userId], by: by ?? null });
    await revokeCredential(db, clientIdOf(await board.as({ role: "member" })));
    await headOf(board);
    const events = (await readFeed(board.api)).slice(head);
    const machine = expect.any(String);
    expect(events.map(({ kind, actor, data }) => [kind, actor?.user.name, data])).toEqual([
      ["member_changed", "maintainer agent", { userId, from: null, to: "viewer" }],
      ["member_changed", "maintainer agent", { userId, from: "viewer", to: "member" }],
      ["member_changed", "maintainer agent", { userId, from: "member", to: null }],
      ["member_changed", undefined, { userId: machine, from: null, to: "member" }],
      ["member_changed", undefined, { userId: machine, from: "member", to: null }],
    ]);
  });

  it("has refusals and their end, by reason", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    expect((await board.api.move(number, board.stages["Done"])).status).toBe(409);
    await board.api.move(number, board.stages["To do"]);
    await headOf(board);
    const events = await readFeed(board.api, "&kinds=blocked,unblocked");
    expect(events.map(({ kind, data }) => [kind, data])).toEqual([
      ["blocked", { from: [], to: ["nothing_to_merge"] }],
      ["unblocked", { from: ["nothing_to_merge"], to: [] }],
    ]);
  });

  it("never shows events of another board", async () => {
    const [ours, theirs] = [await world.board(), await world.board()];
    const { number } = await theirs.api.card({ title: "Theirs" });
    await headOf(theirs);
    expect(JSON.stringify(await readFeed(ours.api))).not.toContain("Theirs");
    expect(await readFeed(ours.api, `&card=${number}`)).toEqual([]);
  });

  it("is not delayed by a transaction that stays open", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const head = await headOf(board);
    const open = await beginTransaction(board.db);
    try {
      await open.raw("insert into events (workspace_id, kind) values (?, 'flow_changed')", [
        board.workspaceId,
      ]);
      await board.api.patch(`/v1/cards/${number}`, { title: "Meanwhile" });
      expect(kindsOf((await wait(board.api, head)).body.events)).toEqual(["updated"]);
    } finally {
      await open.commit();
    }
    expect((await wait(board.api, head + 1)).body.events).toEqual([
      expect.objectContaining({ kind: "flow_changed", seq: head + 2 }),
    ]);
  });
});

describe("GET /v1/events", () => {
  it("without `after` returns no events and the head", async () => {
    const board = await world.board();
    await board.api.card();
    const head = String(await headOf(board));
    const { body } = await board.api.get<EventPage>("/v1/events");
    expect(body).toEqual({ events: [], next: head, head, oldest: "1" });
  });

  it("with `wait` responds as soon as an event matches", async () => {
    const board = await world.board();
    const head = await headOf(board);
    const waiting = wait(board.api, head, "&kinds=card_created");
    const { number } = await board.api.card();
    const { body } = await waiting;
    expect(body.events).toEqual([expect.objectContaining({ card: { number, title: "A card" } })]);
  });

  it("with `wait` returns no events when the time is over, and moves on past what did not match", async () => {
    const board = await world.board();
    const head = await headOf(board);
    await board.api.card();
    const now = await headOf(board);
    const { body } = await board.api.get<EventPage>(`/v1/events?after=${head}&wait=1&kinds=blocked`);
    expect(body).toMatchObject({ events: [], next: String(now) });
  });

  it("with `wait` returns 401 if the credential is revoked meanwhile", async () => {
    const board = await world.board();
    const reader = await board.as({ role: "viewer" });
    // After the event of the new member.
    const head = await headOf(board);
    const waiting = wait(reader, head);
    await revokeCredential(board.db, clientIdOf(reader));
    await board.api.card();
    expect((await waiting).status).toBe(401);
  });

  it("returns 410 with `oldest` and `head` for a position that is not kept or not reached", async () => {
    const board = await world.board();
    await board.api.card();
    await board.api.card();
    const head = await headOf(board);
    await board.db("events").where({ workspace_id: board.workspaceId }).where("seq", "<=", 2).delete();
    const bounds = { statusCode: 410, head: String(head), oldest: "3" };
    for (const after of [0, 1, head + 1]) {
      const response = await board.api.get(`/v1/events?after=${after}`);
      expect([response.status, response.body]).toEqual([410, expect.objectContaining(bounds)]);
    }
    expect((await board.api.get("/v1/events?after=2")).status).toBe(200);
  });

  it.each(["after=x", "limit=0", "limit=1001", "wait=26", "kinds=unknown", "card=x", "since=1"])(
    "returns 400 for %s",
    async (query) => {
      const board = await world.board();
      expect((await board.api.get(`/v1/events?${query}`)).status).toBe(400);
    },
  );
});

describe("X-Feed-Seq", () => {
  it("on the board and on a card continues the feed without a gap", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await headOf(board);
    for (const path of ["/v1/board", `/v1/cards/${number}`]) {
      const seq = Number((await board.api.get(path)).headers.get("x-feed-seq"));
      await board.api.patch(`/v1/cards/${number}`, { title: randomUUID() });
      expect((await wait(board.api, seq)).body.events).toMatchObject([{ kind: "updated" }]);
      await headOf(board);
    }
  });
});

describe("GET /v1/events/stream", () => {
  it("sends the same bytes as polling, with their number and kind", async () => {
    const board = await world.board();
    const head = await headOf(board);
    const stream = await openStream(board.api, `?after=${head}`);
    await board.api.card();
    const frames = (
      await stream.framesWhen((all) => all.some(({ event }) => event === "card_created"))
    ).filter(({ data }) => data !== null);
    stream.close();
    const { text } = await board.api.get<EventPage>(`/v1/events?after=${head}`);
    for (const { data } of frames) expect(text).toContain(data);
    expect(frames.map(({ id, event }) => [Number(id), event])).toEqual([[head + 1, "card_created"]]);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.headers.get("x-accel-buffering")).toBe("no");
  });

  it("resumes after Last-Event-ID, with filters", async () => {
    const board = await world.board();
    const head = await headOf(board);
    await board.api.card();
    const { number } = await board.api.card();
    await headOf(board);
    const stream = await openStream(board.api, `?kinds=card_created&card=${number}`, {
      "last-event-id": String(head),
    });
    const frames = await stream.framesWhen((all) => all.some(({ data }) => data !== null));
    stream.close();
    expect(frames.filter(({ data }) => data !== null)).toEqual([
      expect.objectContaining({ id: String(head + 2), event: "card_created" }),
    ]);
  });

  it("sends `reset` for a position that is not kept or not reached, and continues with new events", async () => {
    const board = await world.board();
    const head = await headOf(board);
    const stream = await openStream(board.api, "", { "last-event-id": String(head + 50) });
    await board.api.card();
    const frames = await stream.framesWhen((all) => all.some(({ event }) => event === "card_created"));
    stream.close();
    expect(frames[0]).toMatchObject({
      event: "reset",
      id: String(head),
      data: JSON.stringify({ oldest: "1", head: String(head) }),
    });
  });

  it("sends comments that keep the connection alive and move the position", async () => {
    const board = await world.board();
    const stream = await openStream(board.api, "?kinds=blocked");
    await board.api.card();
    const head = await headOf(board);
    const frames = await stream.framesWhen((all) => all.some(({ id }) => id === String(head)));
    stream.close();
    expect(frames.at(-1)).toEqual({ id: String(head), event: null, data: null, isComment: true });
  });

  it("ends when the credential is revoked, and when it loses its membership", async () => {
    const board = await world.board();
    const [revoked, removed] = [await board.as({ role: "viewer" }), await board.as({ role: "viewer" })];
    const streams = await Promise.all([openStream(revoked), openStream(removed)]);
    await revokeCredential(board.db, clientIdOf(revoked));
    const { userId } = await board
      .db("credentials")
      .where({ client_id: clientIdOf(removed) })
      .first("user_id as userId");
    await board.db("memberships").where({ user_id: userId }).delete();
    const ended = await eventually(
      () => Promise.resolve(streams.map((stream) => stream.isEnded())),
      (all) => all.every(Boolean),
    );
    expect(ended).toEqual([true, true]);
  });
});

const clientIdOf = ({ apiKey }: Api): string => apiKey.split("_")[1] ?? "";

it("a stopping process ends streams and waiting polls at once", async () => {
  const stopping = await startWorld();
  const board = await stopping.board();
  const stream = await openStream(board.api);
  const waiting = wait(board.api, await headOf(board), "&kinds=blocked");
  await board.api.get("/v1/me");
  await stopping.stop();
  expect((await waiting).status).toBe(200);
  expect(stream.isEnded()).toBe(true);
});
