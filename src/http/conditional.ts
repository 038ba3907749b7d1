import type { Request } from "express";

/**
 * Lets If-None-Match count whatever Cache-Control says. Every `fetch` that is given an If-None-Match sends `no-cache` with it, meaning the caches on the
 * way; express takes that for a wish to have the whole answer again (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch).
 */
export function honourIfNoneMatch({ headers }: Request): void {
  if (headers["if-none-match"] !== undefined) delete headers["cache-control"];
}
