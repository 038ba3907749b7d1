import { setTimeout as sleep } from "node:timers/promises";
import type { Deps } from "../actions/deps.ts";
import { isDatabaseAway } from "../store/db/connect.ts";
import { insertDeliveries, type NewDelivery } from "../store/forge/deliveries.ts";
import { workLanesSoon } from "../store/forge/lanes.ts";

/** Statements under way at once. While they are, what comes in gathers for the next one. */
const AT_ONCE = 2;
/** Each number is a statement of its own, prepared once a connection. */
const MOST_IN_ONE = 16;
/** A larger delivery goes alone: it must not hold up small ones. */
const MOST_CHARACTERS = 1_000_000;
/** Lanes are woken at once, and then at most this often: each time costs a commit that wakes every worker. */
const BETWEEN_WAKES_MS = 50;

/**
 * Stores deliveries by one statement, and counts them; returns for each whether it was new. The
 * caller then asks for their lanes to be worked; where the process dies in between,
 * `work-forgotten-lanes` does.
 */
export async function storeDeliveries(
  { db, metrics }: Pick<Deps, "db" | "metrics">,
  deliveries: readonly NewDelivery[],
): Promise<boolean[]> {
  const added = await insertDeliveries(db, deliveries);
  return deliveries.map(({ guid, source }) => {
    // Of the same delivery twice in one statement the first is the new one.
    const isNew = added.delete(guid);
    metrics.deliveries.inc({ source, result: isNew ? "new" : "known" });
    return isNew;
  });
}

/** Stores the deliveries that the door receives, those that arrive together as one batch. */
export interface Intake {
  /** Once this resolves no crash loses the delivery. False when it is one we have already. */
  keep(delivery: NewDelivery): Promise<boolean>;
  /** Resolves when the lanes of all that was kept are asked to be worked. */
  settled(): Promise<void>;
}

interface Waiting {
  readonly delivery: NewDelivery;
  readonly resolve: (isNew: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A delivery costs one statement, or a part of one. Its lane is woken after it was answered, many lanes by one statement; where that comes to
 * nothing (the process dies in between) whoever looks for forgotten lanes finds it.
 */
export function createIntake(deps: Pick<Deps, "db" | "log" | "metrics">): Intake {
  const waiting: Waiting[] = [];
  let underWay = 0;
  const lanes = new Set<string>();
  let waking: Promise<void> | null = null;

  async function wake(): Promise<void> {
    while (lanes.size > 0) {
      const some = [...lanes];
      lanes.clear();
      await workLanesSoon(deps.db, some).catch((error: unknown) => {
        deps.log.warn({ err: error }, "lanes could not be woken");
      });
      await sleep(BETWEEN_WAKES_MS);
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

  /** What keeps one delivery from being stored must not keep those that happened to come with it. */
  async function storeApart(group: readonly Waiting[], reason: unknown): Promise<void> {
    for (const each of group) {
      if (group.length === 1 || isDatabaseAway(reason)) each.reject(reason);
      else await store([each]).catch(each.reject);
    }
  }

  async function storeNext(): Promise<void> {
    underWay++;
    for (let group = nextOf(waiting); group.length > 0; group = nextOf(waiting)) {
      await store(group).catch((error: unknown) => storeApart(group, error));
    }
    underWay--;
  }

  return {
    keep: (delivery) =>
      new Promise((resolve, reject) => {
        waiting.push({ delivery, resolve, reject });
        if (underWay < AT_ONCE) void storeNext();
      }),
    settled: async () => {
      await waking;
    },
  };
}

/** Takes as many as go into one statement, in the order they came. */
function nextOf(waiting: Waiting[]): Waiting[] {
  let count = 0;
  for (let characters = 0; count < Math.min(waiting.length, MOST_IN_ONE); count++) {
    characters += waiting[count]?.delivery.payload.length ?? 0;
    if (count > 0 && characters > MOST_CHARACTERS) break;
  }
  return waiting.splice(0, count);
}
