import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { z } from "zod";
import { forbidden, Problem } from "../../errors.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { manifestOf, redeemManifestCode, type MadeApp } from "../../forge/github/app-from-manifest.ts";
import { html, type Html } from "../../http/reference/html.ts";
import { setSecurityHeaders } from "../../http/protocol.ts";
import { assertRoomForApp, writeApp } from "./env-file.ts";

export interface NewApp {
  readonly name: string;
  readonly url: string;
  readonly webhookUrl: string;
  /** The forge's page that makes it. */
  readonly newAppUrl: string;
  /** The forge's REST API. */
  readonly apiUrl: string;
  readonly envFile: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export const installUrlOf = (app: MadeApp): string => `${app.pageUrl}/installations/new`;

interface Ending {
  readonly resolve: (app: MadeApp | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Leads a browser on this machine through the forge's page until the App is made and its secrets are written. Gives null where it
 * was asked to end before; throws where this App's secrets cannot be had any more.
 */
export async function makeApp(
  wanted: NewApp,
  { opened, untilSignal }: { opened: (address: string) => void; untilSignal: () => Promise<void> },
): Promise<MadeApp | null> {
  const server = createServer();
  const address = await listen(server, wanted.port);
  const secrets = takeSecrets(wanted);
  try {
    return await new Promise<MadeApp | null>((resolve, reject) => {
      server.on("request", serve(wanted, address, secrets.take, { resolve, reject }));
      opened(`${address}/`);
      void untilSignal().then(async () => resolve(await secrets.taken()));
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Reached from this machine only, by the name a browser sends back. */
async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  }).catch((error: unknown) => {
    if (Object(error).code !== "EADDRINUSE") throw error;
    throw new Problem("conflict", `Port ${port} is taken. Choose another one with --port.`);
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

/** Only these end with nothing lost: the code is as good as before. */
const mayTryAgain = (error: unknown): boolean =>
  error instanceof ForgeUnavailable || (error instanceof Problem && error.kind === "conflict");

/** Exchanges the code and writes what it is exchanged for, once, however often a browser asks. */
function takeSecrets({ apiUrl, envFile }: NewApp) {
  let underWay: Promise<MadeApp> | null = null;

  async function exchange(code: string): Promise<MadeApp> {
    await assertRoomForApp(envFile);
    const app = await redeemManifestCode(apiUrl, code);
    await writeApp(envFile, app).catch((error: unknown) => {
      const why = `The App is made, but its secrets could not be written to ${envFile}`;
      throw new Problem("refused", `${why}: ${String(error)}. Delete the App, and begin again.`);
    });
    return app;
  }

  return {
    take: (code: string): Promise<MadeApp> => {
      underWay ??= exchange(code).catch((error: unknown) => {
        if (mayTryAgain(error)) underWay = null;
        throw error;
      });
      return underWay;
    },
    /** What has come of it, where it was begun. */
    taken: (): Promise<MadeApp | null> => underWay?.catch(() => null) ?? Promise.resolve(null),
  };
}

const returnedQuery = z.object({ code: z.string().regex(/^[\w.-]{1,200}$/), state: z.string() });

function serve(
  wanted: NewApp,
  address: string,
  take: (code: string) => Promise<MadeApp>,
  ending: Ending,
): RequestListener {
  const state = randomBytes(32).toString("base64url");
  const { name, url, webhookUrl, envFile } = wanted;
  const manifest = manifestOf({ name, url, webhookUrl, redirectUrl: `${address}/made` });
  const action = `${wanted.newAppUrl}?state=${state}`;
  const app = express();
  app.disable("x-powered-by");
  app.use(protect(address, new URL(action).origin));
  app.get("/", (_request, response) => {
    // The forge is told where the form comes from, which `no-referrer` would make "null".
    response.setHeader("Referrer-Policy", "origin");
    response.send(
      page(
        "Make the App",
        html`<p>
            The next page is the forge's: ${new URL(action).origin}. It makes the App ${manifest.name}, whose
            webhooks go to ${manifest.hook_attributes.url}, once you agree to it there.
          </p>
          <p>Its key and secret are then written to ${envFile} on the machine where the command runs.</p>
          <form method="post" action="${action}">
            <input type="hidden" name="manifest" value="${JSON.stringify(manifest)}" />
            <button>Go on to the forge</button>
          </form>`,
      ),
    );
  });
  app.get("/made", async (request, response) => {
    const returned = returnedQuery.safeParse(request.query);
    if (!returned.success || !isSame(returned.data.state, state)) {
      throw forbidden(
        `This is not the answer to this command's form. Nothing was done. Begin at ${address}/.`,
      );
    }
    const made = await take(returned.data.code);
    response.once("close", () => ending.resolve(made));
    response.send(
      page(
        "The App is made",
        html`<p>APP_ID, PRIVATE_KEY and WEBHOOK_SECRET are in ${envFile}.</p>
          <p>
            Next: <a href="${installUrlOf(made)}">install the App</a> for the repositories of its boards.
          </p>`,
      ),
    );
  });
  app.use(answerFailure(ending));
  return app;
}

/** No script, no other site's frame, and no other name for this machine, by which another site could read the state. */
function protect(address: string, forge: string): RequestHandler {
  const { host, port } = new URL(address);
  const hosts = [host, `127.0.0.1:${port}`];
  const policy = `default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action ${forge} ${address}`;
  return (request, response, next) => {
    setSecurityHeaders(response);
    response.set({ "Content-Security-Policy": policy, "Cache-Control": "no-store" });
    if (hosts.includes(request.headers.host ?? "")) next();
    else next(forbidden(`Open ${address}/.`));
  };
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected));

function answerFailure(ending: Ending): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const message = error instanceof Error ? error.message : "It failed.";
    if (error instanceof Problem && error.kind === "forbidden") {
      response.status(403).send(failedPage(message));
    } else if (mayTryAgain(error)) {
      response.status(503).send(failedPage(`${message} Then load this page again.`));
    } else {
      response.once("close", () => ending.reject(error));
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

const failedPage = (message: string): string => page("The App is not set up", html`<p>${message}</p>`);
