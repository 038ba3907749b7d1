import type { Deps } from "../actions/deps.ts";
import type { DeliveryAttempt } from "../forge/values.ts";
import { isTranslated, whereOf } from "../forge/github/deliveries/translate-delivery.ts";
import { clockOf } from "../store/forge/installations.ts";
import { listUnknown, markRepaired, repairedUntil } from "../store/forge/deliveries.ts";
import { laneOf, workLanesSoon } from "../store/forge/lanes.ts";
import { storeDeliveries } from "./intake.ts";

export const TAKE_IN_MISSED = "take-in-missed-deliveries";

const LOG = "delivery_log";
/** When the log was last read, by the database's clock. */
const WATCH = "delivery_log_read";
const GAP_MS = 15 * 60_000;

/** How long GitHub keeps what it sent (https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks). */
const KEPT_MS = 3 * 24 * 3_600_000;
/** An attempt enters the log when it ends, after later ones that were quicker: what was read is read again this far back. */
const OVERLAP_MS = 30 * 60_000;
/** Missed deliveries held in memory at once, by their names only. */
const AT_ONCE = 5_000;

/**
 * Reads the forge's own log of its deliveries back to where it was read last, and takes in what never arrived here, the oldest
 * first and as if it had just been sent. `wasAway` says that more may be missing than the log knows of: something was, or nobody has
 * looked for a while.
 */
export async function takeInMissed(deps: Deps, atOnce = AT_ONCE): Promise<{ readonly wasAway: boolean }> {
  const watched = await repairedUntil(deps.db, WATCH);
  let isAnyMissed = false;
  const lost = new Set<string>();
  for (;;) {
    const { missed, until, isAll } = await findMissed(deps, atOnce, lost);
    for (const attempt of missed.toReversed()) if (!(await takeIn(deps, attempt))) lost.add(attempt.guid);
    if (missed.length > 0) deps.log.warn({ count: missed.length }, "took in deliveries that never arrived");
    if (until !== null) await markRepaired(deps.db, LOG, until);
    isAnyMissed ||= missed.length > 0;
    if (isAll) break;
  }
  const now = await clockOf(deps.db);
  await markRepaired(deps.db, WATCH, now);
  return { wasAway: isAnyMissed || !watched || Date.parse(now) - watched.getTime() > GAP_MS };
}

interface Missed {
  /** Newest first. */
  readonly missed: readonly DeliveryAttempt[];
  /** The log has been seen to up to here once these are taken in; null where it is empty. */
  readonly until: string | null;
  /** False where there are more than can be held: those left out are newer. */
  readonly isAll: boolean;
}

/** `lost` are those whose contents the log does not hold any more. */
async function findMissed(deps: Deps, atOnce: number, lost: ReadonlySet<string>): Promise<Missed> {
  const readBefore = await repairedUntil(deps.db, LOG);
  const from = Math.max(Date.now() - KEPT_MS, (readBefore?.getTime() ?? 0) - OVERLAP_MS);
  const missed = new Map<string, DeliveryAttempt>();
  let newest: string | null = null;
  let isAll = true;
  for (let cursor: string | null = null; ;) {
    const { attempts, next } = await deps.forge.deliveryLog(cursor);
    newest ??= attempts[0]?.at ?? null;
    const inTime = attempts.filter(({ at }) => Date.parse(at) >= from);
    // Before the log was read for the first time, what another receiver took was not meant for this database.
    const candidates = inTime.filter(({ event, isOk }) => isTranslated(event) && !(isOk && !readBefore));
    const unknown = await listUnknown(
      deps.db,
      candidates.map(({ guid }) => guid),
    );
    for (const attempt of candidates) {
      if (unknown.has(attempt.guid) && !lost.has(attempt.guid)) missed.set(attempt.guid, attempt);
    }
    for (const guid of missed.keys()) {
      if (missed.size <= atOnce) break;
      missed.delete(guid);
      isAll = false;
    }
    if (next === null || inTime.length < attempts.length) break;
    cursor = next;
  }
  const kept = [...missed.values()];
  return { missed: kept, until: isAll ? newest : (kept[0]?.at ?? null), isAll };
}

async function takeIn(deps: Deps, { id, guid, event }: DeliveryAttempt): Promise<boolean> {
  const payload = await deps.forge.deliveredPayload(id);
  if (payload === null) return false;
  const lane = laneOf(whereOf(JSON.parse(payload)));
  await storeDeliveries(deps, [{ guid, event, lane, payload, source: "log" }]);
  await workLanesSoon(deps.db, [lane]);
  return true;
}
