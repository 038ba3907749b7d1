import { hostOf } from "../../flow/names.ts";
import { userJsonSql, type User } from "../tenancy/users.ts";
import { firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { readPage, type ListSlice, type ListWindow } from "../db/list-window.ts";

/** An outgoing webhook as the API shows it. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  /** Null for all kinds. */
  readonly kinds: readonly string[] | null;
  readonly paused: boolean;
  readonly pausedReason: PausedReason | null;
  readonly pausedAt: Date | null;
  readonly position: string;
  readonly failingSince: Date | null;
  readonly nextAttemptAt: Date | null;
  /** Null for webhooks whose creator is not known. */
  readonly createdBy: User | null;
  readonly createdAt: Date;
}

/**
 * A maintainer paused it, deliveries failed for five days, the receiver returned 410, or somebody who
 * knows it left the board.
 */
export const PAUSED_REASONS = ["maintainer", "failing", "gone", "left"] as const;
type PausedReason = (typeof PAUSED_REASONS)[number];

const WEBHOOK = `
  select id, url, kinds, paused_reason is not null as paused, paused_reason as "pausedReason",
         paused_at as "pausedAt", cast(position as text) as position, failing_since as "failingSince",
         case when failing_since is not null and paused_reason is null then next_attempt_at end as "nextAttemptAt",
         (select ${userJsonSql("webhooks.workspace_id", "u")} from users u where u.id = created_by) as "createdBy",
         created_at as "createdAt"
    from webhooks`;

/** Lists the webhooks of a board, the oldest first. */
export const listWebhooks = (db: Db, workspaceId: string): Promise<Webhook[]> =>
  rows<Webhook>(db, `${WEBHOOK} where workspace_id = :workspaceId order by created_at, id`, { workspaceId });

export const findWebhook = (db: Db, workspaceId: string, webhookId: string): Promise<Webhook | null> =>
  firstRow<Webhook>(db, `${WEBHOOK} where workspace_id = :workspaceId and id = :webhookId`, {
    workspaceId,
    webhookId,
  });

export const countWebhooks = async (db: Db, workspaceId: string): Promise<number> =>
  (await firstValue<number>(db, "select count(*) from webhooks where workspace_id = :workspaceId", {
    workspaceId,
  })) ?? 0;

interface NewWebhook {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly kinds: readonly string[] | null;
  readonly secret: string;
  readonly createdBy: string;
}

/** Inserts a webhook that receives the events after the newest one. */
export async function insertWebhook(trx: Trx, webhook: NewWebhook): Promise<void> {
  await rows(
    trx,
    `insert into webhooks (id, workspace_id, url, receiver, kinds, secret, position, created_by, known_to)
     select :id, f.workspace_id, :url, :receiver, cast(:kinds as text[]), :secret, f.head, :createdBy,
            array[cast(:createdBy as uuid)]
       from feeds f where f.workspace_id = :workspaceId`,
    { ...webhook, receiver: receiverOf(webhook.url) },
  );
}

const receiverOf = (url: string): string => hostOf(new URL(url));

interface WebhookChanges {
  readonly url?: string | undefined;
  readonly kinds?: readonly string[] | null | undefined;
  readonly paused?: boolean | undefined;
}

/** Makes the next attempt due now and resets the failures. */
const RETRY_NOW = { attempts: 0, failing_since: null, next_attempt_at: new Date(0) };

/** SQL for `known_to` with the user `:by`. */
const KNOWN_TO_CALLER = "array_append(array_remove(known_to, cast(:by as uuid)), cast(:by as uuid))";

/** Updates the fields that are present. `by` is the caller. A new URL and the end of a pause make an attempt due now. */
export async function updateWebhook(
  trx: Trx,
  webhookId: string,
  { url, kinds, paused }: WebhookChanges,
  by: string,
): Promise<void> {
  const changes = {
    ...(url !== undefined && {
      url,
      receiver: receiverOf(url),
      known_to: trx.raw(KNOWN_TO_CALLER, { by }),
      ...RETRY_NOW,
    }),
    ...(kinds !== undefined && { kinds }),
    ...(paused === false && { paused_reason: null, paused_at: null, ...RETRY_NOW }),
  };
  if (Object.keys(changes).length > 0) await trx("webhooks").where({ id: webhookId }).update(changes);
  if (paused === true) {
    await trx("webhooks")
      .where({ id: webhookId, paused_reason: null })
      .update({ paused_reason: "maintainer", paused_at: trx.fn.now() });
  }
}

/** Replaces the secret. The old one signs for 24 more hours. */
export async function replaceWebhookSecret(
  trx: Trx,
  webhookId: string,
  { secret, by }: { readonly secret: string; readonly by: string },
): Promise<void> {
  await rows(
    trx,
    `update webhooks set previous_secret = secret, previous_secret_until = now() + interval '24 hours', secret = :secret,
                         known_to = ${KNOWN_TO_CALLER}
      where id = :webhookId`,
    { webhookId, secret, by },
  );
}

/** Sends the events after `position` again. */
export async function setWebhookPosition(trx: Trx, webhookId: string, position: number): Promise<void> {
  await trx("webhooks")
    .where({ id: webhookId })
    .update({ position, ...RETRY_NOW });
}

/** After a successful ping: makes the next attempt of a failing webhook due now. */
export async function retryFailing(trx: Trx, webhookId: string): Promise<void> {
  await trx("webhooks")
    .where({ id: webhookId, paused_reason: null })
    .whereNotNull("failing_since")
    .update({ next_attempt_at: trx.fn.now() });
}

export async function removeWebhook(trx: Trx, webhookId: string): Promise<void> {
  await trx("webhooks").where({ id: webhookId }).delete();
}

/** Where to send, and the secrets to sign with. */
export interface WebhookTarget {
  readonly url: string;
  readonly secrets: readonly string[];
}

/** SQL for the secrets that sign now. */
export const SECRETS = `case when previous_secret_until > now() then array[secret, previous_secret] else array[secret] end`;

export const readWebhookTarget = (db: Db, webhookId: string): Promise<WebhookTarget | null> =>
  firstRow<WebhookTarget>(db, `select url, ${SECRETS} as secrets from webhooks where id = :webhookId`, {
    webhookId,
  });

/** An attempt to deliver an event or a ping. */
export interface WebhookDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly kind: string;
  readonly at: Date;
  readonly status: number | null;
  readonly error: string | null;
  readonly ms: number;
  readonly response: string;
}

const DELIVERY = `cast(id as text) as id, event_id as "eventId", kind, at, status, error, ms, response`;

type NewDelivery = Omit<WebhookDelivery, "id" | "at"> & { readonly webhookId: string };

/** Adds an attempt to the log. Null if the webhook was deleted meanwhile. */
export const insertDelivery = (db: Db, delivery: NewDelivery): Promise<WebhookDelivery | null> =>
  firstRow<WebhookDelivery>(
    db,
    `insert into webhook_deliveries (webhook_id, event_id, kind, status, error, ms, response)
     select w.id, :eventId, :kind, cast(:status as integer), :error, :ms, :response
       from webhooks w where w.id = :webhookId
     returning ${DELIVERY}`,
    { ...delivery },
  );

/** Lists the attempts, the newest first. */
export const listDeliveries = (
  db: Db,
  webhookId: string,
  window: ListWindow<string>,
): Promise<ListSlice<WebhookDelivery, string>> =>
  readPage<WebhookDelivery, string>(db, window, {
    sql: `select ${DELIVERY} from webhook_deliveries
           where webhook_id = :webhookId and (cast(:after as bigint) is null or id < cast(:after as bigint))
           order by webhook_deliveries.id desc`,
    bindings: { webhookId, after: window.after },
    bytes: "octet_length(response)",
    keyOf: ({ id }) => id,
  });
