import type { Deps } from "../actions/deps.ts";
import { handleEvent } from "../actions/events/handle-event.ts";
import { MAX_DEATHS } from "../actions/moves/resume-move.ts";
import { ForgeUnavailable } from "../forge/values.ts";
import { translateDelivery } from "../forge/github/deliveries/translate-delivery.ts";
import { findConversation } from "../store/events/conversations.ts";
import {
  countDeaths,
  isAnyDeferred,
  deferDelivery,
  markFailed,
  nextDeliveries,
  reopenDeferred,
  type Delivery,
} from "../store/forge/deliveries.ts";
import { freeDeadWorkers, listDeadQueues, seeToDeadAlone } from "../store/ops/instances.ts";
import { WORK_LANE, workLaneLater } from "../store/forge/lanes.ts";
import { noteWebhook } from "../store/forge/repositories.ts";
import { transaction } from "../store/db/transaction.ts";

/** After this many failures a delivery is parked, so that it no longer blocks those behind it. */
const MAX_ATTEMPTS = 8;
/**
 * While the forge cannot be reached no other delivery of the lane could be worked either: this many
 * tries take most of a day.
 */
const MAX_ATTEMPTS_IN_OUTAGE = 200;
const LONGEST_WAIT_MS = 300_000;
/** The most octets that payloads read at once have together: each may have 25 MB. */
const MOST_OCTETS = 1_000_000;

/**
 * Works the deliveries that wait in a lane, in the order received. A failure ends the run and is
 * retried later, after growing pauses. Several deliveries are read at once and marked when the next
 * are read: a round trip each competes with storing deliveries.
 */
export async function workLane(deps: Deps, lane: string): Promise<void> {
  const run: Run = { lane, worked: [], lastWebhook: null };
  let mostOctets = MOST_OCTETS;
  let next: Next = "continue";
  while (next !== "end") {
    const taken = await nextDeliveries(deps.db, lane, run.worked.splice(0), mostOctets);
    if (taken.length === 0) break;
    // A process's death counts against the oldest delivery, and may be due to one read with it: one
    // by one the right one is counted.
    if (taken.some(({ deaths }) => deaths > 0)) mostOctets = 0;
    next = await workInOrder(deps, run, mostOctets === 0 ? taken.slice(0, 1) : taken);
  }
  if (run.lastWebhook) await noteWebhook(deps.db, run.lastWebhook.repositoryId, run.lastWebhook.at);
}

interface Run {
  readonly lane: string;
  /** Deliveries that are worked and not marked yet. */
  readonly worked: string[];
  /** Noted once a run, however many webhooks there were. */
  lastWebhook: { readonly repositoryId: number; readonly at: Date } | null;
}

/**
 * What follows a delivery: the next one that was read; reading the lane again; or, for the time
 * being, nothing.
 */
type Next = "continue" | "read again" | "end";

async function workInOrder(deps: Deps, run: Run, taken: readonly Delivery[]): Promise<Next> {
  for (const delivery of taken) {
    const log = deps.log.child({ delivery: delivery.guid, event: delivery.event });
    const next = await workOne({ ...deps, log }, run, delivery).catch((error: unknown) =>
      retryLater({ ...deps, log }, run, delivery, error),
    );
    if (next !== "continue") return next;
  }
  return "continue";
}

async function workOne(deps: Deps, run: Run, delivery: Delivery): Promise<Next> {
  const { db, log } = deps;
  const { guid, event, payload, source, receivedAt } = delivery;
  const { deliveryEvent, repositoryId, reason } = translateDelivery(event, JSON.parse(payload));
  if (reason !== undefined) log.warn({ reason }, "a delivery could not be read");
  const pull = await handleEvent(deps, deliveryEvent);
  if (pull?.isDeferred) await deferDelivery(db, guid, pull.number);
  // It is known by now by this event, or was made known between the look for it and the mark:
  // nobody else reopens them before the next.
  const isReopened =
    pull !== null &&
    (await isAnyDeferred(db, run.lane, pull.number)) &&
    (await findConversation(db, pull.repositoryId, pull.number)) !== null &&
    (await reopenDeferred(db, run.lane, pull.number)) > 0;
  if (!pull?.isDeferred) run.worked.push(guid);
  if (source === "webhook" && repositoryId !== null) run.lastWebhook = { repositoryId, at: receivedAt };
  // What is reopened is older than the rest.
  return isReopened ? "read again" : "continue";
}

/**
 * After a failure: the lane is worked again later, or continues without a delivery that has failed
 * too often.
 */
async function retryLater(deps: Deps, run: Run, delivery: Delivery, error: unknown): Promise<Next> {
  const { db, log } = deps;
  const { guid, attempts } = delivery;
  const { parked } = await markFailed(db, {
    guid,
    error: error instanceof Error ? error.message : String(error),
    maxAttempts: error instanceof ForgeUnavailable ? MAX_ATTEMPTS_IN_OUTAGE : MAX_ATTEMPTS,
    worked: run.worked.splice(0),
  });
  if (parked) {
    log.error({ err: error }, "a delivery failed too often and is set aside");
    return "continue";
  }
  log.warn({ err: error, attempts: attempts + 1 }, "a delivery failed and will be tried again");
  await workLaneLater(db, run.lane, Math.min(1000 * 2 ** attempts, LONGEST_WAIT_MS));
  return "end";
}

/**
 * Frees the jobs of dead processes, those of lanes among them. A delivery with which processes died
 * again and again may be the cause: it is parked, so that neither its lane nor the service waits
 * for it for ever.
 */
export async function freeDead({ db, log }: Deps, graceSeconds?: number): Promise<void> {
  const lanes = await listDeadQueues(db, WORK_LANE, graceSeconds);
  if (lanes.length === 0) return freeDeadWorkers(db, graceSeconds);
  const parked = await transaction(db, async (trx) => {
    if (!(await seeToDeadAlone(trx))) return [];
    const counted = await countDeaths(trx, await listDeadQueues(trx, WORK_LANE, graceSeconds), MAX_DEATHS);
    await freeDeadWorkers(trx, graceSeconds);
    return counted;
  });
  for (const delivery of parked)
    log.error({ delivery }, "a delivery ended the process working it each time and is set aside");
}
