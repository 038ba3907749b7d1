import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Db } from "../store/db/connect.ts";
import { createReadSharing } from "../store/db/share-reads.ts";
import { filterPage, readEvents, readHeads, type FeedPage, type FeedQuery } from "../store/events/feed.ts";
import { hasPendingEvents, numberEvents } from "../store/events/number-events.ts";
import { createLoop, type BackgroundLoop } from "./background-loop.ts";

/** Numbers events after their commit and wakes those who wait for them. */
export interface Feed extends BackgroundLoop {
  /** Reads events. Readers that wake up together for the same events share one read, whatever their filters. */
  read(workspaceId: string, question: FeedQuery): Promise<FeedPage>;
  /**
   * Resolves when the board has an event after `seq`, after `ms` milliseconds, or when `signal`
   * aborts, which must happen when `closing` aborts.
   */
  waitForEvent(workspaceId: string, seq: number, ms: number, signal: AbortSignal): Promise<void>;
  /** Aborts when the process shuts down: streams end, and waits return. */
  readonly closing: AbortSignal;
  /** The pause between the comments of a stream, in milliseconds. */
  readonly keepAliveMs: number;
  /** Ends all waits and streams. */
  close(): void;
}

/** The pause between two queries for new events while a reader waits, in milliseconds. */
const BUSY_PAUSE_MS = 40;
const IDLE_PAUSE_MS = 250;
/** The pause after a failure, in milliseconds: an unavailable database would fill the log. */
const FAILED_PAUSE_MS = 1_000;
/** How long the short pause outlasts the last wait, in milliseconds: most readers wait again. */
const READERS_RETURN_MS = 30_000;

/** Events that readers with different filters read together. One that is further behind reads alone. */
const SHARED = 200;

/** Proxies close connections that are silent for a minute. */
const KEEP_ALIVE_MS = 15_000;

interface Waiter {
  readonly workspaceId: string;
  readonly seq: number;
  readonly wake: () => void;
}

/**
 * Every process runs this loop. It queries for new events instead of being notified: a NOTIFY in each
 * write would make all commits wait for each other.
 */
export function createFeed(
  db: Db,
  log: Logger,
  { keepAliveMs = KEEP_ALIVE_MS }: { readonly keepAliveMs?: number } = {},
): Feed {
  const waiters = new Set<Waiter>();
  const closing = new AbortController();
  // Each stream and each waiting call listens.
  setMaxListeners(0, closing.signal);
  let lastWaitAt = 0;

  async function numberAndWake(): Promise<void> {
    if (await hasPendingEvents(db)) await numberEvents(db);
    if (waiters.size === 0) return;
    const waiting = [...waiters];
    const heads = await readHeads(db, [...new Set(waiting.map(({ workspaceId }) => workspaceId))]);
    for (const { workspaceId, seq, wake } of waiting) if ((heads.get(workspaceId) ?? 0) > seq) wake();
  }

  const pauseMs = (): number => {
    const isBusy = Date.now() - lastWaitAt < READERS_RETURN_MS || waiters.size > 0;
    return isBusy ? BUSY_PAUSE_MS : IDLE_PAUSE_MS;
  };

  const loop = createLoop(() =>
    numberAndWake().then(pauseMs, (error: unknown) => {
      log.warn({ err: error }, "events could not be numbered");
      return FAILED_PAUSE_MS;
    }),
  );

  const shareRead = createReadSharing();

  const readShared = (workspaceId: string, question: FeedQuery): Promise<FeedPage> =>
    shareRead(`${workspaceId} ${JSON.stringify(question)}`, () => readEvents(db, workspaceId, question));

  return {
    read: async (workspaceId, question) => {
      const { after, kinds, cardNumber } = question;
      if (kinds === null && cardNumber === null) return readShared(workspaceId, question);
      const all = { after, kinds: null, cardNumber: null, limit: SHARED };
      const page = await readShared(workspaceId, all);
      return page.events.length < SHARED ? filterPage(page, question) : readShared(workspaceId, question);
    },
    keepAliveMs,
    start: () => loop.start(),
    waitForEvent: async (workspaceId, seq, ms, signal) => {
      lastWaitAt = Date.now();
      const over = new AbortController();
      const wake = (): void => over.abort();
      const waiter = { workspaceId, seq, wake };
      waiters.add(waiter);
      signal.addEventListener("abort", wake);
      if (signal.aborted) wake();
      await sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
      signal.removeEventListener("abort", wake);
      waiters.delete(waiter);
      lastWaitAt = Date.now();
    },
    closing: closing.signal,
    close: () => closing.abort(),
    stop: () => {
      closing.abort();
      return loop.stop();
    },
  };
}
