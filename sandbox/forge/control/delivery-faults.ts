import type { OutgoingDelivery } from "../webhooks/delivery-log.ts";
import { shuffled, type Random } from "./random.ts";

/** Which webhooks are meant. What is left out matches everything. */
export interface DeliveryMatch {
  readonly event?: string | undefined;
  readonly action?: string | undefined;
}

export type DeliveryFault =
  /** Never sent; with `percent`, each with that chance. `unlogged`, the delivery log does not know of it either. */
  | { readonly kind: "drop"; readonly percent?: number; readonly unlogged?: boolean }
  /** Sent once and `copies` more times, with one and the same guid. */
  | { readonly kind: "duplicate"; readonly copies: number }
  /** Sent later; those after it overtake it. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Kept until `batch` have come together, then sent in random order, or in reverse. */
  | { readonly kind: "reorder"; readonly batch: number; readonly order?: "shuffled" | "reversed" }
  /** Sent with a wrong signature, without one, with the SHA-1 one only, or with a body that was changed after signing. */
  | { readonly kind: "corrupt"; readonly what: "signature" | "no-signature" | "sha1-only" | "body" }
  /** Kept until `release`; with `percent`, each with that chance. */
  | { readonly kind: "hold"; readonly percent?: number };

export interface DeliveryRule {
  readonly match?: DeliveryMatch;
  readonly fault: DeliveryFault;
  /** How many matching webhooks pass unharmed first; 0 when left out. */
  readonly skip?: number;
  /** How many webhooks are hit before the rule is spent; no end when left out. */
  readonly times?: number;
}

type Send = (delivery: OutgoingDelivery) => Promise<void>;

interface HeldDelivery {
  readonly delivery: OutgoingDelivery;
  readonly send: Send;
}

/** The webhook rules in force and the webhooks they keep back. The first rule that matches a webhook decides. */
export class DeliveryFaults {
  #rules: { readonly id: number; readonly rule: DeliveryRule; seen: number; hits: number }[] = [];
  #lastId = 0;
  #held: HeldDelivery[] = [];
  #batch: HeldDelivery[] = [];
  readonly #later = new Set<NodeJS.Timeout>();
  readonly #random: Random;
  readonly #forget: (deliveryId: number) => void;

  /** `forget` takes a delivery out of the log. */
  constructor(random: Random, forget: (deliveryId: number) => void) {
    this.#random = random;
    this.#forget = forget;
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

  /** Ends all rules; what they keep back stays kept until `release`. */
  clear(): void {
    this.#rules = [];
  }

  /** The webhooks kept back, oldest first. */
  held(): OutgoingDelivery[] {
    return [...this.#held, ...this.#batch].map((each) => each.delivery);
  }

  /** Sends what is kept back, one after the other; answers how many. */
  async release(order: "kept" | "reversed" | "shuffled" = "kept"): Promise<number> {
    const kept = [...this.#held, ...this.#batch];
    this.#held = [];
    this.#batch = [];
    await sendAll(this.#ordered(kept, order));
    return kept.length;
  }

  /** Forgets what is kept back and what is to be sent later: the process ends, or a test is over. */
  abandon(): void {
    this.#held = [];
    this.#batch = [];
    for (const timer of this.#later) clearTimeout(timer);
    this.#later.clear();
  }

  async around(delivery: OutgoingDelivery, send: Send): Promise<void> {
    const fault = this.#take(delivery);
    if (fault === null) return send(delivery);
    switch (fault.kind) {
      case "drop":
        if (fault.unlogged === true) this.#forget(delivery.id);
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

  #sendLater(kept: HeldDelivery, ms: number): void {
    const timer = setTimeout(() => {
      this.#later.delete(timer);
      void sendAll([kept]);
    }, ms);
    this.#later.add(timer);
  }

  async #sendBatch(order: "shuffled" | "reversed"): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    await sendAll(this.#ordered(batch, order));
  }

  #ordered(kept: readonly HeldDelivery[], order: "kept" | "reversed" | "shuffled"): readonly HeldDelivery[] {
    if (order === "shuffled") return shuffled(kept, this.#random);
    return order === "reversed" ? kept.toReversed() : kept;
  }
}

async function sendAll(kept: readonly HeldDelivery[]): Promise<void> {
  for (const { delivery, send } of kept) await send(delivery);
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
