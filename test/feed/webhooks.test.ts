import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import { readFeed } from "../support/stories/event-stream.ts";
import {
  seqsOf,
  startReceiver,
  webhookTo,
  webhookWhen,
  type ApiWebhook,
  type Receiver,
} from "../support/stories/outgoing-webhooks.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
const receivers: Receiver[] = [];
beforeAll(async () => {
  world = await startWorld({ webhooks: { allowedAddresses: ["127.0.0.0/8"], timeoutMs: 400 } });
});
afterEach(() => Promise.all(receivers.splice(0).map((receiver) => receiver.close())));
afterAll(() => world.stop());

async function receiverOf(
  board: TestBoard,
  fields: object = {},
): Promise<{ receiver: Receiver; webhook: ApiWebhook }> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return { receiver, webhook: await webhookTo(receiver, board, fields) };
}

describe("a webhook", () => {
  it("receives each event once, in order, signed, with the bytes of the feed", async () => {
    const board = await world.board();
    const { receiver, webhook } = await receiverOf(board);
    const cards = await Promise.all(Array.from({ length: 12 }, () => board.api.card()));
    await Promise.all(cards.map(({ number }) => board.api.move(number, board.stages["To do"])));
    const received = await receiver.receivedWhen(36);
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
    const { receiver, webhook } = await receiverOf(board, { kinds: ["card_created"] });
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
    const { webhook } = await receiverOf(board);
    expect(webhook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const answers = [
      await board.api.get("/v1/webhooks"),
      await board.api.patch(`/v1/webhooks/${webhook.id}`, { kinds: null }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(({ text }) => text).join()).not.toContain("whsec_");
    expect(world.logged()).not.toContain(webhook.secret);
  });

  it("receives nothing after it was deleted", async () => {
    const board = await world.board();
    const { receiver, webhook } = await receiverOf(board);
    expect((await board.api.delete(`/v1/webhooks/${webhook.id}`)).status).toBe(204);
    const other = await receiverOf(board);
    await board.api.card();
    await other.receiver.receivedWhen(2);
    expect(receiver.received).toEqual([]);
  });
});
