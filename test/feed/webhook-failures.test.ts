import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { startSecondService } from "../support/processes/second-service.ts";
import {
  isFailing,
  seqsOf,
  skipWait,
  startReceiver,
  waitOf,
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

describe("a failed delivery", () => {
  it("repeats a failed event on the schedule with the same id, and later events wait", async () => {
    const board = await world.board();
    const { receiver, webhook } = await receiverOf(board, { kinds: ["card_created"] });
    receiver.answerWith((response) => response.writeHead(500).end("broken"));
    await board.api.card();
    await board.api.card();
    await receiver.receivedWhen(1);
    const first = await webhookWhen(board, webhook, isFailing);
    expect(waitOf(first)).toBeGreaterThan(0);
    expect(waitOf(first)).toBeLessThanOrEqual(5);
    await skipWait(board, webhook);
    await receiver.receivedWhen(2);
    const second = await webhookWhen(board, webhook, (found) => waitOf(found) > 5);
    expect(waitOf(second)).toBeGreaterThan(290);
    expect(waitOf(second)).toBeLessThanOrEqual(300);
    expect(second.failingSince).toBe(first.failingSince);
    receiver.answerWith((response) => response.writeHead(200).end("ok"));
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

  it("fails when the receiver is down, slow or redirects, and follows no redirect", async () => {
    const board = await world.board();
    const elsewhere = await startReceiver();
    receivers.push(elsewhere);
    const down = await receiverOf(board, { kinds: ["card_created"] });
    await down.receiver.close();
    const slow = await receiverOf(board, { kinds: ["card_created"] });
    slow.receiver.answerWith(() => undefined);
    const redirecting = await receiverOf(board, { kinds: ["card_created"] });
    redirecting.receiver.answerWith((response) => response.writeHead(307, { location: elsewhere.url }).end());
    await board.api.card();
    for (const { webhook } of [down, slow, redirecting]) await webhookWhen(board, webhook, isFailing);
    expect(elsewhere.received).toEqual([]);
  });
});

describe("processes", () => {
  it("is served by one of two processes at a time, each event once and in order", async () => {
    const second = await startSecondService(world);
    try {
      const board = await world.board();
      const { receiver } = await receiverOf(board, { kinds: ["updated"] });
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
    const { receiver, webhook } = await receiverOf(board, { kinds: ["created", "card_created"] });
    const row = board.db("webhooks").where({ id: webhook.id });
    const lease = "019a0000-0000-7000-8000-000000000000";
    await row.clone().update({ lease, leased_until: board.db.raw("now() + interval '1 hour'") });
    await board.api.card();
    await row.clone().update({ leased_until: board.db.raw("now() - interval '1 second'") });
    await receiver.receivedWhen(2);
    expect(receiver.received.map(({ event }) => event.kind)).toEqual(["created", "card_created"]);
  });
});
