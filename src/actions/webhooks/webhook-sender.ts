import { setTimeout as sleep } from "node:timers/promises";
import { readEvents, type FeedEvent } from "../../store/events/feed.ts";
import {
  advanceWebhook,
  leaseWebhooks,
  recordFailedAttempt,
  releaseWebhook,
  type LeasedWebhook,
} from "../../store/events/webhook-queue.ts";
import { insertDelivery } from "../../store/events/webhooks.ts";
import type { Deps } from "../deps.ts";
import { isDelivered, sendEvent } from "./send-event.ts";
import type { WebhookAnswer } from "./webhook-client.ts";

/** Delivers events to the webhooks of all boards. */
export interface WebhookSender {
  start(): void;
  /** Aborts running requests: another process, or the next one, repeats them. */
  stop(): Promise<void>;
}

/** The pause between two looks for events to deliver, in milliseconds. */
const PAUSE_MS = 250;
/** Webhooks that a process serves at once. */
const AT_ONCE = 32;
/** Events that a webhook receives before others have their turn. */
const BATCH = 100;

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
/** The share of a wait that is added at random, so that webhooks that failed together do not return together. */
const JITTER = 0.2;

export interface WebhookSenderOptions {
  /** A number from 0 to 1, by default random. */
  readonly random?: () => number;
}

/** Every process runs this loop. A webhook is leased, so that one process at a time serves it. */
export function createWebhookSender(
  deps: Deps,
  { random = Math.random }: WebhookSenderOptions = {},
): WebhookSender {
  const { db, log } = deps;
  const ending = new AbortController();
  const serving = new Set<Promise<void>>();

  async function look(): Promise<void> {
    if (serving.size >= AT_ONCE) return;
    for (const webhook of await leaseWebhooks(db, AT_ONCE - serving.size)) {
      const work = serve({ ...deps, random, signal: ending.signal }, webhook)
        .catch((error: unknown) => {
          if (!ending.signal.aborted) log.warn({ err: error }, "a webhook could not be served");
        })
        .finally(() => serving.delete(work));
      serving.add(work);
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await look().catch((error: unknown) => log.warn({ err: error }, "webhooks could not be read"));
      await sleep(PAUSE_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
    await Promise.allSettled(serving);
  }
  let running = Promise.resolve();

  return {
    start: () => {
      running = run();
    },
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}

interface Sending extends Deps {
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** Delivers a batch of events, one after the other. */
async function serve(sending: Sending, leased: LeasedWebhook): Promise<void> {
  const { db } = sending;
  try {
    const { position: after, workspaceId, kinds } = leased;
    const filter = { kinds, cardNumber: null };
    const { events, next } = await readEvents(db, workspaceId, { ...filter, after, limit: BATCH });
    let webhook: LeasedWebhook | null = leased;
    for (const event of events) {
      webhook = await deliver(sending, webhook, event);
      if (!webhook || webhook.isPaused) return;
    }
    if (next > webhook.position) await advanceWebhook(db, webhook, next);
  } finally {
    await releaseWebhook(db, leased);
  }
}

/** Makes one attempt. Null if it failed, or if the webhook was replayed or deleted meanwhile. */
async function deliver(
  { db, webhookClient, random, signal }: Sending,
  webhook: LeasedWebhook,
  event: FeedEvent,
): Promise<LeasedWebhook | null> {
  const sent = await sendEvent(webhookClient, webhook, event, signal);
  const { status, error, ms, answer } = sent;
  const { id: eventId, kind, seq } = event;
  await insertDelivery(db, { webhookId: webhook.id, eventId, kind, status, error, ms, answer });
  if (isDelivered(sent)) return advanceWebhook(db, webhook, seq);
  const waitSeconds = waitAfter(sent, webhook.attempts, random());
  await recordFailedAttempt(db, webhook, { waitSeconds, isGone: status === 410 });
  return null;
}

/** The seconds until the next attempt: those the receiver asks for, else those of the schedule or more. */
function waitAfter({ status, retryAfter }: WebhookAnswer, attempts: number, random: number): number {
  if ((status === 429 || status === 503) && retryAfter !== null)
    return Math.min(Math.max(retryAfter, MIN_WAIT), MAX_WAIT);
  return (RETRY_SECONDS[attempts] ?? MAX_WAIT) * (1 + JITTER * random);
}
