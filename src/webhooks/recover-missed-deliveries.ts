import type { Deps } from "../actions/deps.ts";
import type { DeliveryAttempt } from "../forge/values.ts";
import { isTranslated, sourceOf } from "../forge/github/deliveries/translate-delivery.ts";
import { readClock } from "../store/forge/installations.ts";
import { listUnknownDeliveries } from "../store/forge/deliveries.ts";
import { laneOf, addLaneJobs } from "../store/forge/lanes.ts";
import { jobProgressOf, saveJobProgress } from "../store/ops/job-progress.ts";
import { storeDeliveries } from "./intake.ts";

/** Names of the stored times: of the newest attempt that was read, and of the last reading. */
const NEWEST_READ = "delivery_log";
const READ_AT = "delivery_log_read";
/** A longer pause between two readings suggests that more was missed than the log shows. */
const MAX_PAUSE_MS = 15 * 60_000;

/** How long GitHub keeps deliveries (https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks). */
const RETENTION_MS = 3 * 24 * 3_600_000;
/**
 * GitHub logs an attempt when it ends, so a slow one is logged after newer ones. This much of the
 * log is read again.
 */
const OVERLAP_MS = 30 * 60_000;
/** Missed deliveries in memory at the same time, without payloads. */
const MAX_MISSED = 5_000;

/**
 * Reads GitHub's log of deliveries back to the previous reading, and stores the missed ones, oldest
 * first. `mayHaveMissed` is true if one was missed, or if the log was not read for a while: then more may
 * be missing than the log shows.
 */
export async function recoverMissedDeliveries(
  deps: Deps,
  maxMissed = MAX_MISSED,
): Promise<{ readonly mayHaveMissed: boolean }> {
  const lastRead = await jobProgressOf(deps.db, READ_AT);
  let isAnyMissed = false;
  const expired = new Set<string>();
  for (;;) {
    const { missed, until, isAll } = await findMissed(deps, maxMissed, expired);
    let count = 0;
    for (const attempt of missed.toReversed()) {
      if (await recover(deps, attempt)) count++;
      else expired.add(attempt.guid);
    }
    if (count > 0) deps.log.warn({ count }, "recovered deliveries that never arrived");
    if (until !== null) await saveJobProgress(deps.db, NEWEST_READ, until);
    isAnyMissed ||= missed.length > 0;
    if (isAll) break;
  }
  const now = await readClock(deps.db);
  await saveJobProgress(deps.db, READ_AT, now);
  return { mayHaveMissed: isAnyMissed || !lastRead || Date.parse(now) - lastRead.getTime() > MAX_PAUSE_MS };
}

interface Missed {
  /** Newest first. */
  readonly missed: readonly DeliveryAttempt[];
  /** The log is read up to here when these are stored. Null for an empty log. */
  readonly until: string | null;
  /** False when the limit left out newer ones. */
  readonly isAll: boolean;
}

/** Omits `expired`: deliveries whose payload GitHub no longer has. */
async function findMissed(deps: Deps, maxMissed: number, expired: ReadonlySet<string>): Promise<Missed> {
  const readBefore = await jobProgressOf(deps.db, NEWEST_READ);
  const from = Math.max(Date.now() - RETENTION_MS, (readBefore?.getTime() ?? 0) - OVERLAP_MS);
  const missed = new Map<string, DeliveryAttempt>();
  let newest: string | null = null;
  let isAll = true;
  for (let cursor: string | null = null; ;) {
    const { attempts, next } = await deps.forge.deliveryLog(cursor);
    newest ??= attempts[0]?.at ?? null;
    const inTime = attempts.filter(({ at }) => Date.parse(at) >= from);
    // Before the first reading of the log, a successful delivery was stored in an earlier database
    // of this service, so it is not missed.
    const candidates = inTime.filter(({ event, isOk }) => isTranslated(event) && !(isOk && !readBefore));
    const unknown = await listUnknownDeliveries(
      deps.db,
      candidates.map(({ guid }) => guid),
    );
    for (const attempt of candidates) {
      if (unknown.has(attempt.guid) && !expired.has(attempt.guid)) missed.set(attempt.guid, attempt);
    }
    for (const guid of missed.keys()) {
      if (missed.size <= maxMissed) break;
      missed.delete(guid);
      isAll = false;
    }
    if (next === null || inTime.length < attempts.length) break;
    cursor = next;
  }
  const kept = [...missed.values()];
  return { missed: kept, until: isAll ? newest : (kept[0]?.at ?? null), isAll };
}

async function recover(deps: Deps, { id, guid, event }: DeliveryAttempt): Promise<boolean> {
  const payload = await deps.forge.deliveredPayload(id);
  if (payload === null) return false;
  const lane = laneOf(sourceOf(JSON.parse(payload)));
  await storeDeliveries(deps, [{ guid, event, lane, payload, source: "log" }]);
  await addLaneJobs(deps.db, [lane]);
  return true;
}
