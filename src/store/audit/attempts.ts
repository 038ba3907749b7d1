import type { ForgeWrite } from "../../forge/forge.ts";
import { firstValue, isoTime, rows, type Db } from "../db/connect.ts";
import { isAliveSql } from "../ops/instances.ts";
import { userKindSql } from "../tenancy/users.ts";

/** The end of an attempt. */
export interface AttemptOutcome {
  /** The status of the response, or the exit code of a command. */
  readonly status: number;
  /** The kind of problem, or the reason of a refusal; null for a success. */
  readonly problem: string | null;
  readonly isReplay?: boolean;
}

export interface AttemptRow {
  readonly id: string;
  readonly workspaceId: string | null;
  readonly userId: string | null;
  /** Shown as the actor if there is no user. */
  readonly actor: { readonly id: null; readonly name: string; readonly kind: string } | null;
  readonly clientId: string | null;
  readonly action: string;
  readonly targets: Readonly<Record<string, string | number>>;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
  readonly calls: readonly ForgeWrite[];
  /** The process that runs it; null for a command. */
  readonly holder: string | null;
}

/** SQL that records an attempt, with the bindings of `attemptBindings`. */
export const RECORD = `
  insert into audit_log (id, workspace_id, actor, client_id, action, targets, ended_at, status, problem, is_replay,
                         address, user_agent, request_id, forge_calls, holder)
  values (:id, :workspaceId,
          coalesce((select jsonb_build_object('id', u.id, 'name', u.name,
                                              'kind', ${userKindSql("cast(:workspaceId as uuid)", "u")})
                      from users u where u.id = :userId), cast(:actor as jsonb)),
          :clientId, :action, cast(:targets as jsonb), case when :isEnded then now() end, :status, :problem, :isReplay,
          :address, :userAgent, :requestId, cast(:calls as jsonb), case when not :isEnded then cast(:holder as uuid) end)
  on conflict (id) do update
    set targets = excluded.targets, ended_at = excluded.ended_at, status = excluded.status, problem = excluded.problem,
        forge_calls = excluded.forge_calls, holder = excluded.holder
    where audit_log.ended_at is null`;

/**
 * Inserts the row of an attempt, or ends it. `outcome` is null while the attempt runs. A row that has
 * ended does not change.
 */
export async function recordAttempt(db: Db, row: AttemptRow, outcome: AttemptOutcome | null): Promise<void> {
  await rows(db, RECORD, attemptBindings(row, outcome));
}

export const attemptBindings = (
  { actor, targets, calls, ...row }: AttemptRow,
  outcome: AttemptOutcome | null,
) => ({
  ...row,
  actor: actor && JSON.stringify(actor),
  targets: JSON.stringify(targets),
  calls: JSON.stringify(calls),
  isEnded: outcome !== null,
  status: outcome?.status ?? null,
  problem: outcome?.problem ?? null,
  isReplay: outcome?.isReplay ?? false,
});

/** Adds the calls of a job that continues an attempt, unless the row has ended. */
export async function addCalls(db: Db, id: string, calls: readonly ForgeWrite[]): Promise<void> {
  await rows(
    db,
    "update audit_log set forge_calls = forge_calls || cast(:calls as jsonb) where id = :id and ended_at is null",
    { id, calls: JSON.stringify(calls) },
  );
}

/** Longer than any command runs. */
const COMMAND_TIMEOUT = "interval '1 hour'";

/**
 * Ends attempts whose process died, and which no job continues, as `interrupted`. Their callers got no
 * response.
 */
export async function endInterrupted(db: Db): Promise<void> {
  await rows(
    db,
    `update audit_log a set ended_at = now(), problem = 'interrupted', holder = null
      where a.position is null and a.ended_at is null
        and case when a.holder is null then a.occurred_at < now() - ${COMMAND_TIMEOUT}
                 else not ${isAliveSql("a.holder")} end
        and not exists (select 1 from operations o where o.attempt_id = a.id and o.state = 'running')`,
  );
}

/** An attempt as `GET /v1/audit` shows it. */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly actor: unknown;
  readonly credential: string | null;
  readonly action: string;
  readonly targets: Readonly<Record<string, string | number>>;
  readonly outcome: {
    readonly status: number | null;
    readonly problem: string | null;
    readonly replay: boolean;
  };
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
  readonly calls: readonly ForgeWrite[];
  /** The numbers of the events that it caused, as long as the feed keeps them. */
  readonly events: readonly number[];
  /** Hexadecimal; null until the row is added to the chain. */
  readonly hash: string | null;
}

/** SQL for the attempt `a` as the fields of an `AuditEntry`. */
export const ENTRY = `
  'id', a.id, 'at', ${isoTime("a.occurred_at")}, 'actor', a.actor, 'credential', a.client_id, 'action', a.action,
  'targets', a.targets, 'outcome', json_build_object('status', a.status, 'problem', a.problem, 'replay', a.is_replay),
  'address', a.address, 'userAgent', a.user_agent, 'requestId', a.request_id, 'calls', a.forge_calls,
  'events', coalesce((select json_agg(e.seq order by e.seq) from events e where e.attempt_id = a.id and e.seq is not null), '[]'),
  'hash', encode(a.hash, 'hex')`;

/** Which attempts to list. Null leaves a condition out. */
export interface AuditFilter {
  /** ISO 8601. */
  readonly from: string | null;
  /** Exclusive. */
  readonly to: string | null;
  /** The id of the user. */
  readonly actor: string | null;
  /** The client id of the API key or session. */
  readonly credential: string | null;
  /** A part of the action, or the whole action if it has a method, in upper or lower case. */
  readonly action: string | null;
  readonly outcome: AuditOutcome | null;
}

export const AUDIT_OUTCOMES = ["success", "failure"] as const;
type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

export const AUDIT_ORDERS = ["asc", "desc"] as const;
export type AuditOrder = (typeof AUDIT_ORDERS)[number];

/** A position in the list of attempts, which is sorted by time: microseconds since 1970, and the id. */
export type AuditCursor = readonly [micros: string, id: string];

export interface AuditPage {
  /** Each attempt as one line of JSON. */
  readonly lines: readonly string[];
  /** The position of the last one; null if no more follow. */
  readonly next: AuditCursor | null;
}

/** Lists the ended attempts on a board by time, after a position. */
export async function readAttempts(
  db: Db,
  workspaceId: string,
  filter: AuditFilter,
  {
    after,
    limit,
    order,
  }: { readonly after: AuditCursor | null; readonly limit: number; readonly order: AuditOrder },
): Promise<AuditPage> {
  const isBeyond = order === "asc" ? ">" : "<";
  const found = await rows<{ micros: string; id: string; line: string }>(
    db,
    `select a.id, cast(cast(extract(epoch from a.occurred_at) * 1000000 as bigint) as text) as micros,
            cast(json_build_object(${ENTRY}) as text) as line
       from audit_log a
      where a.workspace_id = :workspaceId and a.ended_at is not null
        and a.occurred_at >= coalesce(cast(:from as timestamptz), '-infinity')
        and a.occurred_at < coalesce(cast(:to as timestamptz), 'infinity')
        and (cast(:actor as text) is null or a.actor ->> 'id' = :actor)
        and (cast(:credential as text) is null or a.client_id = :credential)
        and (cast(:action as text) is null or lower(a.action) = lower(:action)
             or :action !~* '^(get|post|put|patch|delete) ' and strpos(lower(a.action), lower(:action)) > 0)
        and (cast(:outcome as text) is null or (a.problem is null) = (:outcome = 'success'))
        and (cast(:micros as bigint) is null
             or (a.occurred_at, a.id) ${isBeyond}
                (timestamptz 'epoch' + cast(:micros as bigint) * interval '1 microsecond', cast(:id as uuid)))
      order by a.occurred_at ${order}, a.id ${order} limit :limit + 1`,
    { ...filter, workspaceId, limit, micros: after?.[0] ?? null, id: after?.[1] ?? null },
  );
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    lines: page.map(({ line }) => line),
    next: last && found.length > limit ? [last.micros, last.id] : null,
  };
}

/** The age of the oldest ended attempt that is not in the chain, in seconds; 0 if the chain has all. */
export const chainAge = async (db: Db): Promise<number> =>
  (await firstValue<number>(
    db,
    `select cast(coalesce(extract(epoch from now() - min(ended_at)), 0) as double precision) as age
       from audit_log where position is null and ended_at is not null`,
    {},
  )) ?? 0;
