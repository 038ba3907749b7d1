import { setTimeout as sleep } from "node:timers/promises";
import type { TurnRequest, Turns } from "../../forge/github/calls/turns.ts";
import type { RateBudget } from "../../forge/github/calls/limits.ts";
import { firstRow, type Db } from "../db/connect.ts";

/** GitHub asks for a second between writes. That also keeps content within its 80 per minute. */
const BETWEEN_WRITES = "interval '1 second'";
/**
 * GitHub allows about 500 content-creating calls per hour, those of people included. A burst of 100
 * and then one in nine seconds are never more than 500 in an hour.
 */
const CONTENT_RECOVERS = "interval '9 seconds'";
const CONTENT_BURST = 100;

/** Until when GitHub wants no calls of one API. */
const PAUSED: Readonly<Record<RateBudget, string>> = {
  rest: "rest_paused_until",
  graphql: "graphql_paused_until",
};

/** SQL for when the next writing call may begin. */
const nextWrite = (budget: RateBudget): string =>
  `greatest(clock_timestamp(), next_write_at, held_until, ${PAUSED[budget]})`;

/** SQL for when the next content-creating call is within the allowance. */
const CONTENT_FREE = `recovered_at - ${CONTENT_BURST - 1} * ${CONTENT_RECOVERS}`;

/** SQL for the start of a turn requested now. */
const turnAt = ({ budget, isContent }: Pick<TurnRequest, "budget" | "isContent">): string =>
  isContent ? `greatest(${nextWrite(budget)}, ${CONTENT_FREE})` : nextWrite(budget);

/** SQL that takes a turn. Content that waits for its allowance does not delay other writes. */
const taken = ({ budget, isContent }: TurnRequest): string => {
  const next = `${nextWrite(budget)} + ${BETWEEN_WRITES}`;
  if (!isContent) return `next_write_at = ${next}`;
  const at = turnAt({ budget, isContent });
  return `next_write_at = case when ${CONTENT_FREE} > ${nextWrite(budget)} then next_write_at else ${next} end,
          recovered_at = greatest(recovered_at, ${at}) + ${CONTENT_RECOVERS}`;
};

/** SQL for the start of the taken turn, after the update. */
const turnTaken = ({ isContent }: TurnRequest): string =>
  isContent
    ? `greatest(next_write_at - ${BETWEEN_WRITES}, recovered_at - ${CONTENT_BURST} * ${CONTENT_RECOVERS})`
    : `next_write_at - ${BETWEEN_WRITES}`;

const RETRY_MS = 250;

/** The turns of all installations, in PostgreSQL and by its clock. */
export const createTurns = (db: Db): Turns => ({
  take: (installationId, request) => takeTurn(db, installationId, request),
  limitedFor: (installationId, budget) => pausedFor(db, installationId, budget),
  limit: (installationId, budget, seconds) => pauseWithRetry(db, installationId, budget, seconds),
});

async function takeTurn(
  db: Db,
  installationId: number,
  request: TurnRequest,
): Promise<{ readonly waitMs: number } | { readonly freeIn: number }> {
  const at = turnAt(request);
  const take = (): Promise<{ waitMs: number } | null> =>
    firstRow<{ waitMs: number }>(
      db,
      `update forge_turns set ${taken(request)}
        where installation_id = :installationId and ${at} <= clock_timestamp() + :withinMs * interval '1 millisecond'
        returning greatest(0, extract(epoch from ${turnTaken(request)} - clock_timestamp()) * 1000)::float as "waitMs"`,
      { installationId, withinMs: request.withinMs },
    );
  const turn = await take();
  if (turn) return turn;
  await db("forge_turns").insert({ installation_id: installationId }).onConflict("installation_id").ignore();
  const first = await take();
  if (first) return first;
  const next = await firstRow<{ freeIn: number }>(
    db,
    `select greatest(1, ceil(extract(epoch from ${at} - clock_timestamp())))::int as "freeIn"
       from forge_turns where installation_id = :installationId`,
    { installationId },
  );
  return { freeIn: next?.freeIn ?? 1 };
}

async function pausedFor(db: Db, installationId: number, budget: RateBudget): Promise<number> {
  const held = await firstRow<{ seconds: number }>(
    db,
    `select ceil(extract(epoch from greatest(held_until, ${PAUSED[budget]}) - clock_timestamp()))::int as seconds
       from forge_turns
      where installation_id = :installationId and greatest(held_until, ${PAUSED[budget]}) > clock_timestamp()`,
    { installationId },
  );
  return held?.seconds ?? 0;
}

/**
 * Records a pause that GitHub demands. If the database is unavailable, retries in the background
 * with the time that is left; no process can take a turn until then.
 */
async function pauseWithRetry(
  db: Db,
  installationId: number,
  budget: RateBudget | null,
  seconds: number,
): Promise<void> {
  const until = performance.now() + seconds * 1_000;
  const left = (): number => (until - performance.now()) / 1_000;
  const isRecorded = (): Promise<boolean> =>
    pause(db, installationId, budget, left()).then(
      () => true,
      () => false,
    );
  const retry = async (): Promise<void> => {
    do await sleep(RETRY_MS, undefined, { ref: false });
    while (left() > 0 && !(await isRecorded()));
  };
  if (!(await isRecorded())) void retry();
}

/** Never shortens a pause. */
async function pause(
  db: Db,
  installationId: number,
  budget: RateBudget | null,
  seconds: number,
): Promise<void> {
  const column = budget === null ? "held_until" : PAUSED[budget];
  await db.raw(
    `insert into forge_turns as t (installation_id, ${column})
     values (:installationId, clock_timestamp() + :seconds * interval '1 second')
     on conflict (installation_id) do update set ${column} = greatest(t.${column}, excluded.${column})`,
    { installationId, seconds },
  );
}
