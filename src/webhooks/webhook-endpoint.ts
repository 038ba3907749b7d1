import type { Request, RequestHandler, Response } from "express";
import { invalid, Problem } from "../errors.ts";
import { sourceOf } from "../forge/github/deliveries/translate-delivery.ts";
import { verifyDelivery } from "../forge/github/deliveries/verify-delivery.ts";
import { senderOf, TokenBuckets } from "../http/authenticate.ts";
import type { HeldBodies } from "../http/held-bodies.ts";
import { bytesReader, decodePayload } from "../http/json.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { laneOf } from "../store/forge/lanes.ts";
import type { Intake } from "./intake.ts";

/** GitHub sends no larger payloads (https://docs.github.com/en/webhooks/webhook-events-and-payloads). */
const MAX_PAYLOAD_BYTES = 25 * 1024 * 1024;
const readPayload = bytesReader({ limit: MAX_PAYLOAD_BYTES });

interface DeliveryHeaders {
  readonly signature: string;
  readonly guid: string;
  readonly event: string;
}

/**
 * Receives GitHub's deliveries. The body is read only if the headers are those of a delivery, and
 * parsed only after the signature is verified. A delivery that is refused for its size or
 * time is recovered from GitHub's log. The response is sent after the delivery is stored. Wrong
 * signatures are counted, and logged at most once a minute: anybody can send one.
 */
export function webhookEndpoint(
  intake: Intake,
  secrets: readonly string[],
  bodies: HeldBodies,
  { deliveries }: Pick<Metrics, "deliveries">,
): RequestHandler {
  const warnings = new TokenBuckets({ burst: 1, perSecond: 1 / 60 });
  return async (request, response) => {
    const { signature, guid, event } = requireDeliveryHeaders(request, response, deliveries);
    const held = bodies.hold(request, response, senderOf(request));
    try {
      const body = await Promise.race([readPayload(request, response), held.ended]);
      if (!verifyDelivery(body, signature, secrets)) {
        deliveries.inc({ source: "webhook", result: "refused" });
        if (warnings.take("") === null)
          response.locals.log.warn("a delivery is signed with another secret than WEBHOOK_SECRET");
        throw unsigned();
      }
      const { text: payload, parsed } = decodePayload(body);
      const lane = laneOf(sourceOf(parsed));
      const isNew = await intake.store({ guid, event, lane, payload, source: "webhook" });
      response.statusCode = 202;
      response.json({ accepted: isNew });
    } finally {
      held.release();
    }
  };
}

const unsigned = (): Problem =>
  new Problem("unauthenticated", "The signature is missing, or was not made with this App's webhook secret.");

/** Throws, and closes the connection instead of reading the body, when the headers are not those of a delivery. */
function requireDeliveryHeaders(
  request: Request,
  response: Response,
  deliveries: Metrics["deliveries"],
): DeliveryHeaders {
  const signature = request.get("x-hub-signature-256") ?? "";
  const guid = request.get("x-github-delivery") ?? "";
  const event = request.get("x-github-event") ?? "";
  const isSigned = /^sha256=[0-9a-f]{64}$/.test(signature);
  if (isSigned && /^[\w-]+$/.test(guid) && /^\w+$/.test(event)) return { signature, guid, event };
  response.set("Connection", "close");
  if (isSigned) throw invalid("X-GitHub-Delivery and X-GitHub-Event are required.");
  deliveries.inc({ source: "webhook", result: "refused" });
  throw unsigned();
}
