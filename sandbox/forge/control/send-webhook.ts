import { createHmac, randomUUID } from "node:crypto";
import type { ForgeContext } from "../context.ts";
import { post } from "../webhooks/post.ts";

/** A webhook made up by a test. */
export interface CustomWebhook {
  readonly event: string;
  /** Sent as JSON; a string is sent as it is. */
  readonly payload: unknown;
  /** A new one when left out; an earlier delivery's makes it a repetition. */
  readonly guid?: string | undefined;
  /** Added to the usual ones, or in their place. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Signs with this in place of the App's secret. */
  readonly secret?: string | undefined;
  /** In place of the App's webhook address. */
  readonly url?: string | undefined;
}

export interface WebhookReceipt {
  readonly guid: string;
  /** 0 where no answer came. */
  readonly status: number;
  readonly body: string | null;
}

export async function sendWebhook(forge: ForgeContext, webhook: CustomWebhook): Promise<WebhookReceipt> {
  const [app] = forge.state.apps.all();
  const url = webhook.url ?? forge.webhooks.url;
  if (app === undefined || url === null) throw new Error("no address to send a webhook to");
  const guid = webhook.guid ?? randomUUID();
  const body = typeof webhook.payload === "string" ? webhook.payload : JSON.stringify(webhook.payload);
  const sign = (algorithm: string) =>
    `${algorithm}=${createHmac(algorithm, webhook.secret ?? app.webhookSecret)
      .update(body, "utf8")
      .digest("hex")}`;
  const headers = {
    Accept: "*/*",
    "Content-Type": "application/json",
    "User-Agent": "GitHub-Hookshot/sandbox",
    "X-GitHub-Delivery": guid,
    "X-GitHub-Event": webhook.event,
    "X-GitHub-Hook-ID": String(app.hookId),
    "X-GitHub-Hook-Installation-Target-ID": String(app.id),
    "X-GitHub-Hook-Installation-Target-Type": "integration",
    "X-Hub-Signature": sign("sha1"),
    "X-Hub-Signature-256": sign("sha256"),
    ...webhook.headers,
  };
  const { statusCode, responseBody } = await post(url, headers, body, 10_000);
  return { guid, status: statusCode, body: responseBody };
}
