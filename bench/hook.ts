import { createHmac } from "node:crypto";

/** The webhook secret of a bench run, given to the floors by their environment. */
const secret = (): string => process.env["BENCH_HOOK_SECRET"] ?? "";

/** How GitHub signs a delivery. */
export const hookSignature = (body: Buffer | string): string =>
  `sha256=${createHmac("sha256", secret()).update(body).digest("hex")}`;
