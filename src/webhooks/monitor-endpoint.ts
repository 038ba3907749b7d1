import { createHmac, timingSafeEqual } from "node:crypto";
import express, { type RequestHandler } from "express";
import { validate as isUuid } from "uuid";
import type { Deps } from "../actions/deps.ts";
import { reportError } from "../actions/report-error.ts";
import { notFound, Problem } from "../errors.ts";
import { decodePayload } from "../http/json.ts";
import { findMonitor } from "../store/ops/monitors.ts";
import { readReport } from "./monitor-report.ts";

const MAX_REPORT = "1mb";

/** Receives errors from monitors: Sentry webhooks, or plain JSON signed in the same way. */
export function monitorEndpoint(deps: Deps): RequestHandler[] {
  const receive: RequestHandler<{ monitorId: string }> = async (request, response) => {
    const { monitorId } = request.params;
    const monitor = isUuid(monitorId) ? await findMonitor(deps.db, monitorId) : null;
    if (!monitor) throw notFound("There is no monitor at this URL.");
    const raw: unknown = request.body;
    const body = Buffer.isBuffer(raw) ? raw : Buffer.alloc(0);
    if (!isSignedWith(monitor.secret, body, request.get("sentry-hook-signature"))) {
      throw new Problem(
        "unauthenticated",
        "The signature is missing or wrong. Set Sentry-Hook-Signature to the HMAC-SHA256 of the body with the monitor's secret, in lower-case hex.",
      );
    }
    const report = readReport(decodePayload(body).parsed, {
      resource: request.get("sentry-hook-resource"),
      requestId: request.get("request-id"),
    });
    const accepted = report !== null && (await reportError(deps, monitor, report));
    response.status(202).json({ accepted });
  };
  return [
    express.raw({ type: () => true, limit: MAX_REPORT, inflate: false }),
    // Express types the first handler for the parameters of any path.
    receive as RequestHandler,
  ];
}

function isSignedWith(secret: string, body: Buffer, signature: string | undefined): boolean {
  const expected = Buffer.from(createHmac("sha256", secret).update(body).digest("hex"), "utf8");
  const given = Buffer.from(signature ?? "", "utf8");
  return expected.length === given.length && timingSafeEqual(expected, given);
}
