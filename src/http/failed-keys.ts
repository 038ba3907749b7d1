import { isIPv6 } from "node:net";
import { parseCredentialKey } from "../actions/credentials/credential-key.ts";
import { tooMany } from "../errors.ts";
import { TokenBuckets } from "./token-buckets.ts";

/** Counts the keys that were refused, by the address they came from and the client id they named. */
export class FailedKeys {
  readonly #failures: TokenBuckets;

  constructor(perMinute: number, now?: () => number) {
    this.#failures = new TokenBuckets({ burst: perMinute, perSecond: perMinute / 60, ...(now && { now }) });
  }

  /** Takes note of one; throws `too_many` where it is one too many. */
  count(address: string, authorization: string): void {
    const key = parseCredentialKey(authorization.split(" ").at(-1) ?? "");
    const names = [`address ${networkOf(address)}`, ...(key ? [`client ${key.clientId}`] : [])];
    const waits = names.map((name) => this.#failures.take(name)).filter((wait) => wait !== null);
    if (waits.length === 0) return;
    throw tooMany(
      "Too many keys that are not valid were sent. Check the API key before the next try.",
      Math.max(...waits),
    );
  }
}

/** An IPv4 address, or the 64 bits of an IPv6 one that a single subscriber is given. */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
  return groups.slice(0, 4).join(":");
}
