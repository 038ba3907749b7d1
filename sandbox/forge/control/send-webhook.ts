import { randomUUID } from "node:crypto";
import type { ForgeContext } from "../context.ts";
import { webhookHeaders } from "../webhooks/delivery-log.ts";
import { post } from "../webhooks/post.ts";

/** A webhook with any content. */
export interface CustomWebhook {
  readonly event: string;
  /** Sent as JSON; a string is sent unchanged. */
  readonly payload: unknown;
  /** Default: a new one. The guid of an earlier delivery makes a redelivery. */
  readonly guid?: string | undefined;
  /** Added to the default headers or replacing them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: the App's secret. */
  readonly secret?: string | undefined;
  /** Default: the App's webhook URL. */
  readonly url?: string | undefined;
}

export interface WebhookReceipt {
  readonly guid: string;
  /** 0 without a response. */
  readonly status: number;
  readonly body: string | null;
}

export async function sendWebhook(forge: ForgeContext, webhook: CustomWebhook): Promise<WebhookReceipt> {
  const [app] = forge.state.apps.all();
  const url = webhook.url ?? forge.webhooks.url;
  if (app === undefined || url === null) throw new Error("No webhook URL is set");
  const guid = webhook.guid ?? randomUUID();
  const body = typeof webhook.payload === "string" ? webhook.payload : JSON.stringify(webhook.payload);
  const secret = webhook.secret ?? app.webhookSecret;
  const headers = { ...webhookHeaders(app, webhook.event, guid, body, secret), ...webhook.headers };
  const { statusCode, responseBody } = await post(url, headers, body, 10_000);
  return { guid, status: statusCode, body: responseBody };
}
