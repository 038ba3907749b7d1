/** The App's registration on GitHub and its delivery log, both read as the App itself. */
import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import type { DeliveryLogPage, ForgeApp, ForgeWebhook } from "../values.ts";
import { type GitHubClient, parseResponse } from "./calls/client.ts";
import { PAGE, succeeded } from "./repositories.ts";

/** As in the manifest, app.yml. */
export const NEEDED_PERMISSIONS: Readonly<Record<string, "read" | "write">> = {
  contents: "write",
  pull_requests: "write",
  issues: "read",
  checks: "read",
  statuses: "read",
  merge_queues: "read",
  workflows: "write",
  metadata: "read",
};

/** Also in the manifest. Without it, Trunkline does not see which workflow a check run belongs to. */
export const OPTIONAL_PERMISSIONS: Readonly<Record<string, "read">> = { actions: "read" };

/** Not in the manifest: GitHub has a checkbox for it in the App's settings only. */
export const OPTIONAL_EVENTS: readonly string[] = ["installation_target"];

/** As in the manifest, app.yml. */
export const NEEDED_EVENTS: readonly string[] = [
  "push",
  "pull_request",
  "pull_request_review",
  "pull_request_review_thread",
  "issue_comment",
  "check_run",
  "check_suite",
  "status",
  "repository",
];

const RANKS = ["read", "write", "admin"];

/** An account may not have accepted what a new version of the App requests. */
export function missingPermissions(granted: Readonly<Record<string, string>>): string[] {
  return Object.entries(NEEDED_PERMISSIONS)
    .filter(([name, level]) => RANKS.indexOf(granted[name] ?? "") < RANKS.indexOf(level))
    .map(([name, level]) => `${name}: ${level}`);
}

/** Whether a PEM is a private key for an App, in PKCS#1 as downloaded or in PKCS#8. */
export function isAppKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

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
/** Octokit parses a 64-bit id as a bigint if a number cannot hold it. */
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

/** The skew is that of the system's clock, which signs tokens. */
export async function readApp(client: GitHubClient): Promise<ForgeApp> {
  const response = succeeded(await client.as("app").read("GET /app"));
  const { slug, permissions, events } = parseResponse(appShape, response);
  const respondedAt = Date.parse(String(response.headers["date"] ?? ""));
  return {
    slug,
    missingPermissions: missingPermissions(permissions),
    missingEvents: NEEDED_EVENTS.filter((event) => !events.includes(event)),
    missingOptionalEvents: OPTIONAL_EVENTS.filter((event) => !events.includes(event)),
    clockSkewSeconds: Number.isNaN(respondedAt) ? null : Math.round((Date.now() - respondedAt) / 1_000),
  };
}

/** GitHub masks the secret. */
export async function readWebhook(client: GitHubClient): Promise<ForgeWebhook> {
  const response = succeeded(await client.as("app").read("GET /app/hook/config"));
  const { url, content_type, secret } = parseResponse(hookShape, response);
  return { url: url || null, isJson: content_type === "json", hasSecret: Boolean(secret) };
}

/**
 * Reads attempts of every outcome: GitHub's filter for failures leaves out those that got no response
 * (https://docs.github.com/en/rest/apps/webhooks).
 */
export async function readDeliveryLog(client: GitHubClient, cursor: string | null): Promise<DeliveryLogPage> {
  const parameters = { per_page: PAGE, ...(cursor === null ? {} : { cursor }) };
  const response = succeeded(await client.as("app").read("GET /app/hook/deliveries", parameters));
  const attempts = parseResponse(z.array(attemptShape), response).map((attempt) => ({
    id: String(attempt.id),
    guid: attempt.guid,
    event: attempt.event,
    at: attempt.delivered_at,
    isOk: attempt.status === "OK",
    isSignatureRejected: attempt.status_code === 401,
    outcome: attempt.status,
  }));
  return { attempts, next: cursorOf(response.headers["link"]) };
}

function cursorOf(link: string | number | undefined): string | null {
  const next = /<([^<>]+)>;\s*rel="next"/.exec(String(link ?? ""))?.[1];
  return next !== undefined && URL.canParse(next) ? new URL(next).searchParams.get("cursor") : null;
}

export async function readDeliveredPayload(client: GitHubClient, attemptId: string): Promise<string | null> {
  const parameters = { delivery_id: attemptId };
  const response = await client.as("app").read("GET /app/hook/deliveries/{delivery_id}", parameters);
  if (response.status === 404) return null;
  const payload = parseResponse(payloadShape, succeeded(response)).request?.payload;
  return payload ? JSON.stringify(payload, toNumber) : null;
}

/** JSON has no bigint. Numbers are what a webhook that arrives is parsed into. */
const toNumber = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? Number(value) : value;
