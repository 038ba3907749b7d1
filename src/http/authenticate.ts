import { isIPv6 } from "node:net";
import { LRUCache } from "lru-cache";
import { isSecret, parseCredentialKey } from "../actions/credentials/credential-key.ts";
import { Problem, tooMany } from "../errors.ts";
import type { Db } from "../store/db/connect.ts";
import { findCredential, type Credential, CachedCredential } from "../store/tenancy/credentials.ts";

const refuse = (): Problem =>
  new Problem("unauthenticated", "Send a valid API key as `Authorization: Bearer <API key>`.");

/**
 * Compared when no credential is found, so that an unknown client id takes as long as a wrong
 * secret.
 */
const DUMMY_HASHES = [Buffer.alloc(32)];

/** Authenticates API keys and caches their credentials. */
export class Authentication {
  readonly #known = new LRUCache<string, Credential>({ max: 1_000 });

  /**
   * Returns the credential of a request, from the cache unless `isReread`. Throws the same
   * `unauthenticated` for a key that is missing, malformed, unknown, wrong, revoked or expired. A
   * key that does not match the cached credential is checked against the database.
   */
  async authenticate(
    db: Db,
    authorization: string | undefined,
    { isReread = false }: { readonly isReread?: boolean } = {},
  ): Promise<CachedCredential> {
    const [, apiKey] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
    const key = apiKey === undefined ? null : parseCredentialKey(apiKey);
    if (!key) throw refuse();
    const { clientId, secret } = key;
    const known = this.#known.get(clientId);
    const isCurrent = isSecret(secret, known?.secretHashes ?? DUMMY_HASHES);
    if (known && isCurrent && !isReread) return new CachedCredential(known, false);
    const credential = await findCredential(db, clientId);
    const isValid = isSecret(secret, credential?.secretHashes ?? DUMMY_HASHES);
    if (!credential || credential.stamp === null) this.#known.delete(clientId);
    if (!credential || !isValid || credential.stamp === null) throw refuse();
    this.#known.set(clientId, credential);
    return new CachedCredential(credential, true);
  }
}

interface BucketOptions {
  /** The capacity of a bucket. */
  readonly burst: number;
  readonly perSecond: number;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/**
 * Token buckets by name. The 10,001st evicts the least recently used one, which starts full again.
 */
export class TokenBuckets {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new LRUCache<string, { readonly tokens: number; readonly at: number }>({
    max: 10_000,
  });

  constructor({ burst, perSecond, now = () => performance.now() }: BucketOptions) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Takes a token and returns null, or returns the seconds until one is available. */
  take(name: string): number | null {
    const wait = this.wait(name);
    if (wait === null) this.spend(name, 1);
    return wait;
  }

  /** Null if a token is available, otherwise the seconds until one is. */
  wait(name: string): number | null {
    const tokens = this.#tokensOf(name);
    return tokens >= 1 ? null : (1 - tokens) / this.#perSecond;
  }

  /** Takes tokens, even if there are fewer. */
  spend(name: string, count: number): void {
    this.#buckets.set(name, { tokens: this.#tokensOf(name) - count, at: this.#now() });
  }

  #tokensOf(name: string): number {
    const at = this.#now();
    const bucket = this.#buckets.get(name) ?? { tokens: this.#burst, at };
    return Math.min(this.#burst, bucket.tokens + ((at - bucket.at) / 1_000) * this.#perSecond);
  }
}

/** Limits the refused keys of each network address and client id. */
export class FailedKeys {
  readonly #failures: TokenBuckets;

  constructor(perMinute: number, now?: () => number) {
    this.#failures = new TokenBuckets({ burst: perMinute, perSecond: perMinute / 60, ...(now && { now }) });
  }

  /** Counts a refused key; throws `too_many` above the limit. */
  count(address: string, authorization: string): void {
    const key = parseCredentialKey(authorization.split(" ").at(-1) ?? "");
    const names = [`address ${networkOf(address)}`, ...(key ? [`client ${key.clientId}`] : [])];
    const waits = names.map((name) => this.#failures.take(name)).filter((wait) => wait !== null);
    if (waits.length === 0) return;
    throw tooMany(
      "Too many invalid API keys were sent. Check the API key before you try again.",
      Math.max(...waits),
    );
  }
}

/** An IPv4 address, or the first 64 bits of an IPv6 address, which belong to one subscriber. */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
  return groups.slice(0, 4).join(":");
}
