import type { Deps } from "../actions/deps.ts";
import { ForgeUnavailable } from "../forge/forge.ts";
import {
  markFailed,
  markAwaiting,
  nextDelivery,
  reopenAwaiting,
  type Delivery,
} from "../store/deliveries.ts";
import { noteWebhook } from "../store/repositories.ts";
import { handleEvent, isHeard, type Said } from "./handle-event.ts";
import { workLaneLater } from "./receive.ts";
import { translateDelivery, type TranslatedDelivery } from "../forge/github/translate-delivery.ts";

/** After this many failures a delivery is set aside, so that it no longer holds up what came after it. */
const MAX_ATTEMPTS = 8;
/** While the forge is away nothing else in the lane could be worked either: it is waited for, most of a day long. */
const MAX_ATTEMPTS_IN_OUTAGE = 200;
const LONGEST_WAIT_MS = 300_000;

/** Works off what waits in a lane, in the order received. A failure ends the run and is tried again, later each time. */
export async function workLane(deps: Deps, lane: string): Promise<void> {
  let sent: Sent | null = null;
  let worked: string | null = null;
  for (;;) {
    const delivery = await nextDelivery(deps.db, lane, worked);
    worked = null;
    if (!delivery) break;
    const log = deps.log.child({ delivery: delivery.guid, event: delivery.event });
    try {
      const { repositoryId, early } = await workDelivery({ ...deps, log }, delivery);
      if (early) {
        await markAwaiting(deps.db, delivery.guid, early.number);
        // Its pull request may have become known between the look for it and this mark: then nobody else gives it another try.
        if (await isHeard(deps, early)) await reopenAwaiting(deps.db, lane, early.number);
      } else worked = delivery.guid;
      if (delivery.source === "webhook" && repositoryId !== null)
        sent = { repositoryId, at: delivery.receivedAt };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isOutage = error instanceof ForgeUnavailable;
      const maxAttempts = isOutage ? MAX_ATTEMPTS_IN_OUTAGE : MAX_ATTEMPTS;
      const { parked } = await markFailed(deps.db, delivery.guid, reason, maxAttempts);
      if (parked) log.error({ err: error }, "a delivery failed too often and is set aside");
      else {
        log.warn(
          { err: error, attempts: delivery.attempts + 1 },
          "a delivery failed and will be tried again",
        );
        await workLaneLater(deps.db, lane, Math.min(1000 * 2 ** delivery.attempts, LONGEST_WAIT_MS));
        break;
      }
    }
  }
  if (sent) await noteWebhook(deps.db, sent.repositoryId, sent.at);
}

/** The last webhook of a run. A run notes it once, however many there were. */
interface Sent {
  readonly repositoryId: number;
  readonly at: Date;
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
