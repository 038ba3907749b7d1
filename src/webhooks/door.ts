import type { RequestHandler } from "express";
import { invalid, Problem } from "../errors.ts";
import { whereOf } from "../forge/github/deliveries/translate-delivery.ts";
import { verifyDelivery } from "../forge/github/deliveries/verify-delivery.ts";
import { bytesReader, decodePayload } from "../http/json.ts";
import { TokenBuckets } from "../http/authenticate.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { laneOf } from "../store/forge/lanes.ts";
import type { Intake } from "./intake.ts";

/** GitHub sends no larger payloads (https://docs.github.com/en/webhooks/webhook-events-and-payloads). */
const readPayload = bytesReader({ limit: 25 * 1024 * 1024, inflate: false });

/**
 * Receives GitHub's deliveries. The signature is verified before anything is parsed, and the answer
 * is sent after the delivery is stored. Wrong signatures are counted, and logged at most once a
 * minute: anybody can send one.
 */
export function webhookDoor(
  intake: Intake,
  secrets: readonly string[],
  { deliveries }: Pick<Metrics, "deliveries">,
): RequestHandler {
  const warnings = new TokenBuckets({ burst: 1, perSecond: 1 / 60 });
  return async (request, response) => {
    const body = await readPayload(request, response);
    const signature = request.get("x-hub-signature-256");
    if (!verifyDelivery(body, signature, secrets)) {
      deliveries.inc({ source: "webhook", result: "refused" });
      if (signature !== undefined && warnings.take("") === null)
        response.locals.log.warn("a delivery is signed with another secret than WEBHOOK_SECRET");
      throw new Problem(
        "unauthenticated",
        "The signature is missing, or was not made with this App's webhook secret.",
      );
    }
    const guid = request.get("x-github-delivery");
    const event = request.get("x-github-event");
    if (!guid || !event) throw invalid("X-GitHub-Delivery and X-GitHub-Event are required.");
    const { text: payload, parsed } = decodePayload(body);
    const lane = laneOf(whereOf(parsed));
    const isNew = await intake.keep({ guid, event, lane, payload, source: "webhook" });
    response.statusCode = 202;
    response.json({ accepted: isNew });
  };
}
