import type { TurnRequest, Turns } from "../../forge/github/calls/turns.ts";
import { firstRow, type Db } from "../db/connect.ts";

/** GitHub asks for a second between writes. That also keeps content within its 80 per minute. */
const BETWEEN_WRITES = "interval '1 second'";
/**
 * GitHub allows about 500 content-creating calls per hour, those of people included. A burst of 100
 * and then one in nine seconds are never more than 500 in an hour.
 */
const CONTENT_RECOVERS = "interval '9 seconds'";
export const CONTENT_BURST = 100;

/** SQL for when the next writing call may begin. */
const NEXT_WRITE = "greatest(clock_timestamp(), next_write_at)";

/** SQL for when the next content-creating call is within the allowance. */
const CONTENT_FREE = `recovered_at - ${CONTENT_BURST - 1} * ${CONTENT_RECOVERS}`;

/** SQL for how many content-creating calls the row `turns` allows now; null without a row. */
export const contentLeftSql = (turns: string): string =>
  `case when ${turns}.installation_id is not null
        then cast(greatest(0, ${CONTENT_BURST} - greatest(0, ceil(
               extract(epoch from ${turns}.recovered_at - clock_timestamp())
               / extract(epoch from ${CONTENT_RECOVERS})))) as integer) end`;

/** SQL for the start of a turn requested now. */
const turnAt = ({ isContent }: TurnRequest): string =>
  isContent ? `greatest(${NEXT_WRITE}, ${CONTENT_FREE})` : NEXT_WRITE;

/** SQL that takes a turn. Content that waits for its allowance does not delay other writes. */
const taken = (request: TurnRequest): string => {
  const next = `${NEXT_WRITE} + ${BETWEEN_WRITES}`;
  if (!request.isContent) return `next_write_at = ${next}`;
  const at = turnAt(request);
  return `next_write_at = case when ${CONTENT_FREE} > ${NEXT_WRITE} then next_write_at else ${next} end,
          recovered_at = greatest(recovered_at, ${at}) + ${CONTENT_RECOVERS}`;
};

/** SQL for the start of the taken turn, after the update. */
const turnTaken = ({ isContent }: TurnRequest): string =>
  isContent
    ? `greatest(next_write_at - ${BETWEEN_WRITES}, recovered_at - ${CONTENT_BURST} * ${CONTENT_RECOVERS})`
    : `next_write_at - ${BETWEEN_WRITES}`;

/** The turns of all installations, in PostgreSQL and by its clock. */
export const createTurns = (db: Db): Turns => ({
  take: (installationId, request) => takeTurn(db, installationId, request),
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
