import { setTimeout as sleep } from "node:timers/promises";
import { FIRST_WAIT_S, type SharedLimits } from "../../forge/github/calls/limits.ts";
import { firstRow, firstValue, rows, type Db } from "../db/connect.ts";

const LONGEST_WAIT_S = 3_600;
const RETRY_MS = 250;

/** The limits that GitHub reported to any process, in PostgreSQL and by its clock. */
export const createForgeLimits = (db: Db): SharedLimits => ({
  read: (account) => readLimit(db, account),
  record: (account, limit) => recordWithRetry(db, account, limit),
  reset: (account, byWrite) => resetWait(db, account, byWrite),
});

/** SQL for whether the row `l` of `forge_limits` limits an organization, an alias, now. */
export const limitsSql = (organization: string): string =>
  `l.account = cast(${organization}.installation_id as text) and l.limited_until > now()`;

/** SQL for whether GitHub limits requests about one of these repositories, a subquery of ids. */
export const isLimitedSql = (repositoryIds: string): string => `
  exists (select 1 from repositories limited
            join organizations account on account.id = limited.organization_id
            join forge_limits l on ${limitsSql("account")}
           where limited.id in (${repositoryIds}))`;

/** The accounts whose requests GitHub limits now, by login. */
export const listLimitedAccounts = (db: Db): Promise<{ login: string; until: Date }[]> =>
  rows(
    db,
    `select o.slug as login, l.limited_until as until
       from organizations o join forge_limits l on ${limitsSql("o")} order by o.slug`,
  );

async function readLimit(db: Db, account: string): Promise<{ seconds: number; nextWaitIsLonger: boolean }> {
  const limit = await firstRow<{ seconds: number; nextWaitIsLonger: boolean }>(
    db,
    `select greatest(0, extract(epoch from limited_until - clock_timestamp()))::float as seconds,
            repeats > 0 as "nextWaitIsLonger"
       from forge_limits where account = :account`,
    { account },
  );
  return limit ?? { seconds: 0, nextWaitIsLonger: false };
}

interface Limit {
  readonly seconds: number | null;
  readonly byWrite: boolean;
}

/** If the database is unavailable, retries in the background with the time that is left. */
async function recordWithRetry(db: Db, account: string, limit: Limit): Promise<number | null> {
  const recorded = await record(db, account, limit).catch(() => null);
  if (recorded !== null) return recorded;
  const until = performance.now() + (limit.seconds ?? FIRST_WAIT_S) * 1_000;
  const left = (): number => (until - performance.now()) / 1_000;
  const isRecorded = (): Promise<boolean> =>
    record(db, account, { ...limit, seconds: left() }).then(
      () => true,
      () => false,
    );
  const retry = async (): Promise<void> => {
    do await sleep(RETRY_MS, undefined, { ref: false });
    while (left() > 0 && !(await isRecorded()));
  };
  void retry();
  return null;
}

/**
 * Never shortens a limit. Responses to calls that were sent before the first of them arrived report
 * the same limit, so they do not double the wait.
 */
async function record(db: Db, account: string, { seconds, byWrite }: Limit): Promise<number | null> {
  const isKnown = "l.limited_until > clock_timestamp()";
  const earlier = `case when ${isKnown} then greatest(l.repeats - 1, 0) else l.repeats end`;
  const isStated = "cast(:seconds as float) is not null";
  return firstValue<number>(
    db,
    `insert into forge_limits as l (account, limited_until, repeats, by_write)
     values (:account, ${inSeconds(`coalesce(cast(:seconds as float), ${FIRST_WAIT_S})`)},
             case when ${isStated} then 0 else 1 end, :byWrite)
     on conflict (account) do update
       set limited_until = greatest(l.limited_until, ${inSeconds(`coalesce(cast(:seconds as float), ${waitAfter(earlier)})`)}),
           repeats = case when ${isStated} then l.repeats else least(${earlier} + 1, ${MOST_REPEATS}) end,
           by_write = :byWrite
     returning greatest(1, ceil(extract(epoch from limited_until - clock_timestamp())))::int as seconds`,
    { account, seconds, byWrite },
  );
}

/** Enough for the longest wait. */
const MOST_REPEATS = 10;
const waitAfter = (repeats: string): string =>
  `least(${FIRST_WAIT_S} * power(2, ${repeats}), ${LONGEST_WAIT_S})`;
const inSeconds = (seconds: string): string => `clock_timestamp() + ${seconds} * interval '1 second'`;

async function resetWait(db: Db, account: string, byWrite: boolean): Promise<void> {
  await rows(
    db,
    `update forge_limits set repeats = 0
      where account = :account and limited_until <= clock_timestamp() and (:byWrite or not by_write)`,
    { account, byWrite },
  );
}
