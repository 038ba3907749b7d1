import type { RequestHandler } from "express";

/**
 * Lets If-None-Match count whatever Cache-Control says. Every `fetch` that is given an If-None-Match sends `no-cache` with it, meaning the caches on the
 * way; express takes that for a wish to have the whole answer again (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch).
 */
export const honourIfNoneMatch: RequestHandler = (request, _response, next) => {
  if (request.headers["if-none-match"] !== undefined) delete request.headers["cache-control"];
  next();
};
