import { createHash, timingSafeEqual } from "node:crypto";
import type { RequestHandler } from "express";
import { Problem } from "../errors.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Db } from "../store/db/connect.ts";
import { readQueueStatistics } from "../store/ops/queue-statistics.ts";

/** Who may read the numbers: whoever bears the token, everybody, or nobody. */
export type MetricsAccess = { readonly token: string } | "open" | "off";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Serves the numbers to Prometheus. Without a database those of the process are still told, with `trunkline_database_up 0`. */
export const serveMetrics =
  ({ db, metrics }: { readonly db: Db; readonly metrics: Metrics }, access: MetricsAccess): RequestHandler =>
  async (request, response) => {
    if (access === "off") {
      throw new Problem("not_found", "Metrics are off. Set METRICS_TOKEN to read them with it.");
    }
    if (access !== "open" && !bears(request.get("authorization"), access.token)) {
      throw new Problem("unauthenticated", "Send METRICS_TOKEN as `Authorization: Bearer <token>`.");
    }
    await askDatabase(db, metrics);
    response.set("Content-Type", metrics.registry.contentType).send(await metrics.registry.metrics());
  };

function bears(authorization: string | undefined, token: string): boolean {
  const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

async function askDatabase(db: Db, { standing }: Metrics): Promise<void> {
  const { databaseUp, ...gauges } = standing;
  try {
    const found = await readQueueStatistics(db);
    databaseUp.set(1);
    for (const [name, gauge] of Object.entries(gauges)) gauge.set(found[name as keyof typeof found]);
  } catch {
    databaseUp.set(0);
    // An old number would look like a present one.
    for (const gauge of Object.values(gauges)) gauge.set(Number.NaN);
  }
}
