import type { Deps } from "../actions/deps.ts";
import { handleEvent } from "../actions/events/handle-event.ts";
import { MAX_CRASHES } from "../actions/lease.ts";
import { ForgeLimited, ForgeUnavailable } from "../forge/values.ts";
import { translateDelivery } from "../forge/github/deliveries/translate-delivery.ts";
import { findConversation } from "../store/events/conversations.ts";
import {
  countCrashes,
  hasDeferred,
  deferDelivery,
  markDeliveryFailed,
  nextDeliveries,
  requeueDeferred,
  type Delivery,
} from "../store/forge/deliveries.ts";
import { unlockDeadWorkers, listQueuesOfDeadWorkers, mayUnlockDeadWorkers } from "../store/ops/instances.ts";
import { recordWebhookTime } from "../store/forge/repositories.ts";
import { transaction } from "../store/db/transaction.ts";
import { JOBS, schedule } from "../store/jobs.ts";

/** After this many failures a delivery is parked, so that it no longer blocks later ones. */
const MAX_ATTEMPTS = 8;
/**
 * The limit while GitHub is unreachable, when no other delivery of the lane could be processed
 * either. This many attempts take most of a day.
 */
const MAX_ATTEMPTS_IN_OUTAGE = 200;
const MAX_RETRY_MS = 300_000;
/** Limit for the payloads of one read, in bytes: each may have 25 MB. */
const MAX_BYTES = 1_000_000;
/** A lane with more deliveries yields to those that wait for a worker after this time, in milliseconds. */
const TURN_MS = 250;

/**
 * Processes the waiting deliveries of a lane in the order received, for one turn: a lane with a
 * backlog then waits behind other lanes for the next one. A failure ends the run and is retried after a
 * growing pause. Deliveries are read in batches, and a batch is marked as processed
 * when the next one is read: a round trip for each would compete with storing deliveries.
 */
export async function processLane(deps: Deps, lane: string): Promise<void> {
  const run: LaneRun = { lane, processed: [], lastWebhook: null, endsAt: performance.now() + TURN_MS };
  let maxBytes = MAX_BYTES;
  let nextStep: NextStep = "continue";
  while (nextStep !== "end") {
    const batch = await nextDeliveries(deps.db, lane, run.processed.splice(0), maxBytes);
    if (batch.length === 0) break;
    if (isTurnOver(run)) {
      await schedule(deps.db, JOBS.processLane, { lane }, { delayMs: 0 });
      break;
    }
    // A process death counts against the oldest delivery of a batch, but another one may have
    // caused it. In batches of one the right delivery is counted.
    if (batch.some(({ crashes }) => crashes > 0)) maxBytes = 0;
    nextStep = await processInOrder(deps, run, maxBytes === 0 ? batch.slice(0, 1) : batch);
  }
  if (run.lastWebhook) await recordWebhookTime(deps.db, run.lastWebhook.repositoryId, run.lastWebhook.at);
}

interface LaneRun {
  readonly lane: string;
  /** Deliveries that are processed and not yet marked. */
  readonly processed: string[];
  /** Stored once per run. */
  lastWebhook: { readonly repositoryId: number; readonly at: Date } | null;
  /** When its turn is over, on the monotonic clock. */
  readonly endsAt: number;
}

const isTurnOver = ({ endsAt }: LaneRun): boolean => performance.now() > endsAt;

/** What to do after a delivery. */
type NextStep = "continue" | "read again" | "end";

async function processInOrder(deps: Deps, run: LaneRun, batch: readonly Delivery[]): Promise<NextStep> {
  for (const delivery of batch) {
    const log = deps.log.child({ delivery: delivery.guid, event: delivery.event });
    const nextStep = await processOne({ ...deps, log }, run, delivery).catch((error: unknown) =>
      retryLater({ ...deps, log }, run, delivery, error),
    );
    if (nextStep !== "continue") return nextStep;
    // The next read marks what is processed.
    if (isTurnOver(run)) return "read again";
  }
  return "continue";
}

async function processOne(deps: Deps, run: LaneRun, delivery: Delivery): Promise<NextStep> {
  const { db, log } = deps;
  const { guid, event, payload, source, receivedAt } = delivery;
  const { deliveryEvent, repositoryId, reason } = translateDelivery(event, JSON.parse(payload));
  if (reason !== undefined) log.warn({ reason }, "a delivery could not be read");
  const pull = await handleEvent(deps, deliveryEvent);
  if (pull?.isDeferred) await deferDelivery(db, guid, pull.number);
  // Requeues deferred deliveries if this event, or another process in the meantime, has made the
  // pull request known. Otherwise they would wait for the next event.
  const isRequeued =
    pull !== null &&
    (await hasDeferred(db, run.lane, pull.number)) &&
    (await findConversation(db, pull.repositoryId, pull.number)) !== null &&
    (await requeueDeferred(db, run.lane, pull.number)) > 0;
  if (!pull?.isDeferred) run.processed.push(guid);
  if (source === "webhook" && repositoryId !== null) run.lastWebhook = { repositoryId, at: receivedAt };
  // Requeued deliveries are older than the rest.
  return isRequeued ? "read again" : "continue";
}

/** Schedules the lane again, or parks a delivery that has failed too often and continues. */
async function retryLater(deps: Deps, run: LaneRun, delivery: Delivery, error: unknown): Promise<NextStep> {
  const { db, log } = deps;
  const { guid, attempts } = delivery;
  const isLimited = error instanceof ForgeLimited;
  const { parked } = await markDeliveryFailed(db, {
    guid,
    error: error instanceof Error ? error.message : String(error),
    counted: isLimited ? 0 : 1,
    maxAttempts: error instanceof ForgeUnavailable ? MAX_ATTEMPTS_IN_OUTAGE : MAX_ATTEMPTS,
    processed: run.processed.splice(0),
  });
  if (parked) {
    log.error({ err: error }, "a delivery failed too often and was parked");
    return "continue";
  }
  log.warn({ err: error, attempts: attempts + 1 }, "a delivery failed and will be retried");
  const pauseMs = isLimited ? error.retryAfter * 1_000 : Math.min(1000 * 2 ** attempts, MAX_RETRY_MS);
  await schedule(db, JOBS.processLane, { lane: run.lane }, { delayMs: pauseMs });
  return "end";
}

/**
 * Unlocks the jobs of dead processes. A delivery during which processes crashed repeatedly is
 * parked, so that it does not block its lane or the service.
 */
export async function unlockDeadJobs({ db, log }: Deps, graceSeconds?: number): Promise<void> {
  const lanes = await listQueuesOfDeadWorkers(db, JOBS.processLane.name, graceSeconds);
  if (lanes.length === 0) return unlockDeadWorkers(db, graceSeconds);
  const parked = await transaction(db, async (trx) => {
    if (!(await mayUnlockDeadWorkers(trx))) return [];
    const counted = await countCrashes(
      trx,
      await listQueuesOfDeadWorkers(trx, JOBS.processLane.name, graceSeconds),
      MAX_CRASHES,
    );
    await unlockDeadWorkers(trx, graceSeconds);
    return counted;
  });
  for (const delivery of parked) log.error({ delivery }, "a delivery was parked after repeated crashes");
}
