import { once } from "node:events";
import type { LookupAddress } from "node:dns";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import { RequestFilteringHttpsAgent } from "request-filtering-agent";
import { storableText } from "../../flow/text.ts";
import { hostOf } from "../../flow/names.ts";
import { isPrivateUrl, isPublicAddress } from "./private-address.ts";
import { createHostResolver, type ResolveHost } from "./resolve-host.ts";

/** A finished request. */
export interface WebhookResponse {
  /** Null if there was no response; `error` says why. */
  readonly status: number | null;
  readonly error: string | null;
  readonly ms: number;
  /** The start of the body. */
  readonly response: string;
  /** From the header `Retry-After`, in seconds. */
  readonly retryAfter: number | null;
}

interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends requests to addresses that callers choose. */
export interface WebhookClient {
  /** Why requests to the URL would be refused, or null. Does not resolve the host. */
  refusalOf(url: string): string | null;
  /** Throws only if `signal` aborts. */
  post(url: string, request: WebhookRequest, signal?: AbortSignal): Promise<WebhookResponse>;
}

export interface WebhookClientOptions {
  /** Ranges of addresses (CIDR) that may be private and may use HTTP; by default none. */
  readonly allowedAddresses?: readonly string[];
  /** Resolves host names, by default with the DNS servers of the system. */
  readonly resolveHost?: ResolveHost;
  /** The duration of a request, in milliseconds. */
  readonly timeoutMs?: number;
}

const NOT_PUBLIC = "The host does not lead to a public address.";
const TIMEOUT_MS = 15_000;
const MAX_READ = 64 * 1_024;
const MAX_KEPT = 1_024;

/** A refused request, with a message for the delivery log. */
class Refusal extends Error {}

/**
 * Creates the client. It resolves a host once and connects to one of the resolved addresses, so that
 * the name cannot resolve to another address after the check. `request-filtering-agent` checks the
 * address of the socket again.
 */
export function createWebhookClient({
  allowedAddresses = [],
  resolveHost = createHostResolver({ hasLocalNames: allowedAddresses.length > 0 }),
  timeoutMs = TIMEOUT_MS,
}: WebhookClientOptions = {}): WebhookClient {
  const allowed = blockListOf(allowedAddresses);
  const isAllowed = (address: string): boolean => allowed.check(address, isIPv6(address) ? "ipv6" : "ipv4");

  function refusalOf(text: string): string | null {
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return "must be a URL that starts with https://";
    const url = new URL(text);
    if (url.username !== "" || url.password !== "") return "must not contain a user name or a password";
    const host = hostOf(url);
    // A name may resolve to an allowed address, which is checked later.
    if (isIP(host) === 0 ? allowedAddresses.length > 0 : isAllowed(host)) return null;
    if (url.protocol === "http:") return "must start with https://";
    return isPrivateUrl(text) ? "must lead to a public address" : null;
  }

  async function optionsFor(url: URL, signal: AbortSignal): Promise<RequestOptions> {
    const refusal = refusalOf(url.href);
    if (refusal !== null) throw new Refusal(`The URL ${refusal}.`);
    const addresses = await unlessAborted(() => resolveHost(hostOf(url), signal), signal);
    const lookup = lookupOf(addresses);
    const isHttp = url.protocol === "http:";
    if (addresses.length > 0 && addresses.every(({ address }) => isAllowed(address)))
      return { agent: isHttp ? new HttpAgent() : new HttpsAgent(), lookup };
    if (isHttp) throw new Refusal("The URL must start with https://.");
    if (!addresses.every(({ address }) => isPublicAddress(address))) throw new Refusal(NOT_PUBLIC);
    return { agent: new RequestFilteringHttpsAgent(), lookup };
  }

  return {
    refusalOf,
    post: async (target, request, signal) => {
      const started = performance.now();
      const timeout = AbortSignal.timeout(timeoutMs);
      const aborted = signal ? AbortSignal.any([signal, timeout]) : timeout;
      const ms = () => Math.round(performance.now() - started);
      try {
        const url = new URL(target);
        const response = await send(url, request, { ...(await optionsFor(url, aborted)), signal: aborted });
        const { statusCode: status = 0, headers } = response;
        const retryAfter = secondsOf(headers["retry-after"]);
        return { status, error: null, response: await readStart(response), retryAfter, ms: ms() };
      } catch (error) {
        signal?.throwIfAborted();
        const message = timeout.aborted
          ? `No response within ${timeoutMs / 1_000} seconds.`
          : messageOf(error);
        return { status: null, error: message, response: "", retryAfter: null, ms: ms() };
      }
    },
  };
}

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", prefix = ""] = range.split("/");
    list.addSubnet(network, Number(prefix), isIPv6(network) ? "ipv6" : "ipv4");
  }
  return list;
}

/** A lookup for sockets that returns these addresses for any name. */
const lookupOf =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (host, options, callback) => {
    const [first] = addresses;
    if (!first) callback(new Refusal(`${host} has no address.`), "");
    else if (options.all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };

/** Does not wait for a lookup that ignores `signal`. Node keeps a combined signal until its last listener is removed. */
async function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const settled = new AbortController();
  const aborted = once(signal, "abort", { signal: settled.signal }).then((): never => {
    throw signal.reason;
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    settled.abort();
  }
}

const send = (
  url: URL,
  { headers, body }: WebhookRequest,
  options: RequestOptions,
): Promise<IncomingMessage> =>
  new Promise((done, fail) => {
    const request = url.protocol === "http:" ? httpRequest : httpsRequest;
    const length = Buffer.byteLength(body);
    request(url, { ...options, method: "POST", headers: { ...headers, "content-length": length } }, done)
      .on("error", fail)
      .end(body);
  });

/** Reads at most 64 kB. If the connection breaks, returns what has arrived: the status decides. */
async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MAX_READ) break;
    }
  } catch {
    // The connection broke, or the request timed out.
  }
  // A stream's decoder leaves out a character that the end cuts.
  return storableText(
    new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_KEPT), { stream: true }),
  );
}

function secondsOf(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const time = Date.parse(header);
  return Number.isNaN(time) ? null : Math.max(0, Math.ceil((time - Date.now()) / 1_000));
}

/** Does not contain the address, which would reveal the service's network to callers. */
function messageOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  const { message, code } = error as NodeJS.ErrnoException;
  if (message.includes("is not allowed")) return NOT_PUBLIC;
  return code === undefined ? "The request failed." : `The request failed: ${code}.`;
}
