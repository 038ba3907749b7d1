import { firstRow, rows, type Db } from "../db/connect.ts";
import { transaction } from "../db/transaction.ts";
import { markRepaired } from "../forge/deliveries.ts";

/** How long what has been is kept, in days. */
export interface Retention {
  readonly deliveryDays: number;
  /** Of moves that have ended, and of jobs that were given up. */
  readonly historyDays: number;
}

export const DEFAULT_RETENTION: Retention = { deliveryDays: 30, historyDays: 90 };

/** Each batch is a statement of its own: short, and what it did stays done if the next one fails. */
const BATCH = 1_000;

/** Repeats a batch until it finds less than a whole one, and gives how many rows went. */
async function inBatches(dropSome: () => Promise<number>, batch = BATCH): Promise<number> {
  for (let total = 0; ;) {
    const dropped = await dropSome();
    total += dropped;
    if (dropped < batch) return total;
  }
}

/** Drops deliveries that were worked off, with all they carried. One that waits or was set aside is never dropped. */
export const dropOldDeliveries = (db: Db, days: number, batch = BATCH): Promise<number> =>
  inBatches(async () => {
    const dropped = await rows(
      db,
      `delete from deliveries where guid in (
         select guid from deliveries where state = 'done' and received_at < now() - :days * interval '1 day'
          order by received_at limit :batch)
       returning 1`,
      { days, batch },
    );
    return dropped.length;
  }, batch);

/** Drops answers older than 24 hours. A running key is never dropped. */
export const dropOldKeys = (db: Db): Promise<number> =>
  inBatches(async () => {
    const dropped = await rows(
      db,
      `delete from idempotency_keys where (credential_id, key) in (
         select credential_id, key from idempotency_keys
          where state = 'done' and created_at < now() - interval '24 hours' order by created_at limit :batch)
       returning 1`,
      { batch: BATCH },
    );
    return dropped.length;
  });

/** Drops monitors' reports so old that nobody repeats them any more. */
export const dropOldReports = (db: Db, batch = BATCH): Promise<number> =>
  inBatches(async () => {
    const dropped = await rows(
      db,
      `delete from monitor_reports where (monitor_id, report_id) in (
         select monitor_id, report_id from monitor_reports where received_at < now() - interval '7 days'
          order by received_at limit :batch)
       returning 1`,
      { batch },
    );
    return dropped.length;
  }, batch);

/** Drops what checks said long ago of commits that are no card's, pull request's or proposal's newest one. */
export const dropOldCheckReports = (db: Db, days: number, batch = BATCH): Promise<number> =>
  inBatches(async () => {
    const dropped = await rows(
      db,
      `delete from check_reports where (repository_id, sha, source, name, app_id) in (
         select k.repository_id, k.sha, k.source, k.name, k.app_id from check_reports k
          where k.changed_at < now() - :days * interval '1 day'
            and not exists (select 1 from card_repositories h where h.repository_id = k.repository_id and h.head_sha = k.sha)
            and not exists (select 1 from pull_requests h where h.repository_id = k.repository_id and h.head_sha = k.sha)
            and not exists (select 1 from proposals h where h.repository_id = k.repository_id and h.head_sha = k.sha)
          order by k.changed_at limit :batch)
       returning 1`,
      { days, batch },
    );
    return dropped.length;
  }, batch);

/** Drops actions on releases that ended so long ago, with what their promotions came to. */
export const dropOldActions = (db: Db, days: number, batch = BATCH): Promise<number> =>
  inBatches(async () => {
    const dropped = await rows(
      db,
      `delete from release_actions where id in (
         select id from release_actions where state <> 'running' and updated_at < now() - :days * interval '1 day'
          order by updated_at limit :batch)
       returning 1`,
      { days, batch },
    );
    return dropped.length;
  }, batch);

/** Drops jobs that were given up after their last try. */
export const dropFailedJobs = (db: Db, days: number): Promise<number> =>
  inBatches(async () => {
    const dropped = await rows(
      db,
      `select 1 from graphile_worker.complete_jobs(array(
         select id from graphile_worker.jobs
          where attempts >= max_attempts and locked_at is null and updated_at < now() - :days * interval '1 day'
          limit :batch))`,
      { days, batch: BATCH },
    );
    return dropped.length;
  });

const OPERATIONS = "drop_old_operations";

/**
 * Forgets moves that ended long ago, but for each card's last one that went well: it says for whom a stage acts later. A place in time is
 * kept, or each run would go through all those that stay.
 */
export async function dropOldOperations(db: Db, days: number): Promise<void> {
  for (let isMore = true; isMore;) {
    isMore = await transaction(db, async (trx) => {
      const ended = await firstRow<{ until: string | null; count: number }>(
        trx,
        `with ended as (
           select id, card_id, state, created_at, updated_at from operations
            where state in ('done', 'refused', 'abandoned') and updated_at < now() - :days * interval '1 day'
              and updated_at > coalesce((select done_until from repairs where name = :name), '-infinity')
            order by updated_at limit :batch),
         failed as (
           delete from operations o using ended e where o.id = e.id and e.state <> 'done'),
         earlier as (
           delete from operations o using (
             select card_id, max(created_at) as created_at from ended where state = 'done' group by card_id) last
            where o.card_id = last.card_id and o.created_at < last.created_at and o.state = 'done')
         select cast(max(updated_at) as text) as until, count(*) as count from ended`,
        { days, name: OPERATIONS, batch: BATCH },
      );
      if (!ended?.until) return false;
      await markRepaired(trx, OPERATIONS, ended.until);
      return ended.count === BATCH;
    });
  }
}

/** Drops processes that nobody has heard of for a day. */
export const dropDeadInstances = (db: Db): Promise<number> =>
  db("instances").where("seen_at", "<", db.raw("now() - interval '1 day'")).delete();
