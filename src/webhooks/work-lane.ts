import type { Deps } from "../actions/deps.ts";
import type { PullRequestEvent } from "../forge/events.ts";
import { ForgeUnavailable } from "../forge/forge.ts";
import {
  isAwaited,
  markFailed,
  markAwaiting,
  nextDeliveries,
  reopenAwaiting,
  type Delivery,
} from "../store/forge/deliveries.ts";
import { noteWebhook } from "../store/forge/repositories.ts";
import { handleEvent, isHeard, type Said } from "./handle-event.ts";
import { workLaneLater } from "./receive.ts";
import { translateDelivery, type TranslatedDelivery } from "../forge/github/translate-delivery.ts";

/** After this many failures a delivery is set aside, so that it no longer holds up what came after it. */
const MAX_ATTEMPTS = 8;
/** While the forge is away nothing else in the lane could be worked either: it is waited for, most of a day long. */
const MAX_ATTEMPTS_IN_OUTAGE = 200;
const LONGEST_WAIT_MS = 300_000;
/** So long are payloads that are taken at once together, at most: each may have 25 MB. */
const MOST_OCTETS = 1_000_000;

/**
 * Works off what waits in a lane, in the order received. A failure ends the run and is tried again, later each time. Several are taken at once, and marked
 * when the next are: a round trip each competes with taking deliveries in.
 */
export async function workLane(deps: Deps, lane: string): Promise<void> {
  const run: Run = { lane, worked: [], sent: null };
  let mostOctets = MOST_OCTETS;
  let then: Then = "go on";
  while (then !== "end") {
    const taken = await nextDeliveries(deps.db, lane, run.worked.splice(0), mostOctets);
    if (taken.length === 0) break;
    // A process's death is blamed on the oldest that waits, and may be due to one taken with it: one by one the next is blamed on the right one.
    if (taken.some(({ deaths }) => deaths > 0)) mostOctets = 0;
    then = await workInTurn(deps, run, mostOctets === 0 ? taken.slice(0, 1) : taken);
  }
  if (run.sent) await noteWebhook(deps.db, run.sent.repositoryId, run.sent.at);
}

interface Run {
  readonly lane: string;
  /** Those worked that are not marked yet. */
  readonly worked: string[];
  /** Its last webhook. A run notes it once, however many there were. */
  sent: { readonly repositoryId: number; readonly at: Date } | null;
}

/** What comes after a delivery: the next that was taken; whichever is the oldest now; or, for the time being, nothing. */
type Then = "go on" | "look again" | "end";

async function workInTurn(deps: Deps, run: Run, taken: readonly Delivery[]): Promise<Then> {
  for (const delivery of taken) {
    const log = deps.log.child({ delivery: delivery.guid, event: delivery.event });
    const then = await workOne({ ...deps, log }, run, delivery);
    if (then !== "go on") return then;
  }
  return "go on";
}

async function workOne(deps: Deps, run: Run, delivery: Delivery): Promise<Then> {
  try {
    const { repositoryId, deliveryEvent, early } = await workDelivery(deps, delivery);
    const pullRequest = deliveryEvent.type === "pull_request" ? deliveryEvent : null;
    if (early) await markAwaiting(deps.db, delivery.guid, early.number);
    const known = early ?? pullRequest;
    const isReopened = known !== null && (await reopenHeard(deps, run.lane, known));
    if (!early) run.worked.push(delivery.guid);
    if (delivery.source === "webhook" && repositoryId !== null)
      run.sent = { repositoryId, at: delivery.receivedAt };
    // It is older than the rest.
    return isReopened ? "look again" : "go on";
  } catch (error) {
    return putOff(deps, run, delivery, error);
  }
}

async function workDelivery(
  deps: Deps,
  delivery: Delivery,
): Promise<TranslatedDelivery & { readonly early: Said | null }> {
  const translated = translateDelivery(delivery.event, JSON.parse(delivery.payload));
  const { deliveryEvent, reason } = translated;
  if (reason !== undefined) deps.log.warn({ reason }, "a delivery could not be read");
  return { ...translated, early: await handleEvent(deps, deliveryEvent) };
}

/**
 * Lets what was said on a pull request be worked again where that is known by now: by this event, or between the look for it and the mark of what was
 * said. Then nobody else does, or not before what comes next.
 */
async function reopenHeard(deps: Deps, lane: string, event: Said | PullRequestEvent): Promise<boolean> {
  const { db } = deps;
  if (!(await isAwaited(db, lane, event.number)) || !(await isHeard(deps, event))) return false;
  return (await reopenAwaiting(db, lane, event.number)) > 0;
}

/** After a failed try: the lane is tried again later, or goes on without what failed too often. */
async function putOff(deps: Deps, run: Run, delivery: Delivery, error: unknown): Promise<Then> {
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
    return "go on";
  }
  log.warn({ err: error, attempts: attempts + 1 }, "a delivery failed and will be tried again");
  await workLaneLater(db, run.lane, Math.min(1000 * 2 ** attempts, LONGEST_WAIT_MS));
  return "end";
}
