import type { Express, Request, Response } from "express";
import type { Deps } from "../../actions/deps.ts";
import { finishSignIn, problemOf, SIGN_IN_MS, startSignIn } from "../../actions/sessions/sign-in.ts";
import { signOut } from "../../actions/sessions/sign-out.ts";
import { attemptOf } from "../attempts.ts";
import { senderOf, type AuthMethod } from "../authenticate.ts";
import { CallScheduler } from "../call-scheduler.ts";
import {
  CALLBACK_PATH,
  cookieName,
  cookieOptions,
  readCookie,
  requireSignIn,
  type Console,
} from "./console.ts";
import { localPath } from "./local-path.ts";

/** A longer path is not returned to: browsers drop large cookies. */
const MAX_RETURN_TO = 2_000;
/** Sign-ins that GitHub is asked about at a time: anybody can start one. */
const FINISHING = 8;

/** Serves sign-in and sign-out. Failed sign-ins lead to the page that says why. */
export function serveSignIn(app: Express, deps: Deps, console: Console, authMethod: AuthMethod): void {
  const finishing = new CallScheduler({ running: FINISHING, boardRunning: FINISHING, boardWaiting: 256 });
  app.get("/console/sign-in", async (request, response) => {
    const elsewhere = otherHost(console, request);
    if (elsewhere !== null) return response.redirect(302, elsewhere);
    const { returnTo } = request.query;
    const path = typeof returnTo === "string" ? localPath(returnTo) : "/";
    await start(deps, console, response, path.length > MAX_RETURN_TO ? "/" : path, null);
  });
  app.get("/console/first-sign-in/:token", async (request, response) => {
    const { token } = request.params;
    const { lookups } = response.locals.limiter;
    const isGone = (): boolean => request.socket.destroyed;
    await lookups.run(senderOf(request), () => start(deps, console, response, "/", token), isGone);
  });
  app.get(CALLBACK_PATH, async (request, response) => {
    const { state, installation_id: installation, setup_action: setup } = request.query;
    // GitHub sends people here after an installation, too. That proves nothing about who they are.
    if (state === undefined && (installation !== undefined || setup !== undefined))
      await start(deps, console, response, "/", null);
    else {
      const sender = senderOf(request);
      await finishing.run(sender, () => finish(deps, console, authMethod, request, response));
    }
  });
  app.post("/console/sign-out", async (request, response) => {
    authMethod.requireOwnPage(request);
    const key = authMethod.presented(request);
    const attempt = attemptOf(deps, { request, response, params: {} }, "POST /console/sign-out");
    if (key) await signOut(deps.db, key, attempt);
    response.clearCookie(cookieName(console, "trunkline"), cookieOptions(console)).status(204).end();
  });
}

/**
 * The same page at the host to which the forge returns: the cookie of the sign-in belongs to a host,
 * and the sandbox has two, `localhost` and its address.
 */
function otherHost({ isSandbox, publicUrl }: Console, { headers, originalUrl }: Request): string | null {
  const ours = new URL(publicUrl());
  return isSandbox && headers.host === `localhost:${ours.port}` && ours.hostname !== "localhost"
    ? `${ours.origin}${originalUrl}`
    : null;
}

async function start(
  deps: Deps,
  console: Console,
  response: Response,
  returnTo: string,
  linkToken: string | null,
): Promise<void> {
  const signIn = requireSignIn(console);
  response.set("Cache-Control", "no-store");
  const redirectUri = `${console.publicUrl()}${CALLBACK_PATH}`;
  await redirectOrExplain(response, async () => {
    const { url, sealed } = await startSignIn(deps, signIn, { redirectUri, returnTo, linkToken });
    const options = { ...cookieOptions(console), maxAge: SIGN_IN_MS };
    response.cookie(cookieName(console, "trunkline-sign-in"), sealed, options);
    return url;
  });
}

async function finish(
  deps: Deps,
  console: Console,
  authMethod: AuthMethod,
  request: Request,
  response: Response,
): Promise<void> {
  const signIn = requireSignIn(console);
  const name = cookieName(console, "trunkline-sign-in");
  response.set("Cache-Control", "no-store").clearCookie(name, cookieOptions(console));
  await redirectOrExplain(response, async () => {
    const { cookie, returnTo } = await finishSignIn(deps, signIn, {
      url: new URL(request.originalUrl, console.publicUrl()),
      sealed: readCookie(request, name) ?? "",
      earlier: authMethod.presented(request) ?? null,
      attemptOf: (clientId) =>
        attemptOf(deps, { request, response, params: {} }, `GET ${CALLBACK_PATH}`, clientId),
    });
    response.cookie(cookieName(console, "trunkline"), cookie, cookieOptions(console));
    return returnTo;
  });
}

/** Redirects to what `work` returns, or to the page that says why the sign-in failed. */
async function redirectOrExplain(response: Response, work: () => Promise<string>): Promise<void> {
  try {
    response.redirect(302, await work());
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw error;
    const { message } = error as Error;
    response.locals.log.info({ problem, reason: message }, "a sign-in failed");
    response.redirect(302, `/sign-in?problem=${problem}`);
  }
}
