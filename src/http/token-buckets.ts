import { LRUCache } from "lru-cache";

/** As many names as are remembered at once; the one unused for longest makes room, and starts afresh when it comes back. */
const MOST = 10_000;

export interface BucketOptions {
  /** How much may be taken at once. */
  readonly burst: number;
  readonly perSecond: number;
  /** Milliseconds that only grow. */
  readonly now?: () => number;
}

/** A token bucket for each name: `burst` at once, and `perSecond` in the long run. */
export class TokenBuckets {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new LRUCache<string, { readonly tokens: number; readonly at: number }>({
    max: MOST,
  });

  constructor({ burst, perSecond, now = () => performance.now() }: BucketOptions) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Takes one, and gives null; or, where none is left, gives the seconds until there is one. */
  take(name: string): number | null {
    const at = this.#now();
    const bucket = this.#buckets.get(name) ?? { tokens: this.#burst, at };
    const tokens = Math.min(this.#burst, bucket.tokens + ((at - bucket.at) / 1_000) * this.#perSecond);
    const isThere = tokens >= 1;
    this.#buckets.set(name, { tokens: isThere ? tokens - 1 : tokens, at });
    return isThere ? null : (1 - tokens) / this.#perSecond;
  }
}
