import { Webhook } from "standardwebhooks";
import type { WebhookTarget } from "../../store/events/webhooks.ts";
import type { WebhookResponse, WebhookClient } from "./webhook-client.ts";

/**
 * Sends an event to a webhook as Standard Webhooks 1.0 describes
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md):
 * the body is the event as in the feed, signed with each valid secret. Throws if `signal` aborts.
 */
export function sendEvent(
  client: WebhookClient,
  { url, secrets }: WebhookTarget,
  event: { readonly id: string },
  signal?: AbortSignal,
): Promise<WebhookResponse> {
  const body = JSON.stringify(event);
  const now = new Date();
  const signatures = secrets.map((secret) => new Webhook(secret).sign(event.id, now, body));
  const headers = {
    "content-type": "application/json",
    "user-agent": "Trunkline",
    "webhook-id": event.id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
    "webhook-signature": signatures.join(" "),
  };
  return client.post(url, { headers, body }, signal);
}

/** Redirects are not followed: they are failures too. */
export const isDelivered = ({ status }: WebhookResponse): boolean =>
  status !== null && status >= 200 && status < 300;
