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
  const ending = AbortSignal.any([closedSignal(response), closing]);
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
    if (text === "" || response.write(text) || (await isDrained(response, keepAliveMs, ending))) return;
    response.destroy();
  };
  while (!ending.aborted) {
    const page = await deps.feed.read(workspaceId, { ...filter, after: position, limit: BATCH });
    const { events, next, head, oldest } = page;
    // Also after the start: old events are deleted while a slow client reads them.
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
    // The id moves the position of a reader whose filter matches little.
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

/** Aborts when the connection of the client closes. It may be closed already. */
export function closedSignal(response: Response): AbortSignal {
  const closed = new AbortController();
  if (response.destroyed) closed.abort();
  else response.once("close", () => closed.abort());
  return closed.signal;
}

/** The position of a client that reconnects, or null. */
function lastEventId(request: Request): number | null {
  const header = request.get("Last-Event-ID");
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : null;
}

/** False if the client has not read what was sent before the next comment is due. */
async function isDrained(response: Response, ms: number, ending: AbortSignal): Promise<boolean> {
  const signal = AbortSignal.any([AbortSignal.timeout(ms), ending]);
  try {
    await once(response, "drain", { signal });
    return true;
  } catch {
    return false;
  }
}
