import { z } from "zod";
import type { DeliveryLogPage } from "../forge.ts";
import { type GitHubClient, shaped } from "./client.ts";
import { succeeded } from "./repositories.ts";

const PAGE = 100;

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

/**
 * One page of the App's delivery log. Attempts of every outcome: the filter for failures leaves out those that were never answered
 * (https://docs.github.com/en/rest/apps/webhooks).
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

export async function readDeliveredPayload(client: GitHubClient, attemptId: string): Promise<string | null> {
  const answer = await client.as("app").read("GET /app/hook/deliveries/{delivery_id}", {
    delivery_id: attemptId,
  });
  if (answer.status === 404) return null;
  const { request } = shaped(payloadShape, succeeded(answer));
  return request?.payload ? JSON.stringify(request.payload, asSent) : null;
}

/** JSON has no bigint; a webhook that arrives is read with plain numbers, too. */
const asSent = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? Number(value) : value);

function cursorOf(link: string | number | undefined): string | null {
  const next = /<([^<>]+)>;\s*rel="next"/.exec(String(link ?? ""))?.[1];
  return next !== undefined && URL.canParse(next) ? new URL(next).searchParams.get("cursor") : null;
}
