import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { isDatabaseUnavailable, type Db } from "../store/db/connect.ts";
import type { DiskSpace } from "../store/db/disk-space.ts";
import { pendingMigrations } from "../store/db/migrate.ts";
import { readQueueStatistics } from "../store/ops/queue-statistics.ts";

/** If a job is due for longer than this, no worker runs, in seconds. */
const MAX_QUEUE_AGE = 600;

/** One condition for receiving calls. `message` is for operators and contains no secret. */
export interface Check {
  readonly name: "draining" | "database" | "disk" | "migrations" | "app_key" | "queue";
  readonly ok: boolean;
  readonly message: string;
}

interface Options {
  readonly db: Db;
  readonly log: Logger;
  /** Whether the App's private key could be parsed at startup. */
  readonly hasAppKey: boolean;
  readonly disk: Pick<DiskSpace, "isFull">;
  readonly isDraining: () => boolean;
}

/**
 * How long a result is used again, in milliseconds. Callers need no key, so that the number of calls
 * must not decide the number of queries.
 */
const MAX_AGE = 1_000;

/**
 * Reports whether this process should receive calls: responds with 200 or 503, and with all checks. A stuck
 * queue is reported but does not fail readiness: all processes would fail at the same time,
 * although they still serve reads.
 */
export function serveReadyz(options: Options): RequestHandler {
  const databaseChecks = reuse(() => checkDatabase(options));
  return async (_request, response) => {
    const checks = [...checkProcess(options), ...(await databaseChecks())];
    const isReady = checks.every(({ name, ok }) => ok || name === "queue");
    response
      .status(isReady ? 200 : 503)
      .set("Cache-Control", "no-store")
      .json({ status: isReady ? "ready" : "not ready", checks });
  };
}

/** Calls `read` if the last call has ended more than `MAX_AGE` ago. `read` must not throw. */
function reuse<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<Result> | undefined;
  let staleAt = Infinity;
  return () => {
    if (last !== undefined && performance.now() < staleAt) return last;
    staleAt = Infinity;
    last = read().finally(() => {
      staleAt = performance.now() + MAX_AGE;
    });
    return last;
  };
}

function checkProcess({ hasAppKey, isDraining, disk }: Options): Check[] {
  const draining = "This process is shutting down. Send calls to another process.";
  const appKey = hasAppKey ? "The App's private key is loaded." : "The App's private key cannot be read.";
  const isFull = disk.isFull();
  const full = "PostgreSQL has no room on its disk. Make room, or give it a larger one.";
  return [
    ...(isDraining() ? [{ name: "draining" as const, ok: false, message: draining }] : []),
    { name: "app_key", ok: hasAppKey, message: appKey },
    { name: "disk", ok: !isFull, message: isFull ? full : "PostgreSQL has room on its disk." },
  ];
}

async function checkDatabase({ db, log }: Options): Promise<Check[]> {
  const checks: Check[] = [];
  const add = (name: Check["name"], ok: boolean, message: string): void =>
    void checks.push({ name, ok, message });
  try {
    const pending = await pendingMigrations(db);
    add("database", true, "The database responds.");
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
