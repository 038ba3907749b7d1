import { once } from "node:events";
import type { Request, Response } from "express";
import type { Deps } from "../actions/deps.ts";
import { Problem } from "../errors.ts";
import {
  hasAllAfter,
  readEvents,
  readFeedBounds,
  type FeedEvent,
  type FeedFilter,
} from "../store/events/feed.ts";

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
  const { keepAliveMs } = deps.feed;
  const ending = AbortSignal.any([closedSignal(response), deps.feed.closing]);
  const bounds = await readFeedBounds(deps.db, workspaceId);
  const asked = lastEventId(request) ?? after ?? bounds.head;
  startStream(response);
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  let position = hasAllAfter(asked, bounds) ? asked : bounds.head;
  const { oldest, head } = bounds;
  response.write(
    position === asked
      ? `id: ${position}\n\n`
      : frame(head, "reset", { oldest: String(oldest), head: String(head) }),
  );
  let aliveUntil = Date.now() + keepAliveMs;
  while (!ending.aborted) {
    const { events, next } = await readEvents(deps.db, workspaceId, {
      ...filter,
      after: position,
      limit: BATCH,
    });
    const text = events.map((event) => frame(event.seq, event.kind, event)).join("");
    if (text !== "" && !response.write(text) && !(await isDrained(response, keepAliveMs))) {
      response.destroy();
      return;
    }
    if (next === position) {
      await deps.feed.waitForEvent(workspaceId, position, Math.max(aliveUntil - Date.now(), 0), ending);
    }
    position = next;
    if (Date.now() < aliveUntil) continue;
    aliveUntil = Date.now() + keepAliveMs;
    if (!(await mayRead(authorize))) break;
    // The id moves the position of a reader whose filter matches little.
    response.write(`: keep-alive\nid: ${position}\n\n`);
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

function closedSignal(response: Response): AbortSignal {
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  return closed.signal;
}

/** The position of a client that reconnects, or null. */
function lastEventId(request: Request): number | null {
  const header = request.get("Last-Event-ID");
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : null;
}

/** False if the client has not read what was sent before the next comment is due. */
async function isDrained(response: Response, ms: number): Promise<boolean> {
  const signal = AbortSignal.any([AbortSignal.timeout(ms), closedSignal(response)]);
  try {
    await once(response, "drain", { signal });
    return true;
  } catch {
    return false;
  }
}
