import { createHmac } from "node:crypto";

/** The key of all deliveries. It protects nothing: the database and the forge exist for one run. */
export const WEBHOOK_SECRET = "the webhook secret of the benchmark";

/** Returns the value of `X-Hub-Signature-256` for a delivery. */
export const webhookSignature = (body: Buffer | string): string =>
  `sha256=${createHmac("sha256", WEBHOOK_SECRET).update(body).digest("hex")}`;
