import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { isDatabaseUnavailable, type Db } from "../store/db/connect.ts";
import { pendingMigrations } from "../store/db/migrate.ts";
import { readQueueStatistics } from "../store/ops/queue-statistics.ts";

/** If a job is due for longer than this, no worker runs, in seconds. */
const MAX_QUEUE_AGE = 600;

/** One condition for receiving calls. `says` is a message for operators and contains no secret. */
export interface Check {
  readonly name: "draining" | "database" | "migrations" | "app_key" | "queue";
  readonly ok: boolean;
  readonly says: string;
}

interface Options {
  readonly db: Db;
  readonly log: Logger;
  /** Whether the App's private key could be parsed at startup. */
  readonly hasAppKey: boolean;
  readonly isDraining: () => boolean;
}

/**
 * Reports whether this process should receive calls: 200, or 503 with the failed checks. A stuck
 * queue is reported but does not fail readiness: all processes would fail at the same time,
 * although they still answer reads.
 */
export const serveReadiness =
  (options: Options): RequestHandler =>
  async (_request, response) => {
    const checks = await checkReadiness(options);
    const isReady = checks.every(({ name, ok }) => ok || name === "queue");
    response
      .status(isReady ? 200 : 503)
      .set("Cache-Control", "no-store")
      .json({ status: isReady ? "ready" : "not ready", checks });
  };

async function checkReadiness({ db, log, hasAppKey, isDraining }: Options): Promise<Check[]> {
  const checks: Check[] = [];
  const add = (name: Check["name"], ok: boolean, says: string): void => void checks.push({ name, ok, says });
  if (isDraining()) add("draining", false, "This process is shutting down. Send calls to another process.");
  add(
    "app_key",
    hasAppKey,
    hasAppKey ? "The App's private key is loaded." : "The App's private key cannot be read.",
  );
  try {
    const pending = await pendingMigrations(db);
    add("database", true, "The database answers.");
    add(
      "migrations",
      pending.length === 0,
      pending.length === 0 ? "The schema is up to date." : `Pending migrations: ${pending.join(", ")}.`,
    );
    if (pending.length > 0) return checks;
    const { queueDepth, queueAge } = await readQueueStatistics(db);
    const isProcessed = queueAge < MAX_QUEUE_AGE;
    const backlog = `Jobs due: ${queueDepth}, the oldest for ${Math.round(queueAge)} seconds.`;
    add("queue", isProcessed, isProcessed ? backlog : `${backlog} No worker processes them.`);
  } catch (error) {
    log.warn({ err: error }, "readiness could not be read from the database");
    add(
      "database",
      false,
      isDatabaseUnavailable(error) ? "The database cannot be reached." : "The database refuses queries.",
    );
  }
  return checks;
}
