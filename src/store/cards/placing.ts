import { generateKeyBetween } from "fractional-indexing";
import { rows, type Trx } from "../db/connect.ts";
import { allInOrder } from "../db/transaction.ts";
import { whileItStands } from "../db/violations.ts";

/**
 * Locks a column until the transaction ends, so that two cards never get one place. Everybody takes exactly one of these, and
 * takes it before any row of the column, so movers wait for each other and never deadlock.
 */
async function holdColumn(trx: Trx, stageId: string): Promise<void> {
  await rows(trx, "select pg_advisory_xact_lock(hashtextextended('column:' || cast(:stageId as text), 0))", {
    stageId,
  });
}

interface Ranked {
  readonly rank: string;
}

/** The rank of a new last card of a column. The column is locked until the transaction ends. */
export async function rankAtEnd(trx: Trx, stageId: string): Promise<string> {
  const [, [last]] = await allInOrder([
    holdColumn(trx, stageId),
    rows<Ranked>(
      trx,
      "select rank from cards where stage_id = :stageId and deleted_at is null order by rank desc limit 1",
      { stageId },
    ),
  ]);
  return generateKeyBetween(last?.rank ?? null, null);
}

const OTHERS = "select rank from cards where stage_id = :stageId and deleted_at is null and id <> :cardId";

/** Puts a card at `index` of a column, 0 being the top; past the end is the end. One row is written, whatever the column's length. */
export async function placeCard(trx: Trx, cardId: string, stageId: string, index: number): Promise<void> {
  const column = { stageId, cardId };
  const [, [first, second], [last]] = await allInOrder([
    holdColumn(trx, stageId),
    rows<Ranked>(trx, `${OTHERS} order by rank offset :offset limit 2`, {
      ...column,
      offset: Math.max(index - 1, 0),
    }),
    rows<Ranked>(trx, `${OTHERS} order by rank desc limit 1`, column),
  ]);
  const above = index === 0 ? undefined : (first ?? last);
  const below = index === 0 ? first : first && second;
  const rank = generateKeyBetween(above?.rank ?? null, below?.rank ?? null);
  await whileItStands(
    rows(trx, "update cards set stage_id = :stageId, rank = :rank, updated_at = now() where id = :cardId", {
      ...column,
      rank,
    }),
  );
}
