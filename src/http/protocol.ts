import type { Request, Express, RequestHandler, Response } from "express";
import { invalid, Problem } from "../errors.ts";

const MAX_ADDRESS = 8 * 1024;
/** Headers that must not repeat: Node.js would silently take the first value or join all values. */
const SINGLE = ["authorization", "idempotency-key", "x-service-workspace", "content-type"];

/** Refuses repeated headers and an address that is too long. */
export function requireUnambiguous(request: Request): void {
  if (request.url.length > MAX_ADDRESS) {
    throw new Problem("address_too_long", `The address is longer than ${MAX_ADDRESS / 1024} kB.`);
  }
  // Usually no header repeats. `headersDistinct` is expensive.
  if (request.rawHeaders.length === 2 * Object.keys(request.headers).length) return;
  for (const name of SINGLE) {
    const count = request.headersDistinct[name]?.length ?? 0;
    if (count > 1) throw invalid(`The header ${name} was sent ${count} times. Send it once.`);
  }
}

/**
 * Responds to other methods on all routes registered so far with 405 and `Allow`, and OPTIONS with 204.
 */
export function refuseOtherMethods(app: Express): void {
  const methodsOf = new Map<string, string[]>();
  for (const { route } of app.router.stack) {
    if (!route) continue;
    const methods = route.stack.map(({ method }) => method.toUpperCase());
    methodsOf.set(route.path, [...(methodsOf.get(route.path) ?? []), ...methods]);
  }
  for (const [path, methods] of methodsOf) app.route(path).all(allowOnly(new Set(methods)));
}

function allowOnly(methods: Set<string>): RequestHandler {
  if (methods.has("GET")) methods.add("HEAD");
  const allowed = [...methods].toSorted().join(", ");
  return (request, response) => {
    response.set("Allow", allowed);
    if (request.method !== "OPTIONS")
      throw new Problem("method_not_allowed", `${request.path} allows ${allowed}, not ${request.method}.`);
    response.status(204).end();
  };
}

/**
 * Ignores Cache-Control on conditional requests: `fetch` adds `no-cache` to every If-None-Match,
 * and Express then never returns 304 (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch).
 */
export function ignoreCacheControlOnConditional({ headers }: Request): void {
  if (headers["if-none-match"] !== undefined) delete headers["cache-control"];
}

/** Responses are data: browsers must not run, frame or sniff them, or send a referrer. */
const HEADERS = Object.entries({
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
});

/** Sets headers on every response; a page may override them. HSTS is set by the TLS proxy. */
export function setSecurityHeaders(response: Response): void {
  for (const [name, value] of HEADERS) response.setHeader(name, value);
}
