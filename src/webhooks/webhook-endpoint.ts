import type { Request, RequestHandler, Response } from "express";
import { invalid, Problem } from "../errors.ts";
import { sourceOf } from "../forge/github/deliveries/translate-delivery.ts";
import { verifyDelivery } from "../forge/github/deliveries/verify-delivery.ts";
import { bytesReader, decodePayload } from "../http/json.ts";
import { TokenBuckets } from "../http/authenticate.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { laneOf } from "../store/forge/lanes.ts";
import type { Intake } from "./intake.ts";

/** GitHub sends no larger payloads (https://docs.github.com/en/webhooks/webhook-events-and-payloads). */
const MAX_PAYLOAD_BYTES = 25 * 1024 * 1024;
/**
 * Bytes of payloads that one process keeps in memory. A delivery that is refused above this limit
 * is recovered from GitHub's log.
 */
const MAX_BYTES_IN_FLIGHT = 32 * 1024 * 1024;
const readPayload = bytesReader({ limit: MAX_PAYLOAD_BYTES, inflate: false });

interface DeliveryHeaders {
  readonly signature: string;
  readonly guid: string;
  readonly event: string;
}

/**
 * Receives GitHub's deliveries. The body is read only if the headers are those of a delivery, and
 * parsed only after the signature is verified. The response is sent after the
 * delivery is stored. Wrong signatures are counted, and logged at most once a minute: anybody can
 * send one.
 */
export function webhookEndpoint(
  intake: Intake,
  secrets: readonly string[],
  { deliveries }: Pick<Metrics, "deliveries">,
): RequestHandler {
  const warnings = new TokenBuckets({ burst: 1, perSecond: 1 / 60 });
  const bytesInFlight = new ByteBudget(MAX_BYTES_IN_FLIGHT);
  return async (request, response) => {
    const { signature, guid, event } = requireDeliveryHeaders(request, response, deliveries);
    const bytes = bytesInFlight.count(request, response);
    try {
      const body = await Promise.race([readPayload(request, response), bytes.exceeded]);
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
      bytes.release();
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

/** The bytes of request bodies that a process holds at the same time. */
class ByteBudget {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Counts the bytes of a request's body as they arrive. `exceeded` rejects when they are more than
   * the process may hold; `release` gives them back.
   */
  count(request: Request, response: Response): { exceeded: Promise<never>; release: () => void } {
    let counted = 0;
    const exceeded = new Promise<never>((_, reject) => {
      request.on("data", (chunk: Buffer) => {
        counted += chunk.length;
        this.#used += chunk.length;
        if (this.#used <= this.#limit) return;
        response.set("Connection", "close");
        request.pause();
        reject(
          new Problem("unavailable", "Too many deliveries arrive at the same time. Send this one again.", {
            retryAfter: 1,
          }),
        );
      });
    });
    // Prevents an unhandled rejection if the body was read before the limit was exceeded.
    exceeded.catch(() => undefined);
    return {
      exceeded,
      release: () => {
        this.#used -= counted;
        counted = 0;
      },
    };
  }
}
