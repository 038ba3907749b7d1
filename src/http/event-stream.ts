import { once } from "node:events";
import type { Request, Response } from "express";
import type { Deps } from "../actions/deps.ts";
import { Problem } from "../errors.ts";
import { hasAllAfter, readFeedBounds, type FeedEvent, type FeedFilter } from "../store/events/feed.ts";

/** Events per read, which bounds what is buffered for a slow reader. */
const BATCH = 200;
/** The pause before a client reconnects, in milliseconds. */
const RETRY_MS = 1_000;

interface StreamOptions {
  readonly workspaceId: string;
  readonly filter: FeedFilter;
  /** Null starts with the next event. A `Last-Event-ID` header takes precedence. */
  readonly after: number | null;
  /** Throws if the credential has lost its access. */
  readonly authorize: () => Promise<unknown>;
}

/** Sends events until the client closes the connection, reads too slowly or loses its access. */
export async function streamEvents(
  deps: Deps,
  { request, response }: { readonly request: Request; readonly response: Response },
  { workspaceId, filter, after, authorize }: StreamOptions,
): Promise<void> {
  const { keepAliveMs, closing } = deps.feed;
  const ending = closedSignal(response, closing);
  const bounds = await readFeedBounds(deps.db, workspaceId);
  let position = lastEventId(request) ?? after ?? bounds.head;
  startStream(response);
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  if (hasAllAfter(position, bounds)) response.write(`id: ${position}\n\n`);
  let aliveUntil = Date.now() + keepAliveMs;
  const send = async (text: string): Promise<void> => {
    if (text === "" || response.write(text) || (await waitUntilDrained(response, keepAliveMs, ending)))
      return;
    response.destroy();
  };
  while (!ending.aborted) {
    const page = await deps.feed.read(workspaceId, { ...filter, after: position, limit: BATCH });
    const { events, next, head, oldest } = page;
    // Checked at each read, because old events may be deleted while a slow client reads.
    const isKept = hasAllAfter(position, page);
    await send(
      isKept
        ? events.map((event) => frame(event.seq, event.kind, event)).join("")
        : frame(head, "reset", { oldest: String(oldest), head: String(head) }),
    );
    if (isKept && next === position)
      await deps.feed.waitForEvent(workspaceId, position, Math.max(aliveUntil - Date.now(), 0), ending);
    position = isKept ? next : head;
    if (Date.now() < aliveUntil) continue;
    aliveUntil = Date.now() + keepAliveMs;
    if (ending.aborted || !(await mayRead(authorize))) break;
    // The id advances the position of a reader whose filter rarely matches.
    await send(`: keep-alive\nid: ${position}\n\n`);
  }
  response.end();
}

async function mayRead(authorize: () => Promise<unknown>): Promise<boolean> {
  try {
    await authorize();
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

const frame = (id: number, kind: string, data: FeedEvent | object): string =>
  `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;

function startStream(response: Response): void {
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    // Tells nginx not to buffer.
    "X-Accel-Buffering": "no",
  });
  response.write(`retry: ${RETRY_MS}\n`);
}

/**
 * Aborts when the connection of the client closes, or is closed already, or when `closing` aborts.
 * `AbortSignal.any` would add to `closing` for each request, for as long as the process runs.
 */
export function closedSignal(response: Response, closing?: AbortSignal): AbortSignal {
  const closed = new AbortController();
  const abort = (): void => {
    // Node loses listeners with the option `signal` to the garbage collector before they remove this one.
    closing?.removeEventListener("abort", abort);
    closed.abort();
  };
  closing?.addEventListener("abort", abort);
  response.once("close", abort);
  if (response.destroyed || closing?.aborted === true) abort();
  return closed.signal;
}

/** The position of a client that reconnects, or null. */
function lastEventId(request: Request): number | null {
  const header = request.get("Last-Event-ID");
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : null;
}

/** Waits until the client has read what was sent. False if it has not within `ms`. */
export async function waitUntilDrained(
  response: Response,
  ms: number,
  ending: AbortSignal,
): Promise<boolean> {
  const aborted = new AbortController();
  const abort = (): void => aborted.abort();
  // Node may collect an `AbortSignal.timeout` in a combined signal before it aborts.
  const timer = setTimeout(abort, ms);
  ending.addEventListener("abort", abort);
  try {
    await once(response, "drain", { signal: aborted.signal });
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
    ending.removeEventListener("abort", abort);
  }
}
