import { setTimeout as sleep } from "node:timers/promises";
import { verifyChain } from "../../src/store/audit/chain.ts";
import { rows, type Db } from "../../src/store/db/connect.ts";
import { readAudit } from "../../test/audit/support/read-audit.ts";
import type { RecordedCall } from "../history.ts";
import { groupBy, type Invariant, type Subject } from "./subject.ts";

interface AttemptRow {
  readonly id: string;
  readonly workspaceId: string | null;
  readonly requestId: string;
  readonly clientId: string | null;
  readonly action: string;
  readonly status: number | null;
  readonly problem: string | null;
  readonly isReplay: boolean;
  readonly hasEvents: boolean;
}

// Invariant: I18 Each attempt has one row in the audit log, which does not change
/**
 * A write with a response has one row with its status, or none above a limit; a write without a
 * response has at most one, and one if it stored a response. Rows do not change after their end, the
 * chain has them all, and each event of an attempt leads to its row.
 */
export const attemptsAreAudited: Invariant = async (subject) => {
  const { db } = subject.world.deps;
  const found = await untilChained(db);
  const { broken } = await verifyChain(db);
  if (broken !== null) found.push(`the chain is broken: ${broken}`);
  const attempts = await readAttempts(db);
  const byRequest = groupBy(attempts, ({ requestId }) => requestId);
  for (const call of subject.history.calls.filter(({ key }) => key !== null)) {
    const wrong = wrongRows(call, byRequest.get(call.requestId) ?? []);
    if (wrong !== null)
      found.push(`${call.method} ${call.path} of ${call.actor}, answered ${call.status}, ${wrong}`);
  }
  found.push(
    ...responsesWithoutRow(subject, byRequest),
    ...commentsWithoutEvent(subject, byRequest),
    ...(await changedRows(db)),
    ...(await unlinkedEvents(db)),
  );
  for (const { api, owner, workspaceId } of subject.world.boards) {
    const shown = new Set((await readAudit(api)).map(({ id }) => id));
    const missing = attempts.find((row) => row.workspaceId === workspaceId && !shown.has(row.id));
    if (missing) found.push(`GET /v1/audit of ${owner} lacks ${missing.action}, ${missing.requestId}`);
  }
  return found;
};

/** A process whose call was interrupted counts as dead after 15 seconds, and then its rows end. */
const END_WITHIN_MS = 30_000;

async function untilChained(db: Db): Promise<string[]> {
  const deadline = Date.now() + END_WITHIN_MS;
  for (;;) {
    const left = await rows<{ action: string; id: string }>(
      db,
      "select action, id from audit_log where position is null",
    );
    const isLate = Date.now() > deadline;
    if (left.length === 0 || isLate)
      return left.map(({ action, id }) => `the row ${id} of ${action} is not in the chain`);
    await sleep(250);
  }
}

const readAttempts = (db: Db): Promise<AttemptRow[]> =>
  rows<AttemptRow>(
    db,
    `select a.id, a.workspace_id as "workspaceId", a.user_agent as "requestId", a.client_id as "clientId", a.action,
            a.status, a.problem, a.is_replay as "isReplay",
            exists (select 1 from events e where e.attempt_id = a.id) as "hasEvents"
       from audit_log a where a.request_id is not null`,
  );

/** What is wrong with the rows of a call, or null. */
function wrongRows(call: RecordedCall, found: readonly AttemptRow[]): string | null {
  const { status, clientId, method, isReplay } = call;
  if (found.length > 1) return `has ${found.length} rows`;
  const [row] = found;
  // Calls above a limit, and those that Node ends because they arrive too slowly (408), get no row. A failure
  // cannot be recorded while the database is away.
  const mayLack = status === null || status === 408 || status === 429 || status >= 500;
  if (!row) return mayLack ? null : "has no row";
  if (row.clientId !== clientId) return `has a row of ${row.clientId}`;
  if (!row.action.startsWith(`${method} /v1/`)) return `has a row of ${row.action}`;
  if (status === null || status >= 500) return null;
  // Its process died before it could end the row of a refused call that had begun to act.
  const isInterrupted = row.problem === "interrupted" && status >= 400;
  if (row.status !== status && !isInterrupted) return `has a row with ${row.status}`;
  return row.isReplay === isReplay ? null : `has a row as ${row.isReplay ? "a" : "no"} replay`;
}

/** An attempt that got no response may have written the comment that a later one responds with. */
function commentsWithoutEvent({ writes }: Subject, byRequest: ReadonlyMap<string, AttemptRow[]>): string[] {
  return writes
    .filter(({ path, success }) => success !== null && path.endsWith("/comments"))
    .filter(
      ({ attempts }) =>
        !attempts.some(({ requestId }) => byRequest.get(requestId)?.some(({ hasEvents }) => hasEvents)),
    )
    .map(({ actor, key }) => `no row of the comment ${actor} ${key} has its event`);
}

/** A response that was replayed was stored by one attempt, also if that got no response itself. */
function responsesWithoutRow({ writes }: Subject, byRequest: ReadonlyMap<string, AttemptRow[]>): string[] {
  return writes
    .filter(({ attempts }) => attempts.some(({ isReplay }) => isReplay))
    .flatMap(({ actor, key, attempts }) => {
      const own = attempts.flatMap(({ requestId }) => byRequest.get(requestId) ?? []);
      const stored = own.filter(({ status, isReplay }) => !isReplay && status !== null && status < 300);
      return stored.length === 1 ? [] : [`${stored.length} rows stored the response to ${actor} ${key}`];
    });
}

async function changedRows(db: Db): Promise<string[]> {
  const changed = await rows<{ id: string; what: string }>(
    db,
    "select id, what from faults.changed_attempts",
  );
  return changed.map(({ id, what }) => `the ended row ${id} was ${what}`);
}

async function unlinkedEvents(db: Db): Promise<string[]> {
  const events = await rows<{ id: string; kind: string }>(
    db,
    `select e.id, e.kind from events e where e.attempt_id is not null
        and not exists (select 1 from audit_log a where a.id = e.attempt_id)`,
  );
  return events.map(({ id, kind }) => `the event ${id} (${kind}) names an attempt without a row`);
}
