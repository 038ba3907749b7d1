import { generateKeyBetween } from "fractional-indexing";
import { firstRow, rows, type Trx } from "./connect.ts";
import { whileItStands } from "./violations.ts";

/** In the order of their bytes. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const someDigit = (least: number): string =>
  DIGITS[least + Math.floor(Math.random() * (DIGITS.length - least))] ?? "";

/** Keeps apart those that are put beyond a column's last card, or its first, at the same moment (`rank_beyond`): two digits, the last of which is not 0, as in every rank. */
export function someFraction(): string {
  return someDigit(0) + someDigit(1);
}

/** A rank between two others. */
export const rankBetween = (above: string, below: string): string => generateKeyBetween(above, below);

/**
 * Holds a column until the transaction ends, so that two cards never get one place. Everybody takes exactly one of these, and
 * takes it before any row of the column, so movers wait for each other and never deadlock. Who places a card in one statement shares it with others who do: the index of ranks keeps those apart, and undoes the
 * statement that comes second to a rank.
 */
async function holdColumn(trx: Trx, stageId: string): Promise<void> {
  await rows(trx, "select pg_advisory_xact_lock(hashtextextended('column:' || cast(:stageId as text), 0))", {
    stageId,
  });
}

/** The rank of a new last card of a column. The column is held until the transaction ends. */
export async function rankAtEnd(trx: Trx, stageId: string): Promise<string> {
  await holdColumn(trx, stageId);
  const last = await firstRow<{ rank: string }>(
    trx,
    "select rank from cards where stage_id = :stageId and deleted_at is null order by rank desc limit 1",
    { stageId },
  );
  return generateKeyBetween(last?.rank ?? null, null);
}

/**
 * Puts a card at `index` of a column, 0 being the top; past the end is the end. One row is written, whatever the column's length.
 */
export async function placeCard(trx: Trx, cardId: string, stageId: string, index: number): Promise<void> {
  await holdColumn(trx, stageId);
  const neighbours = await rows<{ rank: string }>(
    trx,
    `select rank from cards where stage_id = :stageId and deleted_at is null and id <> :cardId
      order by rank offset :offset limit 2`,
    { stageId, cardId, offset: Math.max(index - 1, 0) },
  );
  let rank: string;
  if (index === 0) rank = generateKeyBetween(null, neighbours[0]?.rank ?? null);
  else if (neighbours[0]) rank = generateKeyBetween(neighbours[0].rank, neighbours[1]?.rank ?? null);
  else rank = await rankAtEndExcept(trx, cardId, stageId);
  await whileItStands(
    rows(trx, "update cards set stage_id = :stageId, rank = :rank, updated_at = now() where id = :cardId", {
      cardId,
      stageId,
      rank,
    }),
  );
}

async function rankAtEndExcept(trx: Trx, cardId: string, stageId: string): Promise<string> {
  const last = await firstRow<{ rank: string }>(
    trx,
    `select rank from cards where stage_id = :stageId and deleted_at is null and id <> :cardId
      order by rank desc limit 1`,
    { stageId, cardId },
  );
  return generateKeyBetween(last?.rank ?? null, null);
}
