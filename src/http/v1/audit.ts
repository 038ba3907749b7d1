import { once } from "node:events";
import { z } from "zod";
import type { Deps } from "../../actions/deps.ts";
import {
  AUDIT_ORDERS,
  AUDIT_OUTCOMES,
  readAttempts,
  type AuditCursor,
  type AuditFilter,
  type AuditPage,
} from "../../store/audit/attempts.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { closedSignal } from "../event-stream.ts";
import { linkNext, listHeaders, listQuery, windowOf } from "../list-route.ts";
import { streamRoute, type Exchange, type Route } from "../route.ts";
import { id, text } from "../validate.ts";

/** Rows per read, which bounds what is held in memory. */
const BATCH = 500;

const TIME = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
const time = z
  .string()
  .refine(
    (given) => TIME.test(given) && !Number.isNaN(Date.parse(given)),
    "must be a time such as 2026-01-31T12:00:00Z",
  )
  .transform((given) => new Date(given).toISOString());

/** Which attempts to list. */
export const attemptQuery = z.object({
  from: time
    .optional()
    .meta({ description: "Only attempts at this time or later, such as `2026-01-31T12:00:00Z`" }),
  to: time.optional().meta({ description: "Only attempts before this time" }),
  actor: id().optional().meta({ description: "Only attempts of the user with this id" }),
  credential: text({ min: 1, max: 100 })
    .optional()
    .meta({ description: "Only attempts with the API key, or in the session, of this client id" }),
  action: text({ min: 1, max: 200 }).optional().meta({
    description:
      "Only actions that contain this text, such as `/move`; with a method, such as `POST /v1/cards`, only this action",
  }),
  outcome: z.enum(AUDIT_OUTCOMES).optional().meta({ description: "Only attempts that ended so" }),
  order: z.enum(AUDIT_ORDERS).optional().meta({ description: "By time; `asc` unless given" }),
});

const query = attemptQuery.extend({
  limit: listQuery.shape.limit.meta({ description: "The number of attempts to return; all unless given" }),
  cursor: listQuery.shape.cursor,
});
type Query = z.output<typeof query>;

/** The content of a cursor. */
export const attemptPlace: z.ZodType<AuditCursor> = z
  .tuple([z.string().regex(/^\d{1,16}$/), z.uuid()])
  .readonly();

export const filterOf = ({
  from,
  to,
  actor,
  credential,
  action,
  outcome,
}: z.output<typeof attemptQuery>): AuditFilter => ({
  from: from ?? null,
  to: to ?? null,
  actor: actor ?? null,
  credential: credential ?? null,
  action: action ?? null,
  outcome: outcome ?? null,
});

type StreamExchange = Pick<Exchange, "request" | "response">;

/** Sends a batch when the previous one is on its way. Stops if the client closes the connection. */
async function sendAttempts(
  deps: Deps,
  { request, response }: StreamExchange,
  board: BoardRole,
  given: Query,
  authorize: () => Promise<unknown>,
): Promise<void> {
  const { schedule } = response.locals.limiter;
  const closed = closedSignal(response);
  const start = windowOf(request, given, attemptPlace);
  const isOnePage = given.limit !== undefined;
  const size = isOnePage ? start.limit : BATCH;
  let { after } = start;
  do {
    await schedule.enter(response, board.workspaceId);
    const part = { after, limit: size, order: given.order ?? "asc" };
    const page: AuditPage = await readAttempts(deps.db, board.workspaceId, filterOf(given), part);
    // A slow reader must not keep other calls of the board from running.
    schedule.leave(response);
    if (!response.headersSent) {
      response.set("Content-Type", "application/x-ndjson; charset=utf-8");
      if (isOnePage && page.next !== null) linkNext(listExchangeOf(request, response), page.next);
    }
    if (request.method === "HEAD" || closed.aborted) break;
    const isSent = response.write(page.lines.map((line) => `${line}\n`).join(""));
    if (!isSent) await once(response, "drain", { signal: closed }).catch(() => undefined);
    after = isOnePage ? null : page.next;
    if (after !== null) await authorize();
  } while (after !== null && !closed.aborted);
  response.end();
}

const listExchangeOf = (request: StreamExchange["request"], response: StreamExchange["response"]) => ({
  path: request.path,
  query: request.query,
  setHeader: (name: string, value: string) => void response.set(name, value),
});

export const auditRoutes: readonly Route[] = [
  streamRoute({
    path: "/v1/audit",
    summary: "Export the audit log",
    description:
      "Each attempt to change something on the board, also a refused one, as a line of JSON, in the order of time: `id`, `at`, `actor`, `credential` (the client id of the API key), `action` (the route), `targets` (ids and numbers in the path, and the `id` and `number` of what it created), `outcome` (`status`, `problem`, `replay`), `address`, `userAgent`, `requestId`, `calls` (requests to GitHub that write, each with its `result`), `events` (their `seq`) and `hash`. It has no bodies. A call without a board or with a refused key is in the operator's export only.",
    tag: "Audit log",
    role: "maintainer",
    query,
    responses: {
      200: {
        description: "The attempts",
        schema: z.string(),
        headers: listHeaders,
        contentType: "application/x-ndjson",
      },
    },
    handle: (deps, { board, query: given }, { request, response }, authorize) =>
      sendAttempts(deps, { request, response }, board, given, authorize),
  }),
];
