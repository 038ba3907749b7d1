import { randomUUID } from "node:crypto";
import type { DeliveryRow } from "../rows.ts";
import type { ForgeState } from "../state.ts";
import { logAttempt, outgoingDelivery, type AroundDelivery, type OutgoingDelivery } from "./delivery-log.ts";
import { post } from "./post.ts";

export interface NewDelivery {
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  readonly payload: unknown;
}

export interface WebhookSender {
  /** Null sends nothing and keeps nothing. */
  url: string | null;
  /** Puts a webhook into the log and sends it after those before it. Returns at once. */
  enqueue(delivery: NewDelivery): void;
  /** Sends a logged delivery again, with its guid; answers the new attempt's row. */
  redeliver(id: number): DeliveryRow;
  /** Waits until everything enqueued so far was sent or given up, at most this long. */
  waitUntilIdle(ms: number): Promise<void>;
  /** Sends nothing more; what is left is sent after the next start. */
  close(): void;
}

interface SenderOptions {
  readonly state: ForgeState;
  readonly url: string | null;
  readonly now: () => Date;
  readonly around?: AroundDelivery | undefined;
  readonly timeoutMs: number;
}

/**
 * Sends webhooks one after the other. Those that an end of the forge left unsent are sent first, as soon as there is an
 * address to send them to.
 */
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
    set url(address) {
      url = address;
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

/** Makes attempts in the order they were added, and writes down how each ended. */
function makeQueue({ state, now, timeoutMs, ...options }: SenderOptions) {
  let isOpen = true;
  let tail: Promise<void> = Promise.resolve();
  const around: AroundDelivery = options.around ?? ((delivery, send) => send(delivery));
  const note = (id: number, change: Partial<Omit<DeliveryRow, "id">>) => {
    if (isOpen && state.deliveries.get(id) !== undefined)
      state.deliveries.update(id, { deliveredAt: now().toISOString(), ...change });
  };
  const send = async (delivery: OutgoingDelivery): Promise<void> => {
    const started = now().getTime();
    const result = await post(delivery.url, delivery.headers, delivery.body, timeoutMs);
    note(delivery.id, { duration: (now().getTime() - started) / 1000, ...result });
  };
  const attempt = async (row: DeliveryRow): Promise<void> => {
    if (!isOpen) return;
    await around(outgoingDelivery(state, row), send);
    // Dropped or held back by the hook: what the log would say of an answer that never came.
    if (state.deliveries.get(row.id)?.deliveredAt === null) note(row.id, { status: "timed out" });
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
