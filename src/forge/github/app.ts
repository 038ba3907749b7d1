/** What GitHub has of the App: its settings, and its log of deliveries. It shows them only to the App's own key. */
import { z } from "zod";
import type { DeliveryLogPage, ForgeApp, ForgeWebhook } from "../values.ts";
import { type GitHubClient, shaped } from "./calls/client.ts";
import type { ForgeClock } from "./calls/clock.ts";
import { missingPermissions, NEEDED_EVENTS } from "./permissions.ts";
import { succeeded } from "./repositories.ts";

const PAGE = 100;

const appShape = z.looseObject({
  slug: z.string(),
  permissions: z.record(z.string(), z.string()),
  events: z.array(z.string()),
});
const hookShape = z.looseObject({
  url: z.string().nullish(),
  content_type: z.string().nullish(),
  secret: z.string().nullish(),
});
/** Ids are 64 bits wide: octokit gives those a number cannot hold as bigint. */
const attemptShape = z.looseObject({
  id: z.union([z.number(), z.bigint()]),
  guid: z.string(),
  delivered_at: z.string(),
  status: z.string(),
  status_code: z.number(),
  event: z.string(),
});
const payloadShape = z.looseObject({
  request: z.looseObject({ payload: z.record(z.string(), z.unknown()).nullish() }).nullish(),
});

export async function readApp(client: GitHubClient, clock: ForgeClock): Promise<ForgeApp> {
  const answer = succeeded(await client.as("app").read("GET /app"));
  const { slug, permissions, events } = shaped(appShape, answer);
  const answeredAt = Date.parse(String(answer.headers["date"] ?? ""));
  return {
    slug,
    missingPermissions: missingPermissions(permissions),
    missingEvents: NEEDED_EVENTS.filter((event) => !events.includes(event)),
    clockSkewSeconds: Number.isNaN(answeredAt) ? null : Math.round((clock.now() - answeredAt) / 1_000),
  };
}

/** Where GitHub sends deliveries. It shows that there is a secret, never which. */
export async function readWebhook(client: GitHubClient): Promise<ForgeWebhook> {
  const answer = succeeded(await client.as("app").read("GET /app/hook/config"));
  const { url, content_type, secret } = shaped(hookShape, answer);
  return { url: url || null, isJson: content_type === "json", hasSecret: Boolean(secret) };
}

/**
 * One page of the App's delivery log. Attempts of every outcome: the filter for failures leaves out those that
 * were never answered (https://docs.github.com/en/rest/apps/webhooks).
 */
export async function readDeliveryLog(client: GitHubClient, cursor: string | null): Promise<DeliveryLogPage> {
  const parameters = { per_page: PAGE, ...(cursor === null ? {} : { cursor }) };
  const answer = succeeded(await client.as("app").read("GET /app/hook/deliveries", parameters));
  const attempts = shaped(z.array(attemptShape), answer).map((attempt) => ({
    id: String(attempt.id),
    guid: attempt.guid,
    event: attempt.event,
    at: attempt.delivered_at,
    isOk: attempt.status === "OK",
    isUnsigned: attempt.status_code === 401,
    ended: attempt.status,
  }));
  return { attempts, next: cursorOf(answer.headers["link"]) };
}

function cursorOf(link: string | number | undefined): string | null {
  const next = /<([^<>]+)>;\s*rel="next"/.exec(String(link ?? ""))?.[1];
  return next !== undefined && URL.canParse(next) ? new URL(next).searchParams.get("cursor") : null;
}

export async function readDeliveredPayload(client: GitHubClient, attemptId: string): Promise<string | null> {
  const parameters = { delivery_id: attemptId };
  const answer = await client.as("app").read("GET /app/hook/deliveries/{delivery_id}", parameters);
  if (answer.status === 404) return null;
  const payload = shaped(payloadShape, succeeded(answer)).request?.payload;
  return payload ? JSON.stringify(payload, asSent) : null;
}

/** JSON has no bigint; a webhook that arrives is read with plain numbers, too. */
const asSent = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? Number(value) : value);
