import { z } from "zod";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  pingWebhook,
  replayWebhook,
  rotateWebhookSecret,
} from "../../actions/webhooks/webhooks.ts";
import { FEED_KINDS } from "../../store/events/feed.ts";
import { findWebhook, listDeliveries, listWebhooks, PAUSED_REASONS } from "../../store/events/webhooks.ts";
import { keyedListRoute, listRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { id, text } from "../validate.ts";
import { gone, position } from "./events.ts";
import { byId } from "./lookups.ts";
import { problem, timestamp, user } from "./shapes.ts";

const tag = "Webhooks";
const role = "maintainer";

const kinds = z.array(z.enum(FEED_KINDS)).min(1).max(FEED_KINDS.length).nullable().meta({
  description: "The kinds of events to send; null sends all, also new ones",
});

const webhook = z
  .object({
    id: z.uuid(),
    url: z.string().meta({ description: "In the normal form of URLs, which may differ from the given one" }),
    kinds,
    paused: z.boolean(),
    pausedReason: z.enum(PAUSED_REASONS).nullable().meta({
      description:
        "`maintainer`: a call paused it. `failing`: deliveries failed for five days. `gone`: the receiver returned 410. `left`: somebody who chose its URL or got its secret left the board",
    }),
    pausedAt: timestamp.nullable(),
    position: position.meta({ description: "The `seq` of the last event that was delivered or left out" }),
    failingSince: timestamp.nullable().meta({
      description: "The first failed attempt since the last success",
    }),
    nextAttemptAt: timestamp.nullable().meta({ description: "null unless deliveries fail" }),
    createdBy: user.nullable(),
    createdAt: timestamp,
  })
  .meta({ id: "Webhook" });

const withSecret = webhook.extend({
  secret: z.string().meta({ description: "Verifies the signatures. No other response has it" }),
});

const delivery = z
  .object({
    id: z.string(),
    eventId: z.string().meta({ description: "The `webhook-id` of the request" }),
    kind: z.string(),
    at: timestamp,
    status: z.int().nullable().meta({ description: "null if there was no response" }),
    error: z.string().nullable().meta({ description: "Why there was no response" }),
    ms: z.int().meta({ description: "The duration of the request in milliseconds" }),
    response: z.string().meta({ description: "The first 1,024 bytes of the response" }),
  })
  .meta({ id: "WebhookDelivery" });

const AFTER = "must be the `seq` of an event, or 0";

const url = text({ min: 1, max: 2_000 }).meta({
  description: "An https URL without credentials that leads to a public address",
});

const webhookInPath = {
  params: z.object({ id: id() }),
  find: byId("id", findWebhook, "webhook"),
};

export const webhookRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/webhooks",
    summary: "List webhooks",
    tag,
    role,
    list: { description: "The webhooks, the oldest first", schema: z.array(webhook) },
    handle: (deps, { board }) => listWebhooks(deps.db, board.workspaceId),
  }),
  writeRoute({
    method: "post",
    path: "/v1/webhooks",
    summary: "Create a webhook",
    description:
      "Sends each later event of the feed to the URL, in order, signed as in Standard Webhooks 1.0. An event is repeated until the receiver returns a 2xx status, at first after 5 seconds, later after up to 24 hours or what `Retry-After` says. An event may arrive twice with the same `webhook-id`.",
    tag,
    role,
    body: z.strictObject({ url, kinds: kinds.optional() }),
    responses: {
      201: { description: "The created webhook", schema: withSecret },
      409: { description: "The board has too many webhooks", schema: problem },
    },
    handle: (deps, { write, body }) => createWebhook(deps, write, body),
  }),
  writeRoute({
    method: "patch",
    path: "/v1/webhooks/{id}",
    summary: "Update a webhook",
    description:
      "Omitted fields are unchanged. `paused: false` resumes a webhook where it stopped; events that the feed no longer keeps are left out.",
    tag,
    role,
    ...webhookInPath,
    body: z.strictObject({
      url: url.optional(),
      kinds: kinds.optional(),
      paused: z.boolean().optional(),
    }),
    responses: { 200: { description: "The updated webhook", schema: webhook } },
    handle: (deps, { write, subject, body }) => changeWebhook(deps, write, subject, body),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/webhooks/{id}",
    summary: "Delete a webhook",
    tag,
    role,
    ...webhookInPath,
    responses: { 204: { description: "Deleted", schema: null } },
    handle: (_, { write, subject }) => deleteWebhook(write, subject),
  }),
  writeRoute({
    method: "post",
    path: "/v1/webhooks/{id}/ping",
    summary: "Ping a webhook",
    description:
      "Sends an event of the kind `ping`, which is not in the feed, and waits for the response. A paused webhook is pinged too.",
    tag,
    role,
    ...webhookInPath,
    responses: { 200: { description: "The attempt, successful or not", schema: delivery } },
    handle: (deps, { write, subject }) => pingWebhook(deps, write, subject),
  }),
  writeRoute({
    method: "post",
    path: "/v1/webhooks/{id}/rotate",
    summary: "Replace the secret of a webhook",
    description: "For 24 hours, requests have the signatures of both secrets.",
    tag,
    role,
    ...webhookInPath,
    responses: { 200: { description: "The webhook with its new secret", schema: withSecret } },
    handle: (_, { write, subject }) => rotateWebhookSecret(write, subject),
  }),
  writeRoute({
    method: "post",
    path: "/v1/webhooks/{id}/replay",
    summary: "Send events again",
    description: "Moves the position of the webhook. A paused webhook stays paused.",
    tag,
    role,
    ...webhookInPath,
    body: z.strictObject({
      after: z
        .union(
          [
            z.int().min(0),
            z
              .string()
              .regex(/^\d{1,15}$/)
              .transform(Number),
          ],
          AFTER,
        )
        .meta({ description: "The `seq` of an event, or 0; the events after it are sent" }),
    }),
    responses: {
      200: { description: "The webhook", schema: webhook },
      410: { description: "The feed does not keep these events", schema: gone },
    },
    handle: (_, { write, subject, body }) => replayWebhook(write, subject, body.after),
  }),
  keyedListRoute({
    path: "/v1/webhooks/{id}/deliveries",
    summary: "List deliveries of a webhook",
    tag,
    role,
    params: webhookInPath.params,
    list: { description: "The attempts of the last 14 days, the newest first", schema: z.array(delivery) },
    key: z.string().regex(/^\d{1,18}$/),
    handle: async (deps, { board, params }, window) => {
      const { id: webhookId } = await webhookInPath.find(deps.db, board, params);
      return listDeliveries(deps.db, webhookId, window);
    },
  }),
];
