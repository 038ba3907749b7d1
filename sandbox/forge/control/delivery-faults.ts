import type { OutgoingDelivery } from "../webhooks/delivery-log.ts";
import { seededRandom, shuffled, type Random } from "./random.ts";

/** Selects webhooks; an omitted field matches all. */
interface DeliveryMatch {
  readonly event?: string | undefined;
  readonly action?: string | undefined;
}

export type DeliveryFault =
  /** Not sent; `percent` is the probability. `unlogged` also removes it from the delivery log. */
  | { readonly kind: "drop"; readonly percent?: number; readonly unlogged?: boolean }
  /** Sent once and `copies` more times, with the same guid. */
  | { readonly kind: "duplicate"; readonly copies: number }
  /** Sent after `ms`; later webhooks are not delayed. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Held until there are `batch` webhooks, then sent in random or reverse order. */
  | { readonly kind: "reorder"; readonly batch: number; readonly order?: "shuffled" | "reversed" }
  /** Sent with a wrong, no or only a SHA-1 signature, or with a body changed after signing. */
  | { readonly kind: "corrupt"; readonly what: "signature" | "no-signature" | "sha1-only" | "body" }
  /** Held until `release`; `percent` is the probability. */
  | { readonly kind: "hold"; readonly percent?: number };

interface DeliveryRule {
  readonly match?: DeliveryMatch;
  readonly fault: DeliveryFault;
  /** Matching webhooks that pass first; default 0. */
  readonly skip?: number;
  /** Webhooks the fault applies to; default unlimited. */
  readonly times?: number;
}

type Send = (delivery: OutgoingDelivery) => Promise<void>;

interface HeldDelivery {
  readonly delivery: OutgoingDelivery;
  readonly send: Send;
}

/** The active webhook rules and the webhooks they hold. The first matching rule applies. */
export class DeliveryFaults {
  #rules: { readonly id: number; readonly rule: DeliveryRule; seen: number; hits: number }[] = [];
  #lastId = 0;
  #held: HeldDelivery[] = [];
  /** Held for `reorder`. */
  #batch: HeldDelivery[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #random: Random = seededRandom(1);
  readonly #deleteLogged: (deliveryId: number) => void;

  /** `deleteLogged` removes a delivery from the log. */
  constructor(deleteLogged: (deliveryId: number) => void) {
    this.#deleteLogged = deleteLogged;
  }

  seed(seed: number): void {
    this.#random = seededRandom(seed);
  }

  add(rule: DeliveryRule): number {
    this.#lastId += 1;
    this.#rules.push({ id: this.#lastId, rule, seen: 0, hits: 0 });
    return this.#lastId;
  }

  remove(id: number): boolean {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((each) => each.id !== id);
    return this.#rules.length < before;
  }

  list(): { readonly id: number; readonly rule: DeliveryRule; readonly hits: number }[] {
    return this.#rules.map(({ id, rule, hits }) => ({ id, rule, hits }));
  }

  /** Removes all rules; held webhooks stay held. */
  clear(): void {
    this.#rules = [];
  }

  held(): OutgoingDelivery[] {
    return [...this.#held, ...this.#batch].map((each) => each.delivery);
  }

  /** Sends the held webhooks one after the other; returns their number. */
  async release(order: "kept" | "reversed" | "shuffled" = "kept"): Promise<number> {
    const held = [...this.#held, ...this.#batch];
    this.#held = [];
    this.#batch = [];
    await sendAll(this.#ordered(held, order));
    return held.length;
  }

  /** Discards held and delayed webhooks. */
  discard(): void {
    this.#held = [];
    this.#batch = [];
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  async around(delivery: OutgoingDelivery, send: Send): Promise<void> {
    const fault = this.#take(delivery);
    if (fault === null) return send(delivery);
    switch (fault.kind) {
      case "drop":
        if (fault.unlogged === true) this.#deleteLogged(delivery.id);
        return undefined;
      case "duplicate":
        return sendAll(Array.from({ length: fault.copies + 1 }, () => ({ delivery, send })));
      case "delay":
        this.#sendLater({ delivery, send }, fault.ms);
        return undefined;
      case "hold":
        this.#held.push({ delivery, send });
        return undefined;
      case "corrupt":
        return send(corrupted(delivery, fault.what));
      case "reorder":
        this.#batch.push({ delivery, send });
        return this.#batch.length < fault.batch ? undefined : this.#sendBatch(fault.order ?? "shuffled");
    }
  }

  #take(delivery: OutgoingDelivery): DeliveryFault | null {
    for (const each of this.#rules) {
      const { match = {}, fault, skip = 0, times = Infinity } = each.rule;
      if (match.event !== undefined && match.event !== delivery.event) continue;
      if (match.action !== undefined && match.action !== delivery.action) continue;
      each.seen += 1;
      if (each.seen <= skip || each.hits >= times) continue;
      const percent = "percent" in fault ? (fault.percent ?? 100) : 100;
      if (percent < 100 && this.#random() * 100 >= percent) continue;
      each.hits += 1;
      return fault;
    }
    return null;
  }

  #sendLater(held: HeldDelivery, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void sendAll([held]);
    }, ms);
    this.#timers.add(timer);
  }

  async #sendBatch(order: "shuffled" | "reversed"): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    await sendAll(this.#ordered(batch, order));
  }

  #ordered(held: readonly HeldDelivery[], order: "kept" | "reversed" | "shuffled"): readonly HeldDelivery[] {
    if (order === "shuffled") return shuffled(held, this.#random);
    return order === "reversed" ? held.toReversed() : held;
  }
}

async function sendAll(held: readonly HeldDelivery[]): Promise<void> {
  for (const { delivery, send } of held) await send(delivery);
}

type Corruption = Extract<DeliveryFault, { kind: "corrupt" }>["what"];

function corrupted(delivery: OutgoingDelivery, what: Corruption): OutgoingDelivery {
  if (what === "body")
    return { ...delivery, body: delivery.body.replace(/\d(?=\D*$)/, (digit) => (digit === "1" ? "2" : "1")) };
  const kept = Object.entries(delivery.headers).filter(([name]) => {
    const lower = name.toLowerCase();
    return lower !== "x-hub-signature-256" && (lower !== "x-hub-signature" || what === "sha1-only");
  });
  const headers = Object.fromEntries(kept);
  if (what !== "signature") return { ...delivery, headers };
  return { ...delivery, headers: { ...headers, "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` } };
}
