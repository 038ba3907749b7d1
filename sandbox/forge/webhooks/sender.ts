import { randomUUID } from "node:crypto";
import type { DeliveryRow } from "../rows.ts";
import type { ForgeState } from "../state.ts";
import { logAttempt, outgoingDelivery, type AroundDelivery, type OutgoingDelivery } from "./delivery-log.ts";
import { post } from "./post.ts";

interface NewDelivery {
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  readonly payload: unknown;
}

export interface WebhookSender {
  /** Null disables webhooks. */
  url: string | null;
  /** Logs a webhook and sends it after the earlier ones, without waiting. */
  enqueue(delivery: NewDelivery): void;
  /** Sends a logged delivery again with the same guid; returns the new attempt. */
  redeliver(id: number): DeliveryRow;
  /** Waits up to `ms` until the queue is empty. */
  waitUntilIdle(ms: number): Promise<void>;
  /** Stops sending; the next start sends the rest. */
  close(): void;
}

interface SenderOptions {
  readonly state: ForgeState;
  readonly url: string | null;
  readonly now: () => Date;
  readonly around?: AroundDelivery | undefined;
  readonly timeoutMs: number;
}

/** Sends webhooks one after the other, first those left unsent when the forge stopped. */
export function makeWebhookSender(options: SenderOptions): WebhookSender {
  const { state } = options;
  const queue = makeQueue(options);
  const now = () => options.now().toISOString();
  let url = options.url;
  let unsent = state.deliveries.all().filter((row) => row.deliveredAt === null);
  const sendUnsent = () => {
    if (url === null) return;
    for (const { id } of unsent) queue.add(state.deliveries.update(id, { url }));
    unsent = [];
  };
  sendUnsent();
  return {
    get url() {
      return url;
    },
    set url(newUrl) {
      url = newUrl;
      sendUnsent();
    },
    enqueue({ payload, ...delivery }) {
      if (url === null) return;
      const { id: payloadId } = state.payloads.save({ id: state.newId(), text: JSON.stringify(payload) });
      const made = { guid: randomUUID(), payloadId, redelivery: false, createdAt: now(), url };
      queue.add(logAttempt(state, { ...delivery, ...made }));
    },
    redeliver(id) {
      const { guid, event, action, installationId, repositoryId, payloadId, ...before } =
        state.deliveries.need(id);
      const same = { guid, event, action, installationId, repositoryId, payloadId, url: url ?? before.url };
      const row = logAttempt(state, { ...same, redelivery: true, createdAt: now() });
      queue.add(row);
      return row;
    },
    waitUntilIdle: (ms) => queue.settle(ms),
    close: () => queue.close(),
  };
}

/** Sends deliveries in the order they were added and records the results. */
function makeQueue({ state, now, timeoutMs, ...options }: SenderOptions) {
  let isOpen = true;
  let tail: Promise<void> = Promise.resolve();
  const around: AroundDelivery = options.around ?? ((delivery, send) => send(delivery));
  const record = (id: number, change: Partial<Omit<DeliveryRow, "id">>) => {
    if (isOpen && state.deliveries.get(id) !== undefined)
      state.deliveries.update(id, { deliveredAt: now().toISOString(), ...change });
  };
  const send = async (delivery: OutgoingDelivery): Promise<void> => {
    const started = now().getTime();
    const result = await post(delivery.url, delivery.headers, delivery.body, timeoutMs);
    record(delivery.id, { duration: (now().getTime() - started) / 1000, ...result });
  };
  const attempt = async (row: DeliveryRow): Promise<void> => {
    if (!isOpen) return;
    await around(outgoingDelivery(state, row), send);
    // The hook dropped or held the delivery: log it as withoutResponse.
    if (state.deliveries.get(row.id)?.deliveredAt === null) record(row.id, { status: "timed out" });
  };
  return {
    add(row: DeliveryRow) {
      tail = tail.then(() => attempt(row)).catch(() => undefined);
    },
    async settle(ms: number) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
      await Promise.race([tail, late]);
      clearTimeout(timer);
    },
    close() {
      isOpen = false;
    },
  };
}
