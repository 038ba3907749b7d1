import { once } from "node:events";
import { z } from "zod";
import type { Deps } from "../../actions/deps.ts";
import { readAttempts, type AuditPage } from "../../store/audit/attempts.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { closedSignal } from "../event-stream.ts";
import { streamRoute, type Exchange, type Route } from "../route.ts";

/** Rows per read, which bounds what is held in memory. */
const BATCH = 500;

const TIME = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
const time = z
  .string()
  .refine(
    (text) => TIME.test(text) && !Number.isNaN(Date.parse(text)),
    "must be a time such as 2026-01-31T12:00:00Z",
  )
  .transform((text) => new Date(text).toISOString());

const query = z.object({
  from: time
    .optional()
    .meta({ description: "Only attempts at this time or later, such as `2026-01-31T12:00:00Z`" }),
  to: time.optional().meta({ description: "Only attempts before this time" }),
});

/** Sends a batch when the previous one is on its way. Stops if the client closes the connection. */
async function sendAttempts(
  deps: Deps,
  { request, response }: Pick<Exchange, "request" | "response">,
  board: BoardRole,
  { from, to }: z.output<typeof query>,
  authorize: () => Promise<unknown>,
): Promise<void> {
  const window = { from: from ?? null, to: to ?? null };
  const { schedule } = response.locals.limiter;
  const closed = closedSignal(response);
  let after: AuditPage["next"] = null;
  do {
    await schedule.enter(response, board.workspaceId);
    const page: AuditPage = await readAttempts(deps.db, board.workspaceId, window, after, BATCH);
    // A slow reader must not keep other calls of the board from running.
    schedule.leave(response);
    if (!response.headersSent) response.set("Content-Type", "application/x-ndjson; charset=utf-8");
    if (request.method === "HEAD" || closed.aborted) break;
    const isSent = response.write(page.lines.map((line) => `${line}\n`).join(""));
    if (!isSent) await once(response, "drain", { signal: closed }).catch(() => undefined);
    after = page.next;
    if (after !== null) await authorize();
  } while (after !== null && !closed.aborted);
  response.end();
}

export const auditRoutes: readonly Route[] = [
  streamRoute({
    path: "/v1/audit",
    summary: "Export the audit log",
    description:
      "Each attempt to change something on the board, also a refused one, as a line of JSON, in the order of time: `id`, `at`, `actor`, `credential` (the client id of the API key), `action` (the route), `targets` (ids and numbers in the path), `outcome` (`status`, `problem`, `replay`), `address`, `userAgent`, `requestId`, `calls` (writes to GitHub), `events` (their `seq`) and `hash`. It has no bodies. A call without a board or with a refused key is in the operator's export only.",
    tag: "Audit log",
    role: "maintainer",
    query,
    responses: {
      200: { description: "The attempts", schema: z.string(), contentType: "application/x-ndjson" },
    },
    handle: (deps, { board, query: window }, { request, response }, authorize) =>
      sendAttempts(deps, { request, response }, board, window, authorize),
  }),
];
