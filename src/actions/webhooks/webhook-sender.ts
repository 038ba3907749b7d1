import { readEvents, type FeedEvent } from "../../store/events/feed.ts";
import {
  advanceWebhook,
  leaseWebhooks,
  recordFailedAttempt,
  releaseWebhook,
  type LeasedWebhook,
} from "../../store/events/webhook-queue.ts";
import { insertDelivery } from "../../store/events/webhooks.ts";
import { createLoop, type BackgroundLoop } from "../background-loop.ts";
import type { Deps } from "../deps.ts";
import { isDelivered, sendEvent } from "./send-event.ts";
import type { WebhookResponse } from "./webhook-client.ts";

/** The pause between two queries for due webhooks, in milliseconds. */
const PAUSE_MS = 250;
/**
 * The number of webhooks that a process serves concurrently. A receiver may serve several boards, so its
 * share is larger than that of a board.
 */
const SHARES = { all: 64, board: 8, receiver: 16 } as const;
/** Events that a webhook receives before others have their turn. */
const BATCH = 100;
/** A slow receiver gets fewer events: no request starts after this time, in milliseconds. */
const TURN_MS = 5_000;

const [MINUTE, HOUR] = [60, 3_600];
/** The schedule of Standard Webhooks, in seconds after each failed attempt. The last one repeats. */
const RETRY_SECONDS = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;
const [MIN_WAIT, MAX_WAIT] = [5, 24 * HOUR];
/** The maximum share of a wait that is added at random, so that failed webhooks are not all retried together. */
const JITTER = 0.2;

export interface WebhookSenderOptions {
  /** A number from 0 to 1, by default random. */
  readonly random?: () => number;
}

/**
 * Delivers events to the webhooks of all boards. Every process runs this loop; a webhook is leased, so
 * that one process at a time serves it. `stop` aborts running requests, which are repeated later.
 */
export function createWebhookSender(
  deps: Deps,
  { random = Math.random }: WebhookSenderOptions = {},
): BackgroundLoop {
  const { db, log } = deps;
  const serving = new Map<Promise<void>, LeasedWebhook>();

  async function serveDue(signal: AbortSignal): Promise<void> {
    if (serving.size >= SHARES.all) return;
    for (const webhook of await leaseWebhooks(db, [...serving.values()], SHARES)) {
      const work = serve({ ...deps, random, signal }, webhook)
        .catch((error: unknown) => {
          if (!signal.aborted) log.warn({ err: error }, "a webhook could not be served");
        })
        .finally(() => serving.delete(work));
      serving.set(work, webhook);
    }
  }

  const loop = createLoop(async (signal) => {
    await serveDue(signal).catch((error: unknown) => log.warn({ err: error }, "webhooks could not be read"));
    return PAUSE_MS;
  });
  return {
    start: () => loop.start(),
    stop: async () => {
      await loop.stop();
      await Promise.allSettled(serving.keys());
    },
  };
}

interface SenderContext extends Deps {
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** Delivers a batch of events, one after the other, as many as one turn allows. */
async function serve(context: SenderContext, leased: LeasedWebhook): Promise<void> {
  const { db } = context;
  try {
    const { position: after, workspaceId, kinds } = leased;
    const filter = { kinds, cardNumber: null };
    const endsAt = performance.now() + TURN_MS;
    const { events, next } = await readEvents(db, workspaceId, { ...filter, after, limit: BATCH });
    let webhook: LeasedWebhook | null = leased;
    for (const event of events) {
      webhook = await deliver(context, webhook, event);
      if (!webhook || webhook.isPaused || performance.now() > endsAt) return;
    }
    if (next > webhook.position) await advanceWebhook(db, webhook, next);
  } finally {
    await releaseWebhook(db, leased);
  }
}

/** Makes one attempt. Null if it failed, or if the webhook was replayed or deleted in the meantime. */
async function deliver(
  { db, webhookClient, random, signal }: SenderContext,
  webhook: LeasedWebhook,
  event: FeedEvent,
): Promise<LeasedWebhook | null> {
  const sent = await sendEvent(webhookClient, webhook, event, signal);
  const { status, error, ms, response } = sent;
  const { id: eventId, kind, seq } = event;
  await insertDelivery(db, { webhookId: webhook.id, eventId, kind, status, error, ms, response });
  if (isDelivered(sent)) return advanceWebhook(db, webhook, seq);
  const waitSeconds = waitAfter(sent, webhook.attempts, random());
  await recordFailedAttempt(db, webhook, { waitSeconds, isGone: status === 410 });
  return null;
}

/** The seconds until the next attempt: the receiver's `Retry-After`, or the schedule with jitter. */
function waitAfter({ status, retryAfter }: WebhookResponse, attempts: number, random: number): number {
  if ((status === 429 || status === 503) && retryAfter !== null)
    return Math.min(Math.max(retryAfter, MIN_WAIT), MAX_WAIT);
  return (RETRY_SECONDS[attempts] ?? MAX_WAIT) * (1 + JITTER * random);
}
