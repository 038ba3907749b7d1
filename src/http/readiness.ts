import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { isDatabaseAway, type Db } from "../store/db/connect.ts";
import { pendingMigrations } from "../store/db/migrate.ts";
import { readQueueStatistics } from "../store/ops/queue-statistics.ts";

/** Due jobs that nobody takes for this long say that no worker works, in seconds. */
const LONGEST_QUEUE_AGE = 600;

/** One thing a process must have to be sent calls. `says` is for whoever looks at it, and holds no secret. */
export interface Check {
  readonly name: "draining" | "database" | "migrations" | "app_key" | "queue";
  readonly ok: boolean;
  readonly says: string;
}

interface ReadinessOf {
  readonly db: Db;
  readonly log: Logger;
  /** Whether the App's private key is one, as was found at the start. */
  readonly hasAppKey: boolean;
  readonly isDraining: () => boolean;
}

/**
 * Answers whether this process should be sent calls: 200, or 503 with what is missing. Work left lying is told, and keeps no process from being sent
 * calls: all would say so at once, and reads are answered all the same.
 */
export const serveReadiness =
  (of: ReadinessOf): RequestHandler =>
  async (_request, response) => {
    const checks = await checkReadiness(of);
    const isReady = checks.every(({ name, ok }) => ok || name === "queue");
    response
      .status(isReady ? 200 : 503)
      .set("Cache-Control", "no-store")
      .json({ status: isReady ? "ready" : "not ready", checks });
  };

async function checkReadiness({ db, log, hasAppKey, isDraining }: ReadinessOf): Promise<Check[]> {
  const checks: Check[] = [];
  const say = (name: Check["name"], ok: boolean, says: string): void => void checks.push({ name, ok, says });
  if (isDraining()) say("draining", false, "This process is ending: send calls elsewhere.");
  say(
    "app_key",
    hasAppKey,
    hasAppKey ? "The App's private key is loaded." : "The App's private key cannot be read.",
  );
  try {
    const pending = await pendingMigrations(db);
    say("database", true, "The database answers.");
    say(
      "migrations",
      pending.length === 0,
      pending.length === 0 ? "The schema is up to date." : `Not yet applied: ${pending.join(", ")}.`,
    );
    if (pending.length > 0) return checks;
    const { queueDepth, queueAge } = await readQueueStatistics(db);
    const isWorked = queueAge < LONGEST_QUEUE_AGE;
    const backlog = `Jobs due: ${queueDepth}, the oldest for ${Math.round(queueAge)} seconds`;
    say("queue", isWorked, isWorked ? `${backlog}.` : `${backlog}: no worker takes them.`);
  } catch (error) {
    log.warn({ err: error }, "the database cannot be asked whether this process is ready");
    say(
      "database",
      false,
      isDatabaseAway(error) ? "The database cannot be reached." : "The database cannot be asked.",
    );
  }
  return checks;
}
