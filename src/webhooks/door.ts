import type { RequestHandler } from "express";
import { invalid, Problem } from "../errors.ts";
import { whereOf } from "../forge/github/translate-delivery.ts";
import { verifyDelivery } from "../forge/github/verify-delivery.ts";
import { bytesReader } from "../http/json.ts";
import { TokenBuckets } from "../http/authenticate.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { decode } from "./decode.ts";
import type { Intake } from "./intake.ts";
import { inLane } from "./receive.ts";

/** GitHub's own cap: a larger payload is never sent (https://docs.github.com/en/webhooks/webhook-events-and-payloads). */
const readPayload = bytesReader({ limit: 25 * 1024 * 1024, inflate: false });

/**
 * How the forge's deliveries come in: nothing is parsed before its signature holds, nothing is answered before it is kept. A wrong signature is counted,
 * and told in the log once a minute: anybody can send one.
 */
export function webhookDoor(
  intake: Intake,
  secrets: readonly string[],
  { deliveries }: Pick<Metrics, "deliveries">,
): RequestHandler {
  const tellings = new TokenBuckets({ burst: 1, perSecond: 1 / 60 });
  return async (request, response) => {
    const body = await readPayload(request, response);
    const signature = request.get("x-hub-signature-256");
    if (!verifyDelivery(body, signature, secrets)) {
      deliveries.inc({ source: "webhook", result: "refused" });
      if (signature !== undefined && tellings.take("") === null)
        response.locals.log.warn("a delivery is signed with another secret than WEBHOOK_SECRET");
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
    response.statusCode = 202;
    response.json({ accepted: isNew });
  };
}
