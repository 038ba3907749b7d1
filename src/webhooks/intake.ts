import { setTimeout as sleep } from "node:timers/promises";
import type { Deps } from "../actions/deps.ts";
import { isDatabaseUnavailable } from "../store/db/connect.ts";
import { insertDeliveries, type NewDelivery } from "../store/forge/deliveries.ts";
import { addLaneJobs } from "../store/forge/lanes.ts";

/** Concurrent statements. The next one stores deliveries that arrive while both run. */
const MAX_STATEMENTS = 2;
/** Deliveries per statement. Each count is a different statement, prepared once per connection. */
const MAX_BATCH = 16;
/** Characters per statement. Larger deliveries are stored alone and do not delay small ones. */
const MAX_CHARACTERS = 1_000_000;
/** The pause between two wake-ups of lanes: each is a commit that wakes every worker. */
const WAKE_PAUSE_MS = 50;

/**
 * Stores deliveries in one statement and counts them. Returns for each whether it was new. The
 * caller then wakes their lanes; if the process dies in between, `wake-waiting-lanes` does.
 */
export async function storeDeliveries(
  { db, metrics }: Pick<Deps, "db" | "metrics">,
  deliveries: readonly NewDelivery[],
): Promise<boolean[]> {
  const added = await insertDeliveries(db, deliveries);
  return deliveries.map(({ guid, source }) => {
    // When a statement contains a delivery twice, the first one is new.
    const isNew = added.delete(guid);
    metrics.deliveries.inc({ source, result: isNew ? "new" : "known" });
    return isNew;
  });
}

/** Stores the deliveries of the webhook endpoint, in batches. */
export interface Intake {
  /** Resolves after the delivery is committed, with false if it is stored already and not parked. */
  store(delivery: NewDelivery): Promise<boolean>;
  /** Resolves after the lanes of all stored deliveries are woken. */
  flushed(): Promise<void>;
}

interface Waiting {
  readonly delivery: NewDelivery;
  readonly resolve: (isNew: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export function createIntake(deps: Pick<Deps, "db" | "log" | "metrics">): Intake {
  const waiting: Waiting[] = [];
  let running = 0;
  const lanes = new Set<string>();
  let waking: Promise<void> | null = null;

  async function wake(): Promise<void> {
    while (lanes.size > 0) {
      const some = [...lanes];
      lanes.clear();
      await addLaneJobs(deps.db, some).catch((error: unknown) => {
        deps.log.warn({ err: error }, "processing of deliveries could not be scheduled");
      });
      await sleep(WAKE_PAUSE_MS);
    }
    waking = null;
  }

  async function store(group: readonly Waiting[]): Promise<void> {
    const areNew = await storeDeliveries(
      deps,
      group.map(({ delivery }) => delivery),
    );
    for (const [at, { delivery, resolve }] of group.entries()) {
      const isNew = areNew[at] ?? false;
      if (isNew) lanes.add(delivery.lane);
      resolve(isNew);
    }
    if (lanes.size > 0) waking ??= wake();
  }

  /** After a failed batch, so that a delivery that cannot be stored does not affect the others. */
  async function storeOneByOne(group: readonly Waiting[], error: unknown): Promise<void> {
    for (const each of group) {
      if (group.length === 1 || isDatabaseUnavailable(error)) each.reject(error);
      else await store([each]).catch(each.reject);
    }
  }

  async function storeNext(): Promise<void> {
    running++;
    for (let group = takeBatch(waiting); group.length > 0; group = takeBatch(waiting)) {
      await store(group).catch((error: unknown) => storeOneByOne(group, error));
    }
    running--;
  }

  return {
    store: (delivery) =>
      new Promise((resolve, reject) => {
        waiting.push({ delivery, resolve, reject });
        if (running < MAX_STATEMENTS) void storeNext();
      }),
    flushed: async () => {
      await waking;
    },
  };
}

/** Removes and returns the next batch, in order of arrival. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  let count = 0;
  for (let characters = 0; count < Math.min(waiting.length, MAX_BATCH); count++) {
    characters += waiting[count]?.delivery.payload.length ?? 0;
    if (count > 0 && characters > MAX_CHARACTERS) break;
  }
  return waiting.splice(0, count);
}
