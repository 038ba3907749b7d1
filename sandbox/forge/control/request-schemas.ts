/** The request bodies of `/_control`. */
import { z } from "zod";
import { CONCLUSIONS } from "../check-rows.ts";
import { DEQUEUE_REASONS } from "../actions/merge-queue.ts";

/** The message names each invalid field. */
export class InvalidBody extends Error {
  override readonly name = "InvalidBody";
}

export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const { success, data, error } = schema.safeParse(body);
  if (success) return data;
  const issues = error.issues.map(({ path, message }) => `${["body", ...path].join(".")}: ${message}`);
  throw new InvalidBody(issues.join("; "));
}

const count = z.int().min(0);
const percent = z.number().min(0).max(100).exactOptional();
const headers = z.record(z.string(), z.string()).exactOptional();
const effect = z.enum(["before", "after"]).exactOptional();
const status = z.int().min(200).max(599);

const callMatch = z.strictObject({
  method: z.string().exactOptional(),
  path: z.string().exactOptional(),
  operation: z.string().exactOptional(),
  installationId: z.int().exactOptional(),
});

const garble = z.discriminatedUnion("as", [
  z.strictObject({ kind: z.literal("garble"), as: z.enum(["html", "truncated", "empty"]) }),
  z.strictObject({ kind: z.literal("garble"), as: z.literal("without"), fields: z.array(z.string()) }),
]);

const fault = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("none") }),
  z.strictObject({ kind: z.literal("response"), status, body: z.unknown().exactOptional(), headers, effect }),
  z.strictObject({ kind: z.literal("reset"), effect }),
  z.strictObject({ kind: z.literal("hang"), effect }),
  z.strictObject({ kind: z.literal("delay"), ms: count, effect }),
  z.strictObject({ kind: z.literal("hold"), effect }),
  garble,
  z.strictObject({
    kind: z.literal("graphql-error"),
    type: z.string().nullable(),
    message: z.string(),
    path: z.array(z.string()),
  }),
  z.strictObject({ kind: z.literal("mergeability-unknown") }),
  z.strictObject({
    kind: z.literal("query-limit"),
    largest: count,
    as: z.enum(["resource-limits", "timeout", "bad-gateway"]),
  }),
  z.strictObject({
    kind: z.literal("rate-limit"),
    limit: z.enum(["primary", "secondary", "content"]),
    status: z.literal([200, 403, 429]).exactOptional(),
    retryAfter: count.nullable().exactOptional(),
    resetIn: count.exactOptional(),
    type: z.enum(["RATE_LIMITED", "RATE_LIMIT"]).exactOptional(),
  }),
]);

export const faultSchema = z.strictObject({
  match: callMatch.exactOptional(),
  fault,
  skip: count.exactOptional(),
  times: count.exactOptional(),
});

export const scriptSchema = z.strictObject({
  match: callMatch,
  responses: z.array(
    z.union([z.literal("pass"), z.strictObject({ status, body: z.unknown().exactOptional(), headers })]),
  ),
});

const deliveryFault = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("drop"), percent, unlogged: z.boolean().exactOptional() }),
  z.strictObject({ kind: z.literal("duplicate"), copies: count }),
  z.strictObject({ kind: z.literal("delay"), ms: count }),
  z.strictObject({
    kind: z.literal("reorder"),
    batch: z.int().min(1),
    order: z.enum(["shuffled", "reversed"]).exactOptional(),
  }),
  z.strictObject({
    kind: z.literal("corrupt"),
    what: z.enum(["signature", "no-signature", "sha1-only", "body"]),
  }),
  z.strictObject({ kind: z.literal("hold"), percent }),
]);

export const deliverySchema = z.strictObject({
  match: z
    .strictObject({ event: z.string().exactOptional(), action: z.string().exactOptional() })
    .exactOptional(),
  fault: deliveryFault,
  skip: count.exactOptional(),
  times: count.exactOptional(),
});

export const releaseSchema = z.strictObject({
  order: z.enum(["kept", "reversed", "shuffled"]).exactOptional(),
});

export const webhookSchema = z.strictObject({
  event: z.string(),
  payload: z.unknown(),
  guid: z.string().exactOptional(),
  headers,
  secret: z.string().exactOptional(),
  url: z.string().exactOptional(),
});

export const staleReadsSchema = z
  .strictObject({
    seconds: z.number().min(0),
    after: callMatch.exactOptional(),
    reads: callMatch.exactOptional(),
  })
  .nullable();

export const revokeSchema = z.strictObject({ installationId: z.int() });
export const seedSchema = z.strictObject({ seed: z.int() });

export const settingsSchema = z.strictObject({
  rateLimit: count.exactOptional(),
  writesPerMinute: count.exactOptional(),
  mergeabilityDelay: count.exactOptional(),
  asyncMergeDelayMs: count.exactOptional(),
  closesEmptiedPulls: z.boolean().exactOptional(),
  hasAsyncMerge: z.boolean().exactOptional(),
  hasPathsById: z.boolean().exactOptional(),
});

const repository = z.string().regex(/^[^/]+\/[^/]+$/, "must be owner/name");
export const draftsSchema = z.strictObject({ repository, allowed: z.boolean() });
export const immutableReleasesSchema = z.strictObject({ repository, enabled: z.boolean() });
export const rulesSchema = z.strictObject({
  repository,
  branch: z.string(),
  mergeQueue: z.boolean().exactOptional(),
  requiredSignatures: z.boolean().exactOptional(),
});
export const rulesetSchema = z.strictObject({
  repository,
  branch: z.string(),
  name: z.string(),
  ruleset: z
    .strictObject({
      requiredChecks: z
        .array(z.strictObject({ context: z.string(), appId: z.int().nullable() }))
        .exactOptional(),
      requiredReviews: z
        .strictObject({
          count,
          requiresLastPushApproval: z.boolean().default(false),
          requiresResolvedThreads: z.boolean().default(false),
        })
        .nullable()
        .exactOptional(),
      appBypass: z.enum(["always", "pull_requests_only", "never"]).exactOptional(),
    })
    .nullable(),
});
const conclusion = z.enum(CONCLUSIONS);
export const workflowSchema = z.strictObject({
  repository,
  sha: z.string(),
  workflow: z.string(),
  event: z.string(),
  jobs: z.record(z.string(), conclusion.nullable()),
  conclusion: conclusion.exactOptional(),
});
export const protectionBypassSchema = z.strictObject({
  repository,
  branch: z.string(),
  appBypass: z.boolean(),
});
export const reviewThreadSchema = z.strictObject({
  repository,
  number: z.int(),
  path: z.string(),
  by: z.string().exactOptional(),
});
export const resolutionSchema = z.strictObject({ resolved: z.boolean(), by: z.string().exactOptional() });
export const mergeQueueSchema = z.strictObject({
  repository,
  number: z.int(),
  remove: z.enum(DEQUEUE_REASONS).exactOptional(),
});
