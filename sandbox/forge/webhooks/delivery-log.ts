import { createHmac } from "node:crypto";
import type { DeliveryRow } from "../rows.ts";
import type { ForgeState } from "../state.ts";

type NewRow = Omit<DeliveryRow, "id" | "requestHeaders" | keyof typeof PENDING>;

/** Writes an attempt down before it is made. */
export function logAttempt(state: ForgeState, given: NewRow): DeliveryRow {
  const requestHeaders = headersOf(state, given);
  const row = state.deliveries.save({ ...PENDING, ...given, id: state.newId(), requestHeaders });
  state.tidy();
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

/** An attempt as it goes out. */
export const outgoingDelivery = (state: ForgeState, row: DeliveryRow): OutgoingDelivery => ({
  id: row.id,
  guid: row.guid,
  event: row.event,
  action: row.action,
  url: row.url,
  headers: row.requestHeaders,
  body: state.payloads.need(row.payloadId).text,
});

function headersOf(
  state: ForgeState,
  { guid, event, payloadId }: Pick<DeliveryRow, "guid" | "event" | "payloadId">,
): Record<string, string> {
  const { text } = state.payloads.need(payloadId);
  const [app] = state.apps.all();
  if (app === undefined) throw new Error("a webhook without an App");
  return {
    Accept: "*/*",
    "Content-Type": "application/json",
    "User-Agent": "GitHub-Hookshot/sandbox",
    "X-GitHub-Delivery": guid,
    "X-GitHub-Event": event,
    "X-GitHub-Hook-ID": String(app.hookId),
    "X-GitHub-Hook-Installation-Target-ID": String(app.id),
    "X-GitHub-Hook-Installation-Target-Type": "integration",
    "X-Hub-Signature": `sha1=${sign("sha1", app.webhookSecret, text)}`,
    "X-Hub-Signature-256": `sha256=${sign("sha256", app.webhookSecret, text)}`,
  };
}

/** GitHub's webhook signature: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
const sign = (algorithm: "sha1" | "sha256", secret: string, body: string): string =>
  createHmac(algorithm, secret).update(body, "utf8").digest("hex");

/** A webhook about to be sent. */
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
 * Wraps every webhook. Deliveries are sent one after the other, each when this has come back for the one before: not calling
 * `send` drops it (the log then says it was never answered), calling it twice doubles it, keeping it for later reorders.
 */
export type AroundDelivery = (
  delivery: OutgoingDelivery,
  send: (delivery: OutgoingDelivery) => Promise<void>,
) => Promise<void>;
