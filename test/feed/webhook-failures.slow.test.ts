import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { clearedWhen, itemsOf, itemWhen } from "../support/inbox.ts";
import {
  isFailing,
  isPaused,
  seqsOf,
  skipWait,
  startWebhookWorld,
  waitOf,
  webhookWhen,
  type WebhookWorld,
} from "../support/stories/outgoing-webhooks.ts";
import { METRICS_TOKEN, type TestBoard } from "../support/world.ts";

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld(2_000);
});
afterEach(() => world.closeReceivers());
afterAll(() => world.stop());

const ago = ({ db }: TestBoard, hours: number) => db.raw("now() - ? * interval '1 hour'", [hours]);

describe("a failed delivery", () => {
  it("repeats a failed event on the schedule with the same id, and later events wait", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    receiver.respondWith((response) => response.writeHead(500).end("broken"));
    await board.api.card();
    await board.api.card();
    await receiver.receivedWhen(1);
    const first = await webhookWhen(board, webhook, isFailing);
    expect(waitOf(first)).toBe(5 * 1.1);
    await skipWait(board, webhook);
    await receiver.receivedWhen(2);
    const second = await webhookWhen(board, webhook, (found) => waitOf(found) > 60);
    expect(Math.floor(waitOf(second) / 30)).toBe((300 * 1.1) / 30);
    expect(second.failingSince).toBe(first.failingSince);
    receiver.respondWith((response) => response.writeHead(200).end("ok"));
    await skipWait(board, webhook);
    const received = await receiver.receivedWhen(4);
    const [a, b, c, d] = received.map(({ headers }) => headers["webhook-id"]);
    expect([a, b]).toEqual([c, c]);
    expect(d).not.toBe(c);
    await webhookWhen(
      board,
      webhook,
      ({ failingSince, nextAttemptAt }) => failingSince === null && nextAttemptAt === null,
    );
  });

  it("is repeated at once after a successful ping, not after a failed one", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    receiver.respondWith((response) => response.writeHead(500).end());
    await board.api.card();
    await webhookWhen(board, webhook, isFailing);
    const inAnHour = board.db.raw("now() + interval '1 hour'");
    await board.db("webhooks").where({ id: webhook.id }).update({ next_attempt_at: inAnHour });
    const ping = () => board.api.post<{ status: number }>(`/v1/webhooks/${webhook.id}/ping`);
    expect((await ping()).body.status).toBe(500);
    expect((await webhookWhen(board, webhook, isFailing)).nextAttemptAt).not.toBeNull();
    expect(receiver.received).toHaveLength(2);
    receiver.respondWith((response) => response.writeHead(204).end());
    expect((await ping()).body.status).toBe(204);
    const received = await receiver.receivedWhen(4);
    expect(received[3]?.headers["webhook-id"]).toBe(received[0]?.headers["webhook-id"]);
    await webhookWhen(board, webhook, (found) => !isFailing(found));
  });

  it("fails when the receiver is down, slow or redirects, and follows no redirect", async () => {
    const board = await world.board();
    const elsewhere = await world.receiver();
    const down = await world.receiverOf(board, { kinds: ["card_created"] });
    await down.receiver.close();
    const slow = await world.receiverOf(board, { kinds: ["card_created"] });
    slow.receiver.respondWith(() => undefined);
    const redirecting = await world.receiverOf(board, { kinds: ["card_created"] });
    redirecting.receiver.respondWith((response) =>
      response.writeHead(307, { location: elsewhere.url }).end(),
    );
    await board.api.card();
    for (const { webhook } of [down, slow, redirecting]) await webhookWhen(board, webhook, isFailing);
    expect(elsewhere.received).toEqual([]);
  });
});

describe("a webhook is paused, keeps its position and is in the inbox", () => {
  it("when the receiver returns 410, until it is resumed", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    receiver.respondWith((response) => response.writeHead(410).end());
    await board.api.card();
    const paused = await webhookWhen(board, webhook, isPaused);
    expect(paused.pausedReason).toBe("gone");
    const item = await itemWhen(board.api, "webhook_paused");
    expect(item.data).toEqual({ webhookId: webhook.id, reason: "gone" });
    expect(item.detail).toContain(new URL(receiver.url).host);
    expect(item.detail).not.toContain("/hook");
    await board.api.card();
    receiver.respondWith((response) => response.writeHead(204).end());
    const resumed = await board.api.patch(`/v1/webhooks/${webhook.id}`, { paused: false });
    expect(resumed.body).toMatchObject({ paused: false, pausedReason: null, position: paused.position });
    const received = await receiver.receivedWhen(3);
    expect(received[1]?.text).toBe(received[0]?.text);
    await clearedWhen(board.api, "webhook_paused");
  });

  it("when deliveries have failed for five days, not before", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    receiver.respondWith((response) => response.writeHead(500).end());
    await board.api.card();
    await webhookWhen(board, webhook, isFailing);
    const failedFor = (hours: number) =>
      board
        .db("webhooks")
        .where({ id: webhook.id })
        .update({ failing_since: ago(board, hours), attempts: 11, next_attempt_at: board.db.fn.now() });
    await failedFor(119);
    const failing = await webhookWhen(board, webhook, (found) => waitOf(found) > 120 * 3_600);
    expect(failing.paused).toBe(false);
    expect(Math.floor(waitOf(failing) / 360)).toBe(1_190 + 240 * 1.1);
    expect(await itemsOf(board.api, "webhook_paused")).toEqual([]);
    await failedFor(121);
    const paused = await webhookWhen(board, webhook, isPaused);
    expect(paused).toMatchObject({ pausedReason: "failing", position: failing.position });
    expect((await itemWhen(board.api, "webhook_paused")).data).toMatchObject({ reason: "failing" });
    const metrics = await fetch(`${board.api.baseUrl}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    });
    expect(await metrics.text()).toMatch(/^trunkline_webhooks_paused [1-9]/m);
  });
});

describe("a maintainer", () => {
  it("pauses a webhook without an inbox item, and nothing is sent until it is resumed", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    const { body } = await board.api.patch(`/v1/webhooks/${webhook.id}`, { paused: true });
    expect(body).toMatchObject({ paused: true, pausedReason: "maintainer" });
    await board.api.card();
    const other = await world.receiverOf(board, { kinds: ["card_created"] });
    await board.api.card();
    await other.receiver.receivedWhen(1);
    expect(receiver.received).toEqual([]);
    expect(await itemsOf(board.api, "webhook_paused")).toEqual([]);
    await board.api.patch(`/v1/webhooks/${webhook.id}`, { paused: false });
    expect(await receiver.receivedWhen(2)).toHaveLength(2);
  });
});

describe("Retry-After", () => {
  it.each([
    [429, "90", 90],
    [503, new Date(Date.now() + 3_600_000).toUTCString(), 3_600],
    [429, "0", 5],
    [503, "99999999", 86_400],
    [500, "90", 5.5],
  ])("of a %i with %s makes the next attempt after %d seconds", async (status, header, seconds) => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    receiver.respondWith((response) => response.writeHead(status, { "retry-after": header }).end());
    await board.api.card();
    const found = await webhookWhen(board, webhook, isFailing);
    // A date is rounded to seconds, and the clock goes on until the response is read.
    expect(header.endsWith("GMT") ? Math.round(waitOf(found) / 600) * 600 : waitOf(found)).toBe(seconds);
  });
});

describe("slow receivers", () => {
  const hooks = async (board: TestBoard, url: string, count: number) => {
    for (let at = 0; at < count; at++) await board.api.post("/v1/webhooks", { url, kinds: ["card_created"] });
  };

  it("of one board take its share of the process, and those of another board get their events", async () => {
    const [board, other] = [await world.board(), await world.board()];
    const slow = await world.receiver();
    slow.respondWith(() => undefined);
    await hooks(board, slow.url, 20);
    const { receiver } = await world.receiverOf(other, { kinds: ["card_created"] });
    await board.api.card();
    await slow.receivedWhen(8);
    await other.api.card();
    await receiver.receivedWhen(1);
    await slow.receivedWhen(20);
    expect(slow.mostAtOnce()).toBe(8);
  });

  it("with one host take the share of a receiver, whatever the boards", async () => {
    const boards = [await world.board(), await world.board(), await world.board()];
    const slow = await world.receiver();
    slow.respondWith(() => undefined);
    for (const board of boards) await hooks(board, slow.url, 8);
    await Promise.all(boards.map(({ api }) => api.card()));
    await slow.receivedWhen(24);
    expect(slow.mostAtOnce()).toBe(16);
  });

  it("that respond slowly give their place back before the end of a batch", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    receiver.respondWith((response) => void setTimeout(() => response.writeHead(204).end(), 1_500));
    for (let at = 0; at < 6; at++) await board.api.card();
    const leases = new Set<string>();
    await eventually(
      async () => {
        const [row] = await board.db("webhooks").where({ id: webhook.id }).select("lease");
        if (row?.lease) leases.add(row.lease);
        return receiver.received.length;
      },
      (count) => count >= 6,
    );
    expect(leases.size).toBeGreaterThan(1);
  });
});

describe("processes", () => {
  it("is served by one of two processes at a time, each event once and in order", async () => {
    const second = await startSecondService(world);
    try {
      const board = await world.board();
      const { receiver } = await world.receiverOf(board, { kinds: ["updated"] });
      const { number } = await board.api.card();
      for (let at = 0; at < 30; at++) await board.api.patch(`/v1/cards/${number}`, { title: `Title ${at}` });
      const received = await receiver.receivedWhen(30);
      expect(received).toHaveLength(30);
      expect(seqsOf(received)).toEqual(seqsOf(received).toSorted((a, b) => a - b));
      expect(receiver.mostAtOnce()).toBe(1);
    } finally {
      await second.stop();
    }
  });

  it("is delivered by another process after the lease of a dead one", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, {
      kinds: ["card_created", "status_changed"],
    });
    const row = board.db("webhooks").where({ id: webhook.id });
    const lease = "019a0000-0000-7000-8000-000000000000";
    await row.clone().update({ lease, leased_until: board.db.raw("now() + interval '1 hour'") });
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["To do"]);
    await row.clone().update({ leased_until: board.db.raw("now() - interval '1 second'") });
    await receiver.receivedWhen(2);
    expect(receiver.received.map(({ event }) => event.kind)).toEqual(["card_created", "status_changed"]);
  });
});
