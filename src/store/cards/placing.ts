import { generateKeyBetween } from "fractional-indexing";
import { firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { lockName } from "../db/lock-name.ts";
import { allInOrder, busyIfStageRemoved } from "../db/transaction.ts";

/**
 * Locks a column until the transaction ends, so that two cards do not get the same place and the
 * stage does not exceed its limit. A transaction takes it before it writes a card of the column.
 * One that locks two columns locks the backlog first, so moves do not deadlock.
 */
export async function lockColumn(trx: Trx, stageId: string): Promise<void> {
  await lockName(trx, `column:${stageId}`);
}

interface Ranked {
  readonly rank: string;
  readonly number: number;
}

/** The rank after the last card of a column. Locks the column until the transaction ends. */
export async function rankAtEnd(trx: Trx, stageId: string): Promise<string> {
  const [, [last]] = await allInOrder([
    lockColumn(trx, stageId),
    rows<Pick<Ranked, "rank">>(
      trx,
      "select rank from cards where stage_id = :stageId and deleted_at is null order by rank desc limit 1",
      { stageId },
    ),
  ]);
  return generateKeyBetween(last?.rank ?? null, null);
}

const OTHERS =
  "select rank, number from cards where stage_id = :stageId and deleted_at is null and id <> :cardId";

interface Place {
  readonly rank: string;
  /** The number of the card above; null at the top. */
  readonly above: number | null;
}

/**
 * The place of a card at `index` of a column (0 is the top) or at its end. Locks the column until
 * the transaction ends.
 */
export async function findPlace(trx: Trx, cardId: string, stageId: string, index: number): Promise<Place> {
  const column = { stageId, cardId };
  const [, [first, second], [last]] = await allInOrder([
    lockColumn(trx, stageId),
    rows<Ranked>(trx, `${OTHERS} order by rank offset :offset limit 2`, {
      ...column,
      offset: Math.max(index - 1, 0),
    }),
    rows<Ranked>(trx, `${OTHERS} order by rank desc limit 1`, column),
  ]);
  const above = index === 0 ? undefined : (first ?? last);
  const below = index === 0 ? first : first && second;
  const rank = generateKeyBetween(above?.rank ?? null, below?.rank ?? null);
  return { rank, above: above?.number ?? null };
}

/** Counts the other cards that are in a stage, or have an unfinished move into it. */
export async function countOtherCards(db: Db, stageId: string, cardId: string): Promise<number> {
  const count = await firstValue<number>(
    db,
    `select count(*) from (
       select id from cards where stage_id = :stageId and deleted_at is null and id <> :cardId
        union
       select c.id from operations o join cards c on c.id = o.card_id and c.deleted_at is null
        where o.stage_id = :stageId and o.state in ('running', 'queued') and o.card_id <> :cardId) others`,
    { stageId, cardId },
  );
  return count ?? 0;
}

/** The number of the card above this one in its column; null at the top. */
export const findCardAbove = (trx: Trx, cardId: string, stageId: string): Promise<number | null> =>
  firstValue<number>(
    trx,
    `select number from cards
      where stage_id = :stageId and deleted_at is null and rank < (select c.rank from cards c where c.id = :cardId)
      order by rank desc limit 1`,
    { cardId, stageId },
  );

/** Puts a card at a place that `findPlace` returned. Writes one row. */
export async function placeCard(trx: Trx, cardId: string, stageId: string, { rank }: Place): Promise<void> {
  await busyIfStageRemoved(
    rows(trx, "update cards set stage_id = :stageId, rank = :rank, updated_at = now() where id = :cardId", {
      stageId,
      cardId,
      rank,
    }),
  );
}
