import type { Client } from "./client.ts";
import { ApiProblem } from "./problem.ts";
import type { Event } from "./schema.d.ts";
import { readFrames, textOf } from "./sse.ts";
import { untilShown, watchHidden } from "./visibility.ts";

/** `connecting` before the first response, `live` while events arrive, `offline` until the next attempt succeeds. */
export type FeedState = "connecting" | "live" | "offline";

export interface FeedListener {
  /** The stream is open: it sends every event after `position`. */
  onOpen(position: number): void;
  onEvents(events: readonly Event[]): void;
  /** Events were lost: everything must be read again. */
  onGap(): void;
  onState(state: FeedState): void;
  /** The service refuses the stream: the user may have been removed from the board. */
  onRefused(): void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** The statuses for a board that does not exist, or of which the user is no longer a member. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 404]);
/** The service sends a comment every 15 seconds. */
const SILENCE_MS = 40_000;

/**
 * Follows the events of a board until `signal` aborts. Resumes after the last event it has seen. Has
 * no connection while nobody sees the page: over HTTP/1.1 a browser opens six to a host, so the
 * streams of six tabs would leave none for their calls.
 */
export async function followFeed(client: Client, listener: FeedListener, signal: AbortSignal): Promise<void> {
  let position: number | null = null;
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    await untilShown(signal);
    const hidden = watchHidden();
    try {
      const either = AbortSignal.any([signal, hidden.signal]);
      for await (const next of readConnection(client, position, listener, either)) {
        position = next;
        pause = FIRST_PAUSE_MS;
      }
    } catch (error) {
      const status = error instanceof ApiProblem ? error.status : null;
      // Signed out: the client has reported it, and further attempts cannot succeed.
      if (status === 401) return listener.onState("offline");
      if (status !== null && REFUSALS.has(status)) listener.onRefused();
    } finally {
      hidden.release();
    }
    if (signal.aborted) return;
    if (hidden.signal.aborted) continue;
    listener.onState("offline");
    await waitForRetry(pause, signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** One connection. Yields the position after each frame. */
async function* readConnection(
  client: Client,
  from: number | null,
  listener: FeedListener,
  signal: AbortSignal,
): AsyncGenerator<number> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await client.call("/console/v1/events/stream", {
      signal: AbortSignal.any([signal, silence.signal]),
      headers: from === null ? {} : { "Last-Event-ID": String(from) },
    });
    if (!response.body) return;
    let isOpen = false;
    const heard = async function* (texts: AsyncIterable<string>): AsyncGenerator<string> {
      for await (const text of texts) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        yield text;
      }
    };
    for await (const { id, event, data } of readFrames(heard(textOf(response.body)))) {
      if (id === null) continue;
      if (!isOpen && event !== "reset") listener.onOpen(data === "" ? Number(id) : Number(id) - 1);
      if (!isOpen) listener.onState("live");
      isOpen = true;
      if (event === "reset") listener.onGap();
      else if (data !== "") listener.onEvents([JSON.parse(data) as Event]);
      yield Number(id);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Waits, but not longer than until the browser reports a connection. */
async function waitForRetry(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((done) => {
    const end = (): void => {
      clearTimeout(timer);
      window.removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms * (0.75 + Math.random() / 2));
    window.addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}
