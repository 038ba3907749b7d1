import { setTimeout as sleep } from "node:timers/promises";
import type { TurnRequest, Turns } from "../../forge/github/calls/turns.ts";
import type { Budget } from "../../forge/github/calls/limits.ts";
import { firstRow, type Db } from "../db/connect.ts";

/** GitHub asks for a second between two writes, which also keeps within its 80 that create content a minute. */
const BETWEEN_WRITES = "interval '1 second'";
/**
 * GitHub allows about 500 content-creating calls an hour, people's included. A hundred may follow each other at once, then one in nine
 * seconds: never more than 500 in any hour.
 */
const CONTENT_RECOVERS = "interval '9 seconds'";
const CONTENT_AT_ONCE = 100;

const HELD: Readonly<Record<Budget, string>> = { rest: "rest_held_until", graphql: "graphql_held_until" };

/** SQL for when the next writing call may begin. */
const nextWrite = (budget: Budget): string =>
  `greatest(clock_timestamp(), next_write_at, held_until, ${HELD[budget]})`;

/** SQL for when the allowance for content has recovered far enough. */
const CONTENT_FREE = `recovered_at - ${CONTENT_AT_ONCE - 1} * ${CONTENT_RECOVERS}`;

/** SQL for when a turn asked for now would come. */
const turnAt = ({ budget, isContent }: Pick<TurnRequest, "budget" | "isContent">): string =>
  isContent ? `greatest(${nextWrite(budget)}, ${CONTENT_FREE})` : nextWrite(budget);

/** SQL for what taking a turn changes. Content that waits for its allowance does not keep other writes waiting with it. */
const taken = ({ budget, isContent }: TurnRequest): string => {
  const next = `${nextWrite(budget)} + ${BETWEEN_WRITES}`;
  if (!isContent) return `next_write_at = ${next}`;
  const at = turnAt({ budget, isContent });
  return `next_write_at = case when ${CONTENT_FREE} > ${nextWrite(budget)} then next_write_at else ${next} end,
          recovered_at = greatest(recovered_at, ${at}) + ${CONTENT_RECOVERS}`;
};

/** SQL for the turn that was taken, once it is. */
const turnTaken = ({ isContent }: TurnRequest): string =>
  isContent
    ? `greatest(next_write_at - ${BETWEEN_WRITES}, recovered_at - ${CONTENT_AT_ONCE} * ${CONTENT_RECOVERS})`
    : `next_write_at - ${BETWEEN_WRITES}`;

/** How often it is tried to write down what GitHub has asked for while the database is away, in milliseconds. */
const AGAIN_AFTER_MS = 250;

/** The turns of all installations, kept in PostgreSQL and by its clock. One that is lost with PostgreSQL was over by the time it is there again. */
export const createTurns = (db: Db): Turns => ({
  take: (installationId, request) => takeTurn(db, installationId, request),
  heldFor: (installationId, budget) => heldFor(db, installationId, budget),
  hold: (installationId, budget, seconds) => holdWhenBack(db, installationId, budget, seconds),
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

async function heldFor(db: Db, installationId: number, budget: Budget): Promise<number> {
  const held = await firstRow<{ seconds: number }>(
    db,
    `select ceil(extract(epoch from greatest(held_until, ${HELD[budget]}) - clock_timestamp()))::int as seconds
       from forge_turns
      where installation_id = :installationId and greatest(held_until, ${HELD[budget]}) > clock_timestamp()`,
    { installationId },
  );
  return held?.seconds ?? 0;
}

/**
 * What GitHub has asked for is told to all processes also where the database is away: of what is left by then, as soon as it is back. Until then
 * nobody takes a turn there.
 */
async function holdWhenBack(
  db: Db,
  installationId: number,
  budget: Budget | null,
  seconds: number,
): Promise<void> {
  const until = performance.now() + seconds * 1_000;
  const left = (): number => (until - performance.now()) / 1_000;
  const isTold = (): Promise<boolean> =>
    hold(db, installationId, budget, left()).then(
      () => true,
      () => false,
    );
  const tellLater = async (): Promise<void> => {
    do await sleep(AGAIN_AFTER_MS, undefined, { ref: false });
    while (left() > 0 && !(await isTold()));
  };
  if (!(await isTold())) void tellLater();
}

/** What is held already is never let go earlier. */
async function hold(db: Db, installationId: number, budget: Budget | null, seconds: number): Promise<void> {
  const column = budget === null ? "held_until" : HELD[budget];
  await db.raw(
    `insert into forge_turns as t (installation_id, ${column})
     values (:installationId, clock_timestamp() + :seconds * interval '1 second')
     on conflict (installation_id) do update set ${column} = greatest(t.${column}, excluded.${column})`,
    { installationId, seconds },
  );
}
