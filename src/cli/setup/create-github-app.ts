import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { z } from "zod";
import { forbidden, Problem } from "../../errors.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { manifestOf, redeemManifestCode, type CreatedApp } from "../../forge/github/app-from-manifest.ts";
import { html, type Html } from "../../http/reference/html.ts";
import { setSecurityHeaders } from "../../http/protocol.ts";
import { assertNoAppSettings, writeAppSettings } from "./env-file.ts";

/** What the command writes. */
export const APP_SETTINGS = "APP_ID, PRIVATE_KEY, WEBHOOK_SECRET, CLIENT_ID, CLIENT_SECRET and PUBLIC_URL";

export interface AppSettings {
  readonly name: string;
  readonly url: string;
  readonly webhookUrl: string;
  readonly callbackUrl: string;
  /** GitHub's page for new Apps. */
  readonly newAppUrl: string;
  /** The base URL of GitHub's REST API. */
  readonly apiUrl: string;
  readonly envFile: string;
  /** 0 selects a free port. */
  readonly port: number;
}

export const installUrlOf = (app: CreatedApp): string => `${app.pageUrl}/installations/new`;

interface Completion {
  readonly resolve: (app: CreatedApp | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates the App through GitHub's page in a browser on this machine, and writes its secrets.
 * Returns null when it is stopped before that. Throws when the secrets of this App are lost.
 */
export async function createGitHubApp(
  wanted: AppSettings,
  { onListening, untilSignal }: { onListening: (address: string) => void; untilSignal: () => Promise<void> },
): Promise<CreatedApp | null> {
  const server = createServer();
  const address = await listen(server, wanted.port);
  const exchange = createExchange(wanted);
  try {
    return await new Promise<CreatedApp | null>((resolve, reject) => {
      server.on("request", serve(wanted, address, exchange.start, { resolve, reject }));
      onListening(`${address}/`);
      void untilSignal().then(async () => resolve(await exchange.result()));
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Listens on the loopback interface, under the name that the browser is sent back to. */
async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  }).catch((error: unknown) => {
    if (Object(error).code !== "EADDRINUSE") throw error;
    throw new Problem("conflict", `Port ${port} is in use. Choose another one with --port.`);
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

/** After these errors the code can still be exchanged. */
const mayTryAgain = (error: unknown): boolean =>
  error instanceof ForgeUnavailable || (error instanceof Problem && error.kind === "conflict");

/** Exchanges the code for the App's secrets and writes them, once for all requests. */
function createExchange({ apiUrl, envFile, url }: AppSettings) {
  let running: Promise<CreatedApp> | null = null;

  async function redeem(code: string): Promise<CreatedApp> {
    await assertNoAppSettings(envFile);
    const app = await redeemManifestCode(apiUrl, code);
    await writeAppSettings(envFile, app, url).catch((error: unknown) => {
      const why = `The App was created, but its secrets could not be written to ${envFile}`;
      throw new Problem("refused", `${why}: ${String(error)}. Delete the App and start again.`);
    });
    return app;
  }

  return {
    start: (code: string): Promise<CreatedApp> => {
      running ??= redeem(code).catch((error: unknown) => {
        if (mayTryAgain(error)) running = null;
        throw error;
      });
      return running;
    },
    /** The App, or null when no exchange was started or it failed. */
    result: (): Promise<CreatedApp | null> => running?.catch(() => null) ?? Promise.resolve(null),
  };
}

const returnedQuery = z.object({ code: z.string().regex(/^[\w.-]{1,200}$/), state: z.string() });

function serve(
  wanted: AppSettings,
  address: string,
  exchange: (code: string) => Promise<CreatedApp>,
  completion: Completion,
): RequestListener {
  const state = randomBytes(32).toString("base64url");
  const { name, url, webhookUrl, callbackUrl, envFile } = wanted;
  const manifest = manifestOf({ name, url, webhookUrl, callbackUrl, redirectUrl: `${address}/made` });
  const action = `${wanted.newAppUrl}?state=${state}`;
  const app = express();
  app.disable("x-powered-by");
  app.use(protect(address, new URL(action).origin));
  app.get("/", (_request, response) => {
    // With `no-referrer` the browser would send the form with the Origin "null".
    response.setHeader("Referrer-Policy", "origin");
    response.send(
      page(
        "Create the GitHub App",
        html`<p>
            The next page is on ${new URL(action).origin}. After you confirm there, it creates the App
            ${manifest.name}, which sends its webhooks to ${manifest.hook_attributes.url}.
          </p>
          <p>Its key and secret are then written to ${envFile} on the machine where the command runs.</p>
          <form method="post" action="${action}">
            <input type="hidden" name="manifest" value="${JSON.stringify(manifest)}" />
            <button>Continue</button>
          </form>`,
      ),
    );
  });
  app.get("/made", async (request, response) => {
    const returned = returnedQuery.safeParse(request.query);
    if (!returned.success || !isEqual(returned.data.state, state)) {
      throw forbidden(
        `This request does not come from the form of this command. Nothing was changed. Start at ${address}/.`,
      );
    }
    const made = await exchange(returned.data.code);
    response.once("close", () => completion.resolve(made));
    response.send(
      page(
        "The App was created",
        html`<p>${APP_SETTINGS} are in ${envFile}.</p>
          <p>
            Next: <a href="${installUrlOf(made)}">install the App</a> for the repositories of its boards.
          </p>`,
      ),
    );
  });
  app.use(respondToFailure(completion));
  return app;
}

/**
 * Forbids scripts, frames of other sites, and other host names for this machine: with one of those
 * another site could read the state.
 */
function protect(address: string, forgeOrigin: string): RequestHandler {
  const { host, port } = new URL(address);
  const hosts = [host, `127.0.0.1:${port}`];
  const policy = `default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action ${forgeOrigin} ${address}`;
  return (request, response, next) => {
    setSecurityHeaders(response);
    response.set({ "Content-Security-Policy": policy, "Cache-Control": "no-store" });
    if (hosts.includes(request.headers.host ?? "")) next();
    else next(forbidden(`Open ${address}/.`));
  };
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const isEqual = (given: string, expected: string): boolean =>
  timingSafeEqual(digest(given), digest(expected));

function respondToFailure(completion: Completion): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const message = error instanceof Error ? error.message : "The request failed.";
    if (error instanceof Problem && error.kind === "forbidden") {
      response.status(403).send(failedPage(message));
    } else if (mayTryAgain(error)) {
      response.status(503).send(failedPage(`${message} Then load this page again.`));
    } else {
      response.once("close", () => completion.reject(error));
      response.status(502).send(failedPage(message));
    }
  };
}

const page = (title: string, content: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
      </head>
      <body>
        <h1>${title}</h1>
        ${content}
      </body>
    </html> `.markup;

const failedPage = (message: string): string => page("Setup failed", html`<p>${message}</p>`);
