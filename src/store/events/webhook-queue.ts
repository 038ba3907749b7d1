import { firstRow, rows, type Db } from "../db/connect.ts";
import { SECRETS, type WebhookTarget } from "./webhooks.ts";

/** A webhook whose events this process delivers. */
export interface LeasedWebhook extends WebhookTarget {
  readonly id: string;
  readonly workspaceId: string;
  /** The host in the URL. */
  readonly receiver: string;
  readonly kinds: readonly string[] | null;
  readonly position: number;
  readonly attempts: number;
  readonly isPaused: boolean;
  readonly lease: string;
}

/** Longer than one delivery and its statements take. */
const LEASE = "now() + interval '60 seconds'";

const LEASED = `id, workspace_id as "workspaceId", receiver, url, kinds, ${SECRETS} as secrets, position, attempts,
                paused_reason is not null as "isPaused", lease`;

const IS_DUE = `w.paused_reason is null and w.next_attempt_at <= now()
                and (w.lease is null or w.leased_until < now())`;

/** How many webhooks a process serves, and how many of them have one board or one receiver. */
export interface SenderShares {
  readonly all: number;
  readonly board: number;
  readonly receiver: number;
}

/** SQL for how often an alias's column is in a list of texts. */
const countIn = (list: string, value: string): string =>
  `(select count(*) from unnest(cast(${list} as text[])) as served(it) where served.it = ${value})`;

/**
 * Leases webhooks that have events to deliver, the one that has waited longest first, beside those that
 * this process serves already. No board and no receiver gets more than its share.
 */
export const leaseWebhooks = (
  db: Db,
  served: readonly Pick<LeasedWebhook, "workspaceId" | "receiver">[],
  shares: SenderShares,
): Promise<LeasedWebhook[]> =>
  rows<LeasedWebhook>(
    db,
    `with due as (
       select w.id, w.receiver, w.next_attempt_at,
              row_number() over (partition by w.workspace_id order by w.next_attempt_at)
                + ${countIn(":boards", "w.workspace_id::text")} as of_board
         from webhooks w join feeds f on f.workspace_id = w.workspace_id
        where ${IS_DUE} and w.position < f.head),
     shared as (
       select due.id, due.next_attempt_at,
              row_number() over (partition by due.receiver order by due.next_attempt_at)
                + ${countIn(":receivers", "due.receiver")} as of_receiver
         from due where due.of_board <= :boardShare),
     chosen as (
       select shared.id from shared where shared.of_receiver <= :receiverShare
        order by shared.next_attempt_at limit :limit)
     update webhooks set lease = gen_random_uuid(), leased_until = ${LEASE}
      where id in (
        select w.id from webhooks w where w.id in (select chosen.id from chosen) and ${IS_DUE}
           for update of w skip locked)
     returning ${LEASED}`,
    {
      boards: served.map(({ workspaceId }) => workspaceId),
      receivers: served.map(({ receiver }) => receiver),
      boardShare: shares.board,
      receiverShare: shares.receiver,
      limit: shares.all - served.length,
    },
  );

/** Ends the lease. The webhook is served again after those that have waited longer. */
export async function releaseWebhook(db: Db, { id, lease }: LeasedWebhook): Promise<void> {
  await rows(
    db,
    `update webhooks set lease = null, leased_until = null, next_attempt_at = greatest(next_attempt_at, now())
      where id = :id and lease = :lease`,
    { id, lease },
  );
}

/** The condition of statements under a lease: nothing changes after a replay or under another lease. */
const LEASE_IS_VALID = "id = :id and lease = :lease and position = :position";

/** Moves the position past events that were delivered or filtered out. Null if the lease is not valid. */
export const advanceWebhook = (
  db: Db,
  { id, lease, position }: LeasedWebhook,
  to: number,
): Promise<LeasedWebhook | null> =>
  firstRow<LeasedWebhook>(
    db,
    `update webhooks set position = :to, attempts = 0, failing_since = null, leased_until = ${LEASE}
      where ${LEASE_IS_VALID} returning ${LEASED}`,
    { id, lease, position, to },
  );

/** Schedules the next attempt. Pauses the webhook after a 410 (`isGone`) or five days of failures. */
export async function recordFailedAttempt(
  db: Db,
  { id, lease, position }: LeasedWebhook,
  { waitSeconds, isGone }: { readonly waitSeconds: number; readonly isGone: boolean },
): Promise<void> {
  await rows(
    db,
    `update webhooks
        set attempts = attempts + 1, failing_since = coalesce(failing_since, now()),
            next_attempt_at = now() + :waitSeconds * interval '1 second',
            (paused_reason, paused_at) = (
              select reason, case when reason is not null then coalesce(paused_at, now()) end
                from (values (case when paused_reason is not null then paused_reason
                                   when :isGone then 'gone'
                                   when failing_since < now() - interval '5 days' then 'failing' end)) v (reason))
      where ${LEASE_IS_VALID}`,
    { id, lease, position, waitSeconds, isGone },
  );
}
