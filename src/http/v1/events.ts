import { z } from "zod";
import type { Deps } from "../../actions/deps.ts";
import {
  FEED_KINDS,
  readFeedBounds,
  requireRetained,
  type FeedBounds,
  type FeedFilter,
} from "../../store/events/feed.ts";
import { closedSignal, streamEvents } from "../event-stream.ts";
import { readRoute, streamRoute, type Route } from "../route.ts";
import { digits } from "../validate.ts";
import { actor, timestamp } from "./shapes.ts";

const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 100;
const MAX_WAIT_S = 25;

const seq = digits(Number.MAX_SAFE_INTEGER, "must be the `seq` of an event, or 0");

const filter = z.object({
  kinds: z
    .string()
    .transform((list) => list.split(","))
    .pipe(z.array(z.enum(FEED_KINDS, { error: (issue) => `has no kind ${JSON.stringify(issue.input)}` })))
    .optional()
    .meta({ description: "Only events of these kinds, separated by commas", type: "string" }),
  card: digits(2_147_483_647, "must be the number of a card")
    .optional()
    .meta({ description: "Only events of the card with this number" }),
});

const pollQuery = filter.extend({
  after: seq.optional().meta({
    description:
      "The `next` of the previous response, or `X-Feed-Seq`; without it the response has no events",
  }),
  limit: digits(MAX_LIMIT, `must be a number from 1 to ${MAX_LIMIT}`)
    .refine((limit) => limit >= 1, `must be a number from 1 to ${MAX_LIMIT}`)
    .optional()
    .meta({ description: `The number of events to return, by default ${DEFAULT_LIMIT}` }),
  wait: digits(MAX_WAIT_S, `must be a number of seconds from 0 to ${MAX_WAIT_S}`)
    .optional()
    .meta({ description: "Seconds to wait for an event if there is none" }),
});

const streamQuery = filter.extend({
  after: seq.optional().meta({ description: "Where to start, unless the request has `Last-Event-ID`" }),
});

const event = z
  .object({
    seq: z.int().meta({ description: "The number of the event on its board, contiguous from 1" }),
    id: z.string().meta({ description: "The same in every channel" }),
    kind: z.enum(FEED_KINDS).meta({ description: "Skip a kind you do not know: new ones are added" }),
    at: timestamp,
    card: z
      .object({ number: z.int(), title: z.string() })
      .nullable()
      .meta({ description: "The card, with its title at that time" }),
    actor: actor.nullable().meta({ description: "Null for what the service itself or its operator did" }),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        "As on the timeline. A change that is on no timeline has `from` and `to`, except `inbox_dismissed`, which has the item's `id` and `kind`, `armed_changed`, which has `armedId`, `statusId` and `waitingFor`, and `git_facts_changed`, which has the `fullName` of the repository and no card if it concerns several",
    }),
  })
  .meta({ id: "Event" });

export const position = z.string().regex(/^\d+$/);
const page = z
  .object({
    events: z.array(event),
    next: position.meta({ description: "Where the next call continues" }),
    head: position.meta({ description: "The `seq` of the newest event" }),
    oldest: position.meta({ description: "The `seq` of the oldest event that is kept" }),
  })
  .meta({ id: "EventPage" });

export const gone = z.object({
  message: z.string(),
  error: z.string(),
  statusCode: z.literal(410),
  head: position,
  oldest: position,
});

const filterOf = ({ kinds, card }: z.output<typeof filter>): FeedFilter => ({
  kinds: kinds ?? null,
  cardNumber: card ?? null,
});

interface Waiting {
  /** Waits for an event after `seq`. */
  readonly wait: (seq: number, ms: number) => Promise<void>;
  /** Aborts when the client closes the connection, or the process shuts down. */
  readonly ending: AbortSignal;
}

const pageOf = (events: readonly object[], next: number, { head, oldest }: FeedBounds): object => ({
  events,
  next: String(next),
  head: String(head),
  oldest: String(oldest),
});

async function poll(
  deps: Deps,
  workspaceId: string,
  query: z.output<typeof pollQuery>,
  { wait, ending }: Waiting,
): Promise<z.input<typeof page> | object> {
  const { after, limit = DEFAULT_LIMIT } = query;
  if (after === undefined) {
    const bounds = await readFeedBounds(deps.db, workspaceId);
    return pageOf([], bounds.head, bounds);
  }
  const until = Date.now() + (query.wait ?? 0) * 1_000;
  for (let from = after; ;) {
    const found = await deps.feed.read(workspaceId, { ...filterOf(query), after: from, limit });
    requireRetained(from, found);
    const { events, next } = found;
    const left = until - Date.now();
    if (events.length > 0 || left <= 0 || ending.aborted) return pageOf(events, next, found);
    if (next === from) await wait(next, left);
    from = next;
  }
}

export const eventRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/events",
    summary: "List events",
    description:
      "What happened on the board after `after`, in order and without gaps. Pass `next` as the next `after`. With `wait`, the call waits for an event.",
    tag: "Events",
    query: pollQuery,
    responses: {
      200: { description: "The events", schema: page },
      410: {
        description: "The feed does not keep the events after this position; read the board again",
        schema: gone,
      },
    },
    handle: async (deps, { cachedCredential, board: { workspaceId }, query }, { response }) => {
      const ending = closedSignal(response, deps.feed.closing);
      let hasWaited = false;
      const wait = async (from: number, ms: number): Promise<void> => {
        // A waiting call must not keep other calls of the board or of the credential from running.
        const { limiter } = response.locals;
        limiter.schedule.leave(response);
        limiter.becomeStream(response, workspaceId);
        hasWaited = true;
        await deps.feed.waitForEvent(workspaceId, from, ms, ending);
      };
      try {
        return await poll(deps, workspaceId, query, { wait, ending });
      } finally {
        // Once, not for each event that does not match the filter.
        if (hasWaited) await cachedCredential.readAndConfirmAgain(deps.db);
      }
    },
  }),
  streamRoute({
    path: "/v1/events/stream",
    summary: "Stream events",
    description:
      "The same events as Server-Sent Events: `id` is the `seq`, `event` the kind, `data` the event. It starts after `Last-Event-ID` or `after`, otherwise with the next event. If events after that position are not kept, `event: reset` with `oldest` and `head` is sent, also to a reader that is too slow: read the board again. The stream ends when the credential is revoked.",
    tag: "Events",
    query: streamQuery,
    responses: {
      200: { description: "The stream", schema: z.string(), contentType: "text/event-stream" },
    },
    handle: (deps, { board: { workspaceId }, query }, exchange, authorize) =>
      streamEvents(deps, exchange, {
        workspaceId,
        filter: filterOf(query),
        after: query.after ?? null,
        authorize,
      }),
  }),
];
