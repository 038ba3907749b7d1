import { firstRow, rows, type Db } from "../db/connect.ts";
import { transaction } from "../db/transaction.ts";
import { isAliveSql } from "./instances.ts";
import { saveJobProgress } from "./job-progress.ts";

/** How many days finished work is kept. */
export interface Retention {
  readonly deliveryDays: number;
  /** For ended operations, failed jobs, and check reports. */
  readonly historyDays: number;
  /** For the audit log. */
  readonly auditDays: number;
}

export const DEFAULT_RETENTION: Retention = { deliveryDays: 30, historyDays: 90, auditDays: 400 };

/** Each batch is a separate short statement, so a later failure does not undo it. */
const BATCH = 1_000;

interface Batches {
  readonly days?: number;
  readonly batch?: number | undefined;
}

/** Repeats a DELETE of `:batch` rows until it finds fewer. Returns the number of deleted rows. */
async function inBatches(db: Db, sql: string, bindings: Batches = {}): Promise<number> {
  const { batch = BATCH } = bindings;
  for (let total = 0; ;) {
    const { length } = await rows(db, sql, { ...bindings, batch });
    total += length;
    if (length < batch) return total;
  }
}

/** Deletes processed deliveries, but no waiting or parked ones. */
export const dropOldDeliveries = (db: Db, days: number, batch?: number): Promise<number> =>
  inBatches(
    db,
    `delete from deliveries where guid in (
         select guid from deliveries where state = 'done' and received_at < now() - :days * interval '1 day'
          order by received_at limit :batch)
       returning 1`,
    { days, batch },
  );

/**
 * Deletes events that were numbered more than 30 days ago, those of a board in the order of their
 * numbers. Their numbers are not used again.
 */
export const dropOldEvents = (db: Db, batch?: number): Promise<number> =>
  inBatches(
    db,
    `delete from events where id in (
         select id from events where numbered_at < now() - interval '30 days'
          order by numbered_at, seq limit :batch)
       returning 1`,
    { batch },
  );

/** Deletes keys older than 24 hours, except those of requests that still run. */
export const dropOldKeys = (db: Db): Promise<number> =>
  inBatches(
    db,
    `delete from idempotency_keys where (credential_id, key) in (
         select credential_id, key from idempotency_keys
          where created_at < now() - interval '24 hours' and (state = 'done' or not ${isAliveSql("holder")})
          order by created_at limit :batch)
       returning 1`,
  );

/**
 * Deletes the credentials of sessions that ended more than 30 days ago, and releases their claims.
 * Removes the GitHub tokens of all ended sessions, also of people who left their last board.
 */
export async function dropEndedSessions(db: Db, batch?: number): Promise<number> {
  await rows(
    db,
    `update sessions s set forge_token = null from credentials c
      where c.id = s.credential_id and s.forge_token is not null
        and (c.revoked_at is not null or c.expires_at < now()
             or not exists (select 1 from memberships m where m.user_id = c.user_id))`,
  );
  return inBatches(
    db,
    `with ended as (
       select c.id from sessions s join credentials c on c.id = s.credential_id
        where least(c.revoked_at, c.expires_at) < now() - interval '30 days'
          and not exists (select 1 from idempotency_keys k where k.credential_id = c.id)
        order by c.id limit :batch),
     released as (
       update claims k set credential_id = null from ended where k.credential_id = ended.id)
     delete from credentials c using ended where c.id = ended.id returning 1`,
    { batch },
  );
}

/** Deletes the ids of monitor reports that are too old to be sent again. */
export const dropOldReports = (db: Db, batch?: number): Promise<number> =>
  inBatches(
    db,
    `delete from monitor_reports where (monitor_id, report_id) in (
         select monitor_id, report_id from monitor_reports where received_at < now() - interval '7 days'
          order by received_at limit :batch)
       returning 1`,
    { batch },
  );

/** Deletes attempts to deliver an event to a webhook. */
export const dropOldWebhookDeliveries = (db: Db, batch?: number): Promise<number> =>
  inBatches(
    db,
    `delete from webhook_deliveries where id in (
         select id from webhook_deliveries where at < now() - interval '14 days' order by at limit :batch)
       returning 1`,
    { batch },
  );

/** Deletes check reports, except on the head commits of cards, pull requests and proposals. */
export const dropOldCheckReports = (db: Db, days: number, batch?: number): Promise<number> =>
  inBatches(
    db,
    `delete from check_reports where (repository_id, sha, source, name, app_id, suite_id) in (
         select k.repository_id, k.sha, k.source, k.name, k.app_id, k.suite_id from check_reports k
          where k.changed_at < now() - :days * interval '1 day'
            and not exists (select 1 from card_repositories h where h.repository_id = k.repository_id and h.head_sha = k.sha)
            and not exists (select 1 from pull_requests h where h.repository_id = k.repository_id and h.head_sha = k.sha)
            and not exists (select 1 from proposals h where h.repository_id = k.repository_id and h.head_sha = k.sha)
          order by k.changed_at limit :batch)
       returning 1`,
    { days, batch },
  );

/** Deletes jobs that failed at their last attempt. */
export const dropFailedJobs = (db: Db, days: number): Promise<number> =>
  inBatches(
    db,
    `select 1 from graphile_worker.complete_jobs(array(
         select id from graphile_worker.jobs
          where attempts >= max_attempts and locked_at is null and updated_at < now() - :days * interval '1 day'
          limit :batch))`,
    { days },
  );

const OPERATIONS = "drop_old_operations";

/**
 * Deletes ended operations, except the last successful move of each card: later steps of the stage are
 * attributed to the move's actor. Stores the time up to which operations were read, so that the next
 * run does not read the kept ones again.
 */
export async function dropOldOperations(db: Db, days: number): Promise<void> {
  for (let isMore = true; isMore;) {
    isMore = await transaction(db, async (trx) => {
      const ended = await firstRow<{ until: string | null; count: number }>(
        trx,
        `with ended as (
           select id, kind, card_id, state, created_at, updated_at from operations
            where state in ('done', 'refused', 'abandoned') and updated_at < now() - :days * interval '1 day'
              and updated_at > coalesce((select done_until from job_progress where name = :name), '-infinity')
            order by updated_at limit :batch),
         unneeded as (
           delete from operations o using ended e where o.id = e.id and (e.state <> 'done' or e.kind <> 'move')),
         earlier as (
           delete from operations o using (
             select distinct on (card_id) card_id, updated_at, created_at from ended
              where kind = 'move' and state = 'done' order by card_id, updated_at desc, created_at desc) last
            where o.card_id = last.card_id and o.state = 'done'
              and (o.updated_at, o.created_at) < (last.updated_at, last.created_at))
         select cast(max(updated_at) as text) as until, count(*) as count from ended`,
        { days, name: OPERATIONS, batch: BATCH },
      );
      if (!ended?.until) return false;
      await saveJobProgress(trx, OPERATIONS, ended.until);
      return ended.count === BATCH;
    });
  }
}

/** Deletes processes without a heartbeat for a day. */
export const dropDeadInstances = (db: Db): Promise<number> =>
  db("instances").where("seen_at", "<", db.raw("now() - interval '1 day'")).delete();
