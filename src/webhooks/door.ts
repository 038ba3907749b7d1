import express, { type RequestHandler } from "express";
import { invalid, Problem } from "../errors.ts";
import { whereOf } from "../forge/github/translate-delivery.ts";
import { verifyDelivery } from "../forge/github/verify-delivery.ts";
import { decode } from "./decode.ts";
import type { Intake } from "./intake.ts";
import { inLane } from "./receive.ts";

/** GitHub's own cap: a larger payload is never sent (https://docs.github.com/en/webhooks/webhook-events-and-payloads). */
const MAX_PAYLOAD = "25mb";

/** How the forge's deliveries come in: nothing is parsed before its signature holds, nothing is answered before it is kept. */
export function webhookDoor(intake: Intake, secrets: readonly string[]): RequestHandler[] {
  const receive: RequestHandler = async (request, response) => {
    const raw: unknown = request.body;
    const body = Buffer.isBuffer(raw) ? raw : Buffer.alloc(0);
    const signature = request.get("x-hub-signature-256");
    if (!verifyDelivery(body, signature, secrets)) {
      throw new Problem("unauthenticated", "The signature is missing or is not this App's.");
    }
    const guid = request.get("x-github-delivery");
    const event = request.get("x-github-event");
    if (!guid || !event) throw invalid("X-GitHub-Delivery and X-GitHub-Event are required.");
    const payload = decode(body);
    const where = whereOf(payload.parsed);
    const isNew = await intake.keep(
      inLane({ guid, event, payload: payload.text, source: "webhook", ...where }),
    );
    response.status(202).json({ accepted: isNew });
  };
  return [express.raw({ type: () => true, limit: MAX_PAYLOAD, inflate: false }), receive];
}
