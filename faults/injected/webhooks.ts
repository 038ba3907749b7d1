import { setTimeout as sleep } from "node:timers/promises";
import type { DeliveryFault } from "../../sandbox/forge/control/delivery-faults.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";

/** Drops, duplicates, delays, reorders, corrupts and holds webhooks. */
export async function injectWebhookFaults(
  { forge }: FaultWorld,
  random: SeededRandom,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  const { webhooks } = forge.control;
  while (!isOver()) {
    await sleep(random.between(100, 1_500));
    const fault = chooseFault(random);
    history.event("fault", `webhooks: ${fault.kind}`, fault);
    webhooks.add({ fault, times: random.between(1, 4) });
    if (random.chance(0.4)) await webhooks.release(random.pick(["kept", "reversed", "shuffled"] as const));
  }
}

function chooseFault(random: SeededRandom): DeliveryFault {
  const weights = { drop: 2, unlogged: 2, duplicate: 3, delay: 2, reorder: 2, corrupt: 1, hold: 2 };
  const kind = random.weighted(weights);
  switch (kind) {
    case "unlogged":
      return { kind: "drop", unlogged: true };
    case "duplicate":
      return { kind, copies: random.between(1, 3) };
    case "delay":
      return { kind, ms: random.between(200, 3_000) };
    case "reorder":
      return { kind, batch: random.between(2, 4) };
    case "corrupt":
      return {
        kind,
        what: random.pick(["signature", "no-signature", "sha1-only", "body"] as const) ?? "body",
      };
    default:
      return { kind };
  }
}

/** Ends all webhook faults. Held webhooks are sent in a random order. */
export async function endWebhookFaults({ forge }: FaultWorld): Promise<void> {
  forge.control.webhooks.clear();
  await forge.control.webhooks.release("shuffled");
}
