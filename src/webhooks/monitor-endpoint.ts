import { createHmac, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { validate as isUuid } from "uuid";
import type { Deps } from "../actions/deps.ts";
import { reportError, type ErrorReport } from "../actions/report-error.ts";
import { notFound, Problem } from "../errors.ts";
import { senderOf } from "../http/authenticate.ts";
import type { HeldBodies } from "../http/held-bodies.ts";
import { bytesReader, decodePayload } from "../http/json.ts";
import { findMonitor, type Monitor } from "../store/ops/monitors.ts";
import { readReport } from "./monitor-report.ts";

const readReportBytes = bytesReader({ limit: 1024 * 1024 });
/** The events of Sentry have thousands. Parsing 1 MiB of small values would take 0.3 s. */
const MAX_VALUES = 50_000;

/**
 * Receives errors from monitors: Sentry webhooks, or plain JSON signed in the same way. The body is
 * read only if the monitor exists and the signature has the form of one. Signed reports take turns with
 * the calls of their board. Throws `too_many` if too many wait.
 */
export function monitorEndpoint(deps: Deps, bodies: HeldBodies): RequestHandler<{ monitorId: string }> {
  return async (request, response) => {
    const { monitor, signature } = await requireReportHeaders(deps, request, response);
    const report = await readSigned(bodies, request, response, { secret: monitor.secret, signature });
    const { schedule } = response.locals.limiter;
    const add = (found: ErrorReport): Promise<boolean> =>
      schedule.run(monitor.workspaceId, () => reportError(deps, monitor, found));
    response.status(202).json({ accepted: report !== null && (await add(report)) });
  };
}

/** The error in the body, or null if it contains none. Throws if the body is not signed with the secret. */
async function readSigned(
  bodies: HeldBodies,
  request: Request,
  response: Response,
  { secret, signature }: { readonly secret: string; readonly signature: string },
): Promise<ErrorReport | null> {
  const held = bodies.hold(request, response, senderOf(request));
  try {
    const body = await Promise.race([readReportBytes(request, response), held.ended]);
    if (!isSignedWith(secret, body, signature)) throw unsigned();
    return readReport(decodePayload(body, { maxValues: MAX_VALUES }).parsed, {
      resource: request.get("sentry-hook-resource"),
      requestId: request.get("request-id"),
    });
  } finally {
    held.release();
  }
}

/** Throws, and closes the connection instead of reading the body, when nothing can be verified. */
async function requireReportHeaders(
  { db }: Deps,
  request: Request<{ monitorId: string }>,
  response: Response,
): Promise<{ monitor: Monitor; signature: string }> {
  const { monitorId } = request.params;
  const signature = request.get("sentry-hook-signature") ?? "";
  const isSigned = /^[0-9a-f]{64}$/.test(signature);
  const { lookups } = response.locals.limiter;
  const isGone = (): boolean => request.socket.destroyed;
  const find = () => lookups.run(senderOf(request), () => findMonitor(db, monitorId), isGone);
  const monitor = isSigned && isUuid(monitorId) ? await find() : null;
  if (monitor) return { monitor, signature };
  response.set("Connection", "close");
  throw isSigned ? notFound("There is no monitor at this URL.") : unsigned();
}

const unsigned = (): Problem =>
  new Problem(
    "unauthenticated",
    "The signature is missing or wrong. Set Sentry-Hook-Signature to the HMAC-SHA256 of the body with the monitor's secret, in lower-case hex.",
  );

function isSignedWith(secret: string, body: Buffer, signature: string): boolean {
  const expected = createHmac("sha256", secret).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature, "hex"));
}
