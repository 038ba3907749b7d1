import { lookup, Resolver, type LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { promisify } from "node:util";
import { isLocalName } from "./private-address.ts";

/** Returns the addresses of a host. Throws if `signal` aborts. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

interface HostResolverOptions {
  /** Whether this machine is asked about local names and those that DNS does not know, as in `/etc/hosts`. */
  readonly hasLocalNames: boolean;
  /** Addresses of DNS servers, with ports; by default those of the system. */
  readonly servers?: readonly string[];
}

/** For each DNS server; asked twice. */
const TIMEOUT_MS = 2_500;
const TRIES = 2;

/**
 * Resolves hosts that callers choose with DNS requests that end with `signal`. The system's resolver
 * cannot be stopped and runs two lookups at a time: eight names whose DNS server was silent delayed the
 * connections to GitHub and PostgreSQL by 40 seconds. It is asked only about local names, one at a time.
 */
export function createHostResolver({ hasLocalNames, servers }: HostResolverOptions): ResolveHost {
  let lastLookup: Promise<unknown> = Promise.resolve();

  function lookUpLocally(host: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const previous = lastLookup;
    const found = previous.then(async () => {
      signal.throwIfAborted();
      return promisify(lookup)(host, { all: true });
    });
    lastLookup = found.catch(() => undefined);
    return found;
  }

  return async (host, signal) => {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    if (hasLocalNames && isLocalName(host)) return lookUpLocally(host, signal);
    try {
      return await askDns(host, signal, servers);
    } catch (error) {
      signal.throwIfAborted();
      if (!hasLocalNames || !isUnknown(error)) throw error;
      return lookUpLocally(host, signal);
    }
  };
}

const isUnknown = (error: unknown): boolean =>
  ["ENOTFOUND", "ENODATA"].includes((error as NodeJS.ErrnoException).code ?? "");

/** IPv4 addresses come first. A host may lack one kind. */
async function askDns(
  host: string,
  signal: AbortSignal,
  servers: readonly string[] | undefined,
): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel);
  try {
    const [v4, v6] = await Promise.allSettled([
      promisify<string, string[]>(resolver.resolve4.bind(resolver))(host),
      promisify<string, string[]>(resolver.resolve6.bind(resolver))(host),
    ]);
    const found = [
      ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length > 0) return found;
    throw v4.status === "rejected" ? v4.reason : new Error(`${host} has no address.`);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
