import { column, exists, firstRow, rows, type Db } from "../db/connect.ts";

export interface Delivery {
  readonly guid: string;
  readonly event: string;
  readonly payload: string;
  readonly attempts: number;
  /** Processes that crashed while it was the oldest waiting delivery of its lane. */
  readonly crashes: number;
  readonly source: "webhook" | "log";
  readonly receivedAt: Date;
}

export interface NewDelivery {
  readonly guid: string;
  readonly event: string;
  readonly lane: string;
  readonly payload: string;
  readonly source: "webhook" | "log";
}

/**
 * Stores deliveries in this order. Returns the ids of the new ones and of parked ones, which are
 * retried. Each payload is a separate binding: in an array each quotation mark would be escaped.
 */
export async function insertDeliveries(db: Db, deliveries: readonly NewDelivery[]): Promise<Set<string>> {
  const unique = [...new Map(deliveries.toReversed().map((each) => [each.guid, each])).values()].toReversed();
  const bindings = Object.fromEntries(
    unique.flatMap((delivery, at) =>
      COLUMNS.map((name): [string, string] => [`${name}${at}`, delivery[name]]),
    ),
  );
  const values = unique.map((_, at) => `(${COLUMNS.map((name) => `:${name}${at}`).join(", ")})`);
  return new Set(
    await column<string>(
      db,
      `insert into deliveries (${COLUMNS.join(", ")}) values ${values.join(", ")}
     on conflict (guid) do update set state = 'waiting', attempts = 0, crashes = 0
       where deliveries.state = 'parked'
     returning guid`,
      bindings,
    ),
  );
}

const COLUMNS = ["guid", "event", "lane", "payload", "source"] as const;

/** Returns those of these ids that are not stored. */
export async function listUnknownDeliveries(db: Db, guids: readonly string[]): Promise<Set<string>> {
  return new Set(
    await column<string>(
      db,
      `select listed.guid from unnest(cast(:guids as text[])) as listed(guid)
      where not exists (select 1 from deliveries d where d.guid = listed.guid)`,
      { guids: [...guids] },
    ),
  );
}

interface ParkedDelivery {
  readonly guid: string;
  readonly event: string;
  readonly lane: string;
  readonly error: string | null;
  readonly receivedAt: Date;
}

/** Lists parked deliveries, the oldest first. */
export async function listParkedDeliveries(db: Db): Promise<ParkedDelivery[]> {
  return rows<ParkedDelivery>(
    db,
    `select guid, event, lane, error, received_at as "receivedAt" from deliveries
      where state = 'parked' order by seq`,
  );
}

/** Puts a parked delivery, or all of them (null), back into their lanes. Returns the lanes. */
export async function unparkDeliveries(db: Db, guid: string | null): Promise<string[]> {
  return column<string>(
    db,
    `update deliveries set state = 'waiting', attempts = 0, crashes = 0
      where state = 'parked' and (cast(:guid as text) is null or guid = :guid) returning lane`,
    { guid },
  );
}

/**
 * The subquery hides the list from the planner. PostgreSQL would prefer a custom plan for a short
 * list and plan each time: 104 microseconds instead of 37. The lane is hidden for the same reason.
 */
const PROCESSED = "cast((select cast(:processed as text[])) as text[])";

const MARK_PROCESSED = `with marked as (
  update deliveries set state = 'done', processed_at = now(), error = null, awaits_pull_request = null
   where guid = any(${PROCESSED}))`;

/**
 * Lists up to 16 waiting deliveries of a lane, the oldest first, with up to `mostOctets` of payload
 * or a single larger one. Stops at a `pull_request` event: it may make the pull request known, and
 * then its deferred events come before later deliveries. Also marks the deliveries in `processed`.
 */
export async function nextDeliveries(
  db: Db,
  lane: string,
  processed: readonly string[],
  mostOctets: number,
): Promise<Delivery[]> {
  return rows<Delivery>(
    db,
    `${MARK_PROCESSED}
     select guid, event, payload, attempts, crashes, source, received_at as "receivedAt"
       from (select *, row_number() over oldest as nth, sum(octet_length(payload)) over oldest as octets,
                    bool_or(event = 'pull_request') over (order by seq rows between unbounded preceding and 1 preceding) as is_behind
               from deliveries
              where lane = (select cast(:lane as text)) and state = 'waiting' and guid <> all(${PROCESSED})
             window oldest as (order by seq rows unbounded preceding)
              order by seq limit 16) waiting
      where nth = 1 or octets <= :mostOctets and not is_behind order by seq`,
    { lane, processed, mostOctets },
  );
}

export async function listWaitingLanes(db: Db): Promise<string[]> {
  return column<string>(db, "select distinct lane from deliveries where state = 'waiting'");
}

/** Defers a delivery until the pull request with this number is known. */
export async function deferDelivery(db: Db, guid: string, awaits: number): Promise<void> {
  await db("deliveries")
    .where({ guid })
    .update({ state: "done", processed_at: db.fn.now(), error: null, awaits_pull_request: awaits });
}

/** Whether a lane has deferred deliveries of this pull request. */
export async function hasDeferred(db: Db, lane: string, number: number): Promise<boolean> {
  const deferred = "select 1 from deliveries where lane = :lane and awaits_pull_request = :number limit 1";
  return exists(db, deferred, { lane, number });
}

/** Puts the deferred deliveries of a pull request back into their lane. Returns their number. */
export async function requeueDeferred(db: Db, lane: string, number: number): Promise<number> {
  return db("deliveries")
    .where({ lane, awaits_pull_request: number })
    .update({ state: "waiting", attempts: 0, crashes: 0, awaits_pull_request: null });
}

/**
 * Counts the crash of a process for the oldest waiting delivery of each lane, which it processed or
 * had taken first. Parks a delivery at its crash number `maxCrashes`. Returns the parked ones.
 */
export async function countCrashes(db: Db, lanes: readonly string[], maxCrashes: number): Promise<string[]> {
  const counted = await rows<{ guid: string; state: string }>(
    db,
    `update deliveries d
        set crashes = d.crashes + 1, error = 'The process died while it processed the delivery.',
            state = case when d.crashes + 1 >= :maxCrashes then 'parked' else d.state end
       from unnest(cast(:lanes as text[])) as dead(lane)
       cross join lateral (select guid from deliveries w where w.lane = dead.lane and w.state = 'waiting'
                            order by w.seq limit 1) first
      where d.guid = first.guid
      returning d.guid, d.state`,
    { lanes: [...lanes], maxCrashes },
  );
  return counted.filter(({ state }) => state === "parked").map(({ guid }) => guid);
}

/**
 * Counts a failed attempt. Parks the delivery at attempt number `maxAttempts`, so that its lane can
 * continue. Also marks the deliveries in `processed`.
 */
export async function markDeliveryFailed(db: Db, failed: FailedAttempt): Promise<{ parked: boolean }> {
  const row = await firstRow<{ parked: boolean }>(
    db,
    `${MARK_PROCESSED}
     update deliveries set attempts = attempts + cast(:counted as integer), error = :error,
            state = case when attempts + cast(:counted as integer) >= :maxAttempts then 'parked' else state end
      where guid = :guid returning state = 'parked' as parked`,
    { ...failed },
  );
  return { parked: row?.parked ?? false };
}

interface FailedAttempt {
  readonly guid: string;
  readonly error: string;
  /** 0 if the attempt does not count, as while GitHub limits requests. */
  readonly counted: 0 | 1;
  readonly maxAttempts: number;
  readonly processed: readonly string[];
}

export const isDelivery = (db: Db, guid: string): Promise<boolean> =>
  exists(db, "select 1 from deliveries where guid = :guid", { guid });
