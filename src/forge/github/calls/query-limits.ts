/**
 * GitHub's limits for one GraphQL query. It returns 502 or 504 after ten seconds, or with an error
 * (https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
 */
import { z } from "zod";
import type { RawResponse } from "./send-call.ts";

const ENDED_AFTER_MS = 9_000;
const GATEWAY_STATUSES = [502, 504];
const LIMIT_TYPES = ["RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED", "TIMEOUT"];
const TIMED_OUT = /result of a timeout|timed out|respond to your request in time/i;

const errorShape = z.looseObject({
  type: z.string().nullish().catch(null),
  message: z.string().nullish().catch(null),
});
const bodyShape = z.looseObject({
  message: z.string().nullish().catch(null),
  errors: z.array(errorShape).nullish().catch(null),
});

/** Whether a query asked for too much at once, so that parts of it may succeed. */
export function isQueryTooLarge({ status, body }: RawResponse, tookMs: number): boolean {
  if (GATEWAY_STATUSES.includes(status) && tookMs >= ENDED_AFTER_MS) return true;
  const { data } = bodyShape.safeParse(body);
  const errors = [...(data?.errors ?? []), ...(status >= 500 ? [{ message: data?.message }] : [])];
  return errors.some(
    ({ type, message }: z.infer<typeof errorShape>) =>
      LIMIT_TYPES.includes(type ?? "") || TIMED_OUT.test(message ?? ""),
  );
}
