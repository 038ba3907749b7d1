import { column, firstRow, firstValue, rows, type Db } from "../db/connect.ts";

export interface Delivery {
  readonly guid: string;
  readonly event: string;
  readonly payload: string;
  readonly attempts: number;
  /** Of processes, each while it was the oldest that waited in its lane. */
  readonly deaths: number;
  readonly source: "webhook" | "log";
  readonly receivedAt: Date;
}

/** A delivery as it is kept. */
export interface NewDelivery {
  readonly guid: string;
  readonly event: string;
  readonly lane: string;
  readonly payload: string;
  readonly source: "webhook" | "log";
}

/**
 * Keeps deliveries, in this order; gives the ids of those we did not have. One that was set aside
 * and is sent again is as new: it gets another try. Payloads are values of their own: in an array
 * each quotation mark would have to be escaped.
 */
export async function insertDeliveries(db: Db, deliveries: readonly NewDelivery[]): Promise<Set<string>> {
  const once = [...new Map(deliveries.toReversed().map((each) => [each.guid, each])).values()].toReversed();
  const bindings = Object.fromEntries(
    once.flatMap((delivery, at) => COLUMNS.map((name): [string, string] => [`${name}${at}`, delivery[name]])),
  );
  const values = once.map((_, at) => `(${COLUMNS.map((name) => `:${name}${at}`).join(", ")})`);
  return new Set(
    await column<string>(
      db,
      `insert into deliveries (${COLUMNS.join(", ")}) values ${values.join(", ")}
     on conflict (guid) do update set state = 'waiting', attempts = 0, deaths = 0
       where deliveries.state = 'parked'
     returning guid`,
      bindings,
    ),
  );
}

const COLUMNS = ["guid", "event", "lane", "payload", "source"] as const;

/** Those of these deliveries that were never kept here. */
export async function listUnknown(db: Db, guids: readonly string[]): Promise<Set<string>> {
  return new Set(
    await column<string>(
      db,
      `select asked.guid from unnest(cast(:guids as text[])) as asked(guid)
      where not exists (select 1 from deliveries d where d.guid = asked.guid)`,
      { guids: [...guids] },
    ),
  );
}

/** A delivery that was set aside after too many failures. */
interface ParkedDelivery {
  readonly guid: string;
  readonly event: string;
  readonly lane: string;
  readonly error: string | null;
  readonly receivedAt: Date;
}

/** What was set aside, the oldest first. */
export async function listParked(db: Db): Promise<ParkedDelivery[]> {
  return rows<ParkedDelivery>(
    db,
    `select guid, event, lane, error, received_at as "receivedAt" from deliveries
      where state = 'parked' order by seq`,
  );
}

/** Gives what was set aside another try, this one or all; gives the lanes they wait in now. */
export async function unpark(db: Db, guid: string | null): Promise<string[]> {
  return column<string>(
    db,
    `update deliveries set state = 'waiting', attempts = 0, deaths = 0
      where state = 'parked' and (cast(:guid as text) is null or guid = :guid) returning lane`,
    { guid },
  );
}

/**
 * A list that PostgreSQL does not look into when it plans. Of a shorter one it would expect less
 * than of any, and for that plan anew each time: 104 microseconds instead of 37. A lane is kept
 * from it for the same reason.
 */
const WORKED = "cast((select cast(:worked as text[])) as text[])";

/** Marks deliveries as worked, as part of another statement. */
const MARKED = `with marked as (
  update deliveries set state = 'done', worked_at = now(), error = null, awaits_pull_request = null
   where guid = any(${WORKED}))`;

/**
 * Up to 16 of a lane that wait to be worked, the oldest first, with `mostOctets` of payloads
 * together; the first comes however large its own is. None comes behind one that may make a pull
 * request known: what was said on that before, which is older, may have to come between them.
 * `worked`, those before them, are marked by the same statement. How long a payload is can be told
 * without reading it.
 */
export async function nextDeliveries(
  db: Db,
  lane: string,
  worked: readonly string[],
  mostOctets: number,
): Promise<Delivery[]> {
  return rows<Delivery>(
    db,
    `${MARKED}
     select guid, event, payload, attempts, deaths, source, received_at as "receivedAt"
       from (select *, row_number() over oldest as nth, sum(octet_length(payload)) over oldest as octets,
                    bool_or(event = 'pull_request') over (order by seq rows between unbounded preceding and 1 preceding) as is_behind
               from deliveries
              where lane = (select cast(:lane as text)) and state = 'waiting' and guid <> all(${WORKED})
             window oldest as (order by seq rows unbounded preceding)
              order by seq limit 16) waiting
      where nth = 1 or octets <= :mostOctets and not is_behind order by seq`,
    { lane, worked, mostOctets },
  );
}

/** Lanes in which something waits. */
export async function listWaitingLanes(db: Db): Promise<string[]> {
  return column<string>(db, "select distinct lane from deliveries where state = 'waiting'");
}

/** Marks a delivery as worked until the pull request with this number is known. */
export async function deferDelivery(db: Db, guid: string, awaits: number): Promise<void> {
  await db("deliveries")
    .where({ guid })
    .update({ state: "done", worked_at: db.fn.now(), error: null, awaits_pull_request: awaits });
}

/** Whether deliveries of a lane are deferred until the pull request with this number is known. */
export async function isAnyDeferred(db: Db, lane: string, number: number): Promise<boolean> {
  const found = await firstRow(
    db,
    "select 1 from deliveries where lane = :lane and awaits_pull_request = :number limit 1",
    { lane, number },
  );
  return found !== null;
}

/** Returns the deferred deliveries of a pull request to those that wait; gives how many. */
export async function reopenDeferred(db: Db, lane: string, number: number): Promise<number> {
  return db("deliveries")
    .where({ lane, awaits_pull_request: number })
    .update({ state: "waiting", attempts: 0, deaths: 0, awaits_pull_request: null });
}

/**
 * Counts a death for the oldest delivery that waits in each of these lanes: the one that was being
 * worked, or the first of those taken with it. After `maxDeaths` of them it is parked. Gives those
 * parked now.
 */
export async function countDeaths(db: Db, lanes: readonly string[], maxDeaths: number): Promise<string[]> {
  const counted = await rows<{ guid: string; state: string }>(
    db,
    `update deliveries d
        set deaths = d.deaths + 1, error = 'the process working it ended',
            state = case when d.deaths + 1 >= :maxDeaths then 'parked' else d.state end
       from unnest(cast(:lanes as text[])) as dead(lane)
       cross join lateral (select guid from deliveries w where w.lane = dead.lane and w.state = 'waiting'
                            order by w.seq limit 1) first
      where d.guid = first.guid
      returning d.guid, d.state`,
    { lanes: [...lanes], maxDeaths },
  );
  return counted.filter(({ state }) => state === "parked").map(({ guid }) => guid);
}

/**
 * Counts a failed try; after `maxAttempts` of them it is parked, so that it no longer holds up what
 * came after it. `worked`, those before it, are marked by the same statement.
 */
export async function markFailed(
  db: Db,
  { guid, error, maxAttempts, worked }: FailedTry,
): Promise<{ parked: boolean }> {
  const row = await firstRow<{ parked: boolean }>(
    db,
    `${MARKED}
     update deliveries set attempts = attempts + 1, error = :error,
            state = case when attempts + 1 >= :maxAttempts then 'parked' else state end
      where guid = :guid returning state = 'parked' as parked`,
    { guid, error, maxAttempts, worked },
  );
  return { parked: row?.parked ?? false };
}

interface FailedTry {
  readonly guid: string;
  readonly error: string;
  readonly maxAttempts: number;
  readonly worked: readonly string[];
}

/** The time, by GitHub's clock, up to which this repair is complete; null before its first run. */
export async function repairedUntil(db: Db, name: string): Promise<Date | null> {
  return firstValue<Date>(db, `select done_until as "doneUntil" from repairs where name = :name`, { name });
}

/** Records how far a repair has come; the time never goes back. */
export async function markRepaired(db: Db, name: string, until: string): Promise<void> {
  await db.raw(
    `insert into repairs as r (name, done_until) values (:name, :until)
     on conflict (name) do update set done_until = greatest(r.done_until, excluded.done_until)`,
    { name, until },
  );
}
