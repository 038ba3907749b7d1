import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import { readFeed } from "../support/stories/event-stream.ts";
import {
  seqsOf,
  startWebhookWorld,
  webhookWhen,
  type ApiWebhook,
  type Received,
  type WebhookWorld,
} from "../support/stories/outgoing-webhooks.ts";

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
afterEach(() => world.closeReceivers());
afterAll(() => world.stop());

interface ApiDelivery {
  readonly eventId: string;
  readonly status: number | null;
  readonly response: string;
}

function isSignedWith(secret: string, request: Received | undefined): boolean {
  try {
    new Webhook(secret).verify(request?.text ?? "", request?.headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

describe("a webhook", () => {
  it("receives each event once, in order, signed, with the bytes of the feed", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board);
    const cards = await Promise.all(Array.from({ length: 12 }, () => board.api.card()));
    await Promise.all(cards.map(({ number }) => board.api.move(number, board.stages["To do"])));
    const received = await receiver.receivedWhen(24);
    const feed = await readFeed(board.api);
    expect(received.map(({ text }) => text)).toEqual(
      feed.slice(-received.length).map((event) => JSON.stringify(event)),
    );
    expect(seqsOf(received)).toEqual(seqsOf(received).map((_, at) => Number(seqsOf(received)[0]) + at));
    expect(receiver.mostAtOnce()).toBe(1);
    for (const { headers, text, event } of received) {
      expect(new Webhook(webhook.secret).verify(text, headers as Record<string, string>)).toEqual(event);
      expect(headers["webhook-id"]).toBe(event.id);
    }
  });

  it("receives only its kinds, and its position passes the others", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    const { number } = await board.api.card();
    await board.api.patch(`/v1/cards/${number}`, { title: "Renamed" });
    await board.api.card();
    const received = await receiver.receivedWhen(2);
    expect(received.map(({ event }) => event.kind)).toEqual(["card_created", "card_created"]);
    const feed = await readFeed(board.api);
    await webhookWhen(board, webhook, ({ position }) => Number(position) === feed.length);
  });

  it("shows its secret when it is created and never again", async () => {
    const board = await world.board();
    const { webhook } = await world.receiverOf(board);
    expect(webhook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const responses = [
      await board.api.get("/v1/webhooks"),
      await board.api.patch(`/v1/webhooks/${webhook.id}`, { kinds: null }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(responses.map(({ text }) => text).join()).not.toContain("whsec_");
    expect(world.logged()).not.toContain(webhook.secret);
  });

  it("receives nothing after it was deleted", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board);
    expect((await board.api.delete(`/v1/webhooks/${webhook.id}`)).status).toBe(204);
    const other = await world.receiverOf(board);
    await board.api.card();
    await other.receiver.receivedWhen(1);
    expect(receiver.received).toEqual([]);
  });

  it("signs with the old secret too for 24 hours after a rotation", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    const { body } = await board.api.post<ApiWebhook>(`/v1/webhooks/${webhook.id}/rotate`);
    expect(body.secret).not.toBe(webhook.secret);
    await board.api.card();
    const [both] = await receiver.receivedWhen(1);
    for (const { secret } of [webhook, body]) expect(isSignedWith(secret, both)).toBe(true);
    const past = board.db.raw("now() - interval '1 second'");
    await board.db("webhooks").where({ id: webhook.id }).update({ previous_secret_until: past });
    await board.api.card();
    const [, one] = await receiver.receivedWhen(2);
    expect([isSignedWith(webhook.secret, one), isSignedWith(body.secret, one)]).toEqual([false, true]);
  });

  it("is pinged while it is paused, and the response says how it went", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board);
    await board.api.patch(`/v1/webhooks/${webhook.id}`, { paused: true });
    const ping = () => board.api.post(`/v1/webhooks/${webhook.id}/ping`);
    receiver.respondWith((response) => response.writeHead(418).end("short and stout"));
    expect((await ping()).body).toMatchObject({ status: 418, error: null, response: "short and stout" });
    const [request] = receiver.received;
    expect(isSignedWith(webhook.secret, request)).toBe(true);
    expect(request?.event).toMatchObject({ seq: 0, kind: "ping", card: null });
    await receiver.close();
    expect((await ping()).body).toMatchObject({
      status: null,
      error: "The request failed: ECONNREFUSED.",
    });
    expect(await webhookWhen(board, webhook, () => true)).toMatchObject({ failingSince: null });
  });

  it("sends the events after a position again, and refuses positions that the feed does not have", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    await board.api.card();
    await board.api.card();
    const [first, second] = await receiver.receivedWhen(2);
    const replay = (after: unknown) => board.api.post(`/v1/webhooks/${webhook.id}/replay`, { after });
    expect((await replay(first?.event.seq)).status).toBe(200);
    expect((await receiver.receivedWhen(3))[2]?.text).toBe(second?.text);
    expect((await replay("0")).status).toBe(200);
    const again = (await receiver.receivedWhen(5)).slice(3);
    expect(again.map(({ text }) => text)).toEqual([first?.text, second?.text]);
    expect((await replay(4_711)).status).toBe(410);
    expect((await replay("the last")).body).toMatchObject({
      message: "body.after: must be the `seq` of an event, or 0",
    });
  });

  it("lists its attempts, the newest first, with the whole characters of the first 1,024 bytes of each response", async () => {
    const board = await world.board();
    const { receiver, webhook } = await world.receiverOf(board, { kinds: ["card_created"] });
    receiver.respondWith((response, { event }) =>
      response.writeHead(200).end(event.card?.number === 1 ? `x${"é".repeat(150_000)}` : "a\0b"),
    );
    await board.api.card();
    await board.api.card();
    await receiver.receivedWhen(2);
    await webhookWhen(
      board,
      webhook,
      ({ position }) => Number(position) >= (receiver.received[1]?.event.seq ?? 0),
    );
    const { body } = await board.api.get<ApiDelivery[]>(`/v1/webhooks/${webhook.id}/deliveries`);
    expect(body.map(({ eventId }) => eventId)).toEqual(
      receiver.received.map(({ event }) => event.id).toReversed(),
    );
    expect(body.map(({ status, response }) => [status, response])).toEqual([
      [200, "a\ufffdb"],
      [200, `x${"é".repeat(511)}`],
    ]);
    const page = await board.api.get<ApiDelivery[]>(`/v1/webhooks/${webhook.id}/deliveries?limit=1`);
    const [, next = ""] = /<([^>]+)>/.exec(page.headers.get("link") ?? "") ?? [];
    expect((await board.api.get<ApiDelivery[]>(next)).body).toEqual(body.slice(1));
  });
});
