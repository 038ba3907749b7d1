import { randomBytes } from "node:crypto";
import { conflict, invalid, requireFound } from "../../errors.ts";
import {
  countWebhooks,
  findWebhook,
  insertDelivery,
  insertWebhook,
  setWebhookPosition,
  readWebhookTarget,
  removeWebhook,
  replaceWebhookSecret,
  retryFailing,
  updateWebhook,
  type Webhook,
} from "../../store/events/webhooks.ts";
import { readFeedBounds, requireRetained } from "../../store/events/feed.ts";
import { transaction } from "../../store/db/transaction.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import { isDelivered, sendEvent } from "./send-event.ts";

const MAX_WEBHOOKS = 50;
const SECRET_BYTES = 32;

/** A secret as Standard Webhooks defines it. */
const newWebhookSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;

/** Adds a webhook to the board. Returns 201 with it and its secret. */
export async function createWebhook(
  deps: Deps,
  write: Write,
  {
    url: given,
    kinds = null,
  }: { readonly url: string; readonly kinds?: readonly string[] | null | undefined },
): Promise<StoredResponse> {
  const { trx, workspaceId, userId: createdBy } = write;
  const url = usableUrl(deps, given);
  if ((await countWebhooks(trx, workspaceId)) >= MAX_WEBHOOKS)
    throw conflict(`This board has ${MAX_WEBHOOKS} webhooks already. Delete one, or change its URL.`);
  const id = deps.newId();
  const secret = newWebhookSecret();
  await insertWebhook(trx, { id, workspaceId, url, kinds, secret, createdBy });
  return write.respond({ ...(await read(write, id)), secret }, 201);
}

interface WebhookInput {
  readonly url?: string | undefined;
  readonly kinds?: readonly string[] | null | undefined;
  readonly paused?: boolean | undefined;
}

/** Changes a webhook, pauses or resumes it. Returns the webhook. */
export async function changeWebhook(
  deps: Deps,
  write: Write,
  { id }: Webhook,
  input: WebhookInput,
): Promise<StoredResponse> {
  const url = input.url === undefined ? undefined : usableUrl(deps, input.url);
  await updateWebhook(write.trx, id, { ...input, url }, write.userId);
  return write.respond(await read(write, id));
}

/** Deletes a webhook and its log. Returns 204. */
export async function deleteWebhook(write: Write, { id }: Webhook): Promise<StoredResponse> {
  await removeWebhook(write.trx, id);
  return write.respond(null, 204);
}

/** Replaces the secret. Returns the webhook and the new secret. */
export async function rotateWebhookSecret(write: Write, { id }: Webhook): Promise<StoredResponse> {
  const secret = newWebhookSecret();
  await replaceWebhookSecret(write.trx, id, { secret, by: write.userId });
  return write.respond({ ...(await read(write, id)), secret });
}

/** Sends the events after a position again. Throws `gone` if the feed does not keep them. */
export async function replayWebhook(write: Write, { id }: Webhook, after: number): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  requireRetained(after, await readFeedBounds(trx, workspaceId));
  await setWebhookPosition(trx, id, after);
  return write.respond(await read(write, id));
}

/**
 * Sends an event of the kind `ping`, also to a paused webhook. It is not in the feed: its `seq` 0
 * comes before every event. After a success, a failed event is repeated now. Returns the attempt,
 * successful or not.
 */
export async function pingWebhook(deps: Deps, write: Write, { id }: Webhook): Promise<StoredResponse> {
  const target = requireFound(await readWebhookTarget(write.trx, id), "webhook");
  await write.commit();
  const [eventId, kind] = [`ping-${deps.newId()}`, "ping"];
  const event = { seq: 0, id: eventId, kind, at: new Date(), card: null, actor: null, data: {} };
  deps.leavePlace();
  const sent = await sendEvent(deps.webhookClient, target, event);
  const { status, error, ms, response } = sent;
  const attempt = { webhookId: id, eventId, kind, status, error, ms, response };
  return transaction(deps.db, async (trx) => {
    const delivery = requireFound(await insertDelivery(trx, attempt), "webhook");
    if (isDelivered(sent)) await retryFailing(trx, id);
    return write.respondIn(trx, delivery);
  });
}

const read = async ({ trx, workspaceId }: Write, id: string): Promise<Webhook> =>
  requireFound(await findWebhook(trx, workspaceId, id), "webhook");

/**
 * The URL as requests use it: a reader could take another part of what was given for the host.
 * Throws `invalid` for one to which no requests are sent.
 */
function usableUrl({ webhookClient }: Deps, url: string): string {
  const refusal = webhookClient.refusalOf(url);
  if (refusal === null) return new URL(url).href;
  throw invalid(`body.url: ${refusal}`, [{ path: "body.url", message: refusal }]);
}
