import express, { type Express, type Request, type Response } from "express";
import type { Console } from "./console.ts";

const GITHUB = "https://github.com";

/** GitHub serves avatars from another host, an Enterprise Server from its only one. */
const avatarHost = (forgeUrl: string): string =>
  forgeUrl === GITHUB ? "https://avatars.githubusercontent.com" : new URL(forgeUrl).origin;

const policyOf = (forgeUrl: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' ${avatarHost(forgeUrl)}`,
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Paths of the API, also those that no route has. */
const API_PATHS = /^\/(?:v1|console|api|docs|monitors|healthz|readyz|metrics)(?:\/|$)/;
const ASSETS = /^\/assets\//;

const NOT_BUILT =
  "The console is not built. Run `npm run build` in the folder of the service, and load this page again.\n";

/**
 * Serves the built files of the console. All other pages are `index.html`, whose program reads the
 * path.
 */
export function servePages(app: Express, { pagesFolder, forgeUrl }: Console): void {
  const policy = policyOf(forgeUrl);
  const files = express.static(pagesFolder, {
    index: false,
    redirect: false,
    cacheControl: false,
    setHeaders(response: Response) {
      response.locals.isRoutine = true;
      setPageHeaders(response, policy, ASSETS.test(response.req.path));
    },
  });
  app.use((request, response, next) => {
    // The page itself is sent below, to callers that ask for HTML.
    if (API_PATHS.test(request.path) || request.path === "/index.html") next();
    else files(request, response, next);
  });
  app.use((request, response, next) => {
    if (!isPage(request)) next();
    else sendPage(response, pagesFolder, policy);
  });
}

/** Programs that call an unknown path get a 404: they do not ask for HTML by name. */
const isPage = ({ method, path, headers }: Request): boolean =>
  (method === "GET" || method === "HEAD") &&
  /\btext\/html\b/.test(headers.accept ?? "") &&
  !API_PATHS.test(path) &&
  !ASSETS.test(path);

function sendPage(response: Response, folder: string, policy: string): void {
  setPageHeaders(response, policy, false);
  response.vary("Accept");
  response.sendFile("index.html", { root: folder, cacheControl: false }, (error?: Error) => {
    if (!error || response.headersSent) return;
    response.status(503).type("text").send(NOT_BUILT);
  });
}

/** The names of assets contain a digest of their content, so they never change. */
function setPageHeaders(response: Response, policy: string, isAsset: boolean): void {
  response.set("Content-Security-Policy", policy);
  response.set("Cache-Control", isAsset ? "public, max-age=31536000, immutable" : "no-cache");
}
