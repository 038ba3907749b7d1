import { createHmac } from "node:crypto";
import type { AppRow, DeliveryRow } from "../rows.ts";
import type { ForgeState } from "../state.ts";

type NewRow = Omit<DeliveryRow, "id" | "requestHeaders" | keyof typeof PENDING>;

/** Records a delivery attempt before it is made. */
export function logAttempt(state: ForgeState, given: NewRow): DeliveryRow {
  const [app] = state.apps.all();
  if (app === undefined) throw new Error("No App exists to send a webhook for");
  const { text } = state.payloads.need(given.payloadId);
  const requestHeaders = webhookHeaders(app, given.event, given.guid, text);
  const row = state.deliveries.save({ ...PENDING, ...given, id: state.newId(), requestHeaders });
  state.trim();
  return row;
}

const PENDING = {
  deliveredAt: null,
  duration: 0,
  status: "pending",
  statusCode: 0,
  responseHeaders: {},
  responseBody: null,
} as const;

export const outgoingDelivery = (state: ForgeState, row: DeliveryRow): OutgoingDelivery => ({
  id: row.id,
  guid: row.guid,
  event: row.event,
  action: row.action,
  url: row.url,
  headers: row.requestHeaders,
  body: state.payloads.need(row.payloadId).text,
});

export function webhookHeaders(
  app: AppRow,
  event: string,
  guid: string,
  body: string,
  secret = app.webhookSecret,
): Record<string, string> {
  return {
    Accept: "*/*",
    "Content-Type": "application/json",
    "User-Agent": "GitHub-Hookshot/sandbox",
    "X-GitHub-Delivery": guid,
    "X-GitHub-Event": event,
    "X-GitHub-Hook-ID": String(app.hookId),
    "X-GitHub-Hook-Installation-Target-ID": String(app.id),
    "X-GitHub-Hook-Installation-Target-Type": "integration",
    "X-Hub-Signature": sign("sha1", secret, body),
    "X-Hub-Signature-256": sign("sha256", secret, body),
  };
}

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
const sign = (algorithm: "sha1" | "sha256", secret: string, body: string): string =>
  `${algorithm}=${createHmac(algorithm, secret).update(body, "utf8").digest("hex")}`;

export interface OutgoingDelivery {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Wraps every webhook. The next delivery waits until this function returns. It may call `send`
 * later, several times, or not at all; the log then reports a timeout.
 */
export type AroundDelivery = (
  delivery: OutgoingDelivery,
  send: (delivery: OutgoingDelivery) => Promise<void>,
) => Promise<void>;
