import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import { LRUCache } from "lru-cache";
import type { Request } from "express";
import { isSecret, parseCredentialKey, type KeyParts } from "../actions/credentials/credential-key.ts";
import { Problem, tooMany } from "../errors.ts";
import type { Db } from "../store/db/connect.ts";
import { reachesAnything, type Credential, CachedCredential } from "../store/tenancy/credentials.ts";

/** How a request identifies its caller: by an API key, or by the cookie of a session. */
export interface AuthMethod {
  readonly isSession: boolean;
  /** The credential: undefined if the request has none, null if it is malformed. */
  readonly presented: (request: Request) => KeyParts | null | undefined;
  readonly refuse: () => Problem;
  /** Throws `forbidden` for a write that another site may have made the browser send. */
  readonly requireOwnPage: (request: Request) => void;
  /** Records that the caller is active. True if that changes the credential. */
  readonly recordActivity: (db: Db, credential: Credential) => Promise<boolean>;
}

/** The authentication of `/v1`, which ignores cookies. */
export const API_KEY: AuthMethod = {
  isSession: false,
  presented: (request) => {
    const authorization = request.get("authorization");
    if (authorization === undefined) return undefined;
    const [, apiKey] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    return apiKey === undefined ? null : parseCredentialKey(apiKey);
  },
  refuse: () => new Problem("unauthenticated", "Send a valid API key as `Authorization: Bearer <API key>`."),
  requireOwnPage: () => undefined,
  recordActivity: () => Promise.resolve(false),
};

/**
 * Compared when no credential is found, so that an unknown client id takes as long as a wrong
 * secret.
 */
const DUMMY_HASHES = [Buffer.alloc(32)];

/** Authenticates callers and caches their credentials. */
export class Authentication {
  readonly #known = new LRUCache<string, Credential>({ max: 1_000 });

  /**
   * Returns the credential of a request, from the cache unless `isReread`, or from `find`. Throws the same
   * `unauthenticated` for a key that is missing, malformed, unknown, wrong, revoked or expired, and
   * for a session that reaches nothing any more. A key that does not match the cached credential is
   * checked against the database.
   */
  async authenticate(
    find: (clientId: string) => Promise<Credential | null>,
    { isSession, refuse }: Pick<AuthMethod, "isSession" | "refuse">,
    key: KeyParts | null | undefined,
    { isReread = false }: { readonly isReread?: boolean } = {},
  ): Promise<CachedCredential> {
    if (!key) throw refuse();
    const { clientId, secret } = key;
    const known = this.#known.get(clientId);
    const isCurrent = isSecret(secret, known?.secretHashes ?? DUMMY_HASHES);
    // The checksum of a key does not cover its prefix.
    if (known && isCurrent && !isReread && known.isHuman === isSession)
      return new CachedCredential(known, false);
    const credential = await find(clientId);
    const isValid = isSecret(secret, credential?.secretHashes ?? DUMMY_HASHES);
    if (!credential || credential.version === null) this.#known.delete(clientId);
    if (!credential || !isValid || credential.version === null) throw refuse();
    if (credential.isHuman !== isSession || (isSession && !reachesAnything(credential))) throw refuse();
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

  /** Counts a refused key, null for a malformed one; throws `too_many` above the limit. */
  count(network: string, key: Pick<KeyParts, "clientId"> | null): void {
    const names = [`address ${network}`, ...(key ? [`client ${key.clientId}`] : [])];
    const waits = names.map((name) => this.#failures.take(name)).filter((wait) => wait !== null);
    if (waits.length === 0) return;
    throw tooMany(
      "Too many calls with an invalid API key or session were made. Check it before you try again.",
      Math.max(...waits),
    );
  }
}

/** The network of whoever sent a request: behind a proxy, that of the proxy. */
export const senderOf = ({ socket }: Pick<IncomingMessage, "socket">): string =>
  networkOf(socket.remoteAddress ?? "");

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
