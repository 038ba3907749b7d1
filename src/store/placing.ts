import { generateKeyBetween } from "fractional-indexing";
import { firstRow, rows, type Trx } from "./connect.ts";
import { whileItStands } from "./violations.ts";

/** In the order of their bytes. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Of the first letter depends how many digits follow; a fraction may come behind them. */
const integerOf = (rank: string): string =>
  `left(${rank}, case when ascii(${rank}) >= ascii('a') then ascii(${rank}) - ascii('a') else ascii('Z') - ascii(${rank}) end + 2)`;

/** The next whole rank, or the one before, of a whole one in SQL: the last digit that can be turned is, those behind it begin anew. Null where none can be. */
function turned(integer: string, by: 1 | -1): string {
  const [from, to] =
    by === 1 ? [DIGITS.slice(0, -1), DIGITS.slice(1)] : [DIGITS.slice(1), DIGITS.slice(0, -1)];
  const [full, empty] = by === 1 ? ["z", "0"] : ["0", "z"];
  const parts = `regexp_match(${integer}, '^(.+)([^${full}])(${full}*)$')`;
  return `(select parts[1] || translate(parts[2], '${from}', '${to}') || repeat('${empty}', length(parts[3]))
             from ${parts} as parts)`;
}

/** The same of one whose digits have all come to their end: with the next first letter, and a digit more, or fewer. */
function carried(integer: string, by: 1 | -1): string {
  const [between, beyond, digit] = by === 1 ? ["Z", "a", "0"] : ["a", "Z", "z"];
  const [longer, shorter] = by === 1 ? ["[a-y]", "[A-Y]"] : ["[B-Z]", "[b-z]"];
  const letter = `chr(ascii(${integer}) + ${by})`;
  return `case when left(${integer}, 1) = '${between}' then '${beyond}${digit}'
               when ${integer} ~ '^${longer}' then ${letter} || repeat('${digit}', length(${integer}))
               when ${integer} ~ '^${shorter}' then ${letter} || repeat('${digit}', length(${integer}) - 2) end`;
}

/**
 * A rank beyond the last (or before the first) of a column, in SQL; the first rank of all where `rank` is null. The binding `:fraction` keeps apart those that are put there
 * at the same moment, which all come behind (or before) the same card.
 */
export function rankBeyond(rank: string, side: "last" | "first"): string {
  const by = side === "last" ? 1 : -1;
  const integer = integerOf(rank);
  return `case when ${rank} is null then 'a0' else coalesce(${turned(integer, by)}, ${carried(integer, by)}) end || :fraction`;
}

const someDigit = (least: number): string =>
  DIGITS[least + Math.floor(Math.random() * (DIGITS.length - least))] ?? "";

/** For `:fraction`: two digits, the last of which is not 0, as in every rank. */
export function someFraction(): string {
  return someDigit(0) + someDigit(1);
}

/**
 * The lock of a column in SQL, by a stage's id. Who places a card in one statement shares it with others who do: the index of ranks keeps those apart, and
 * undoes the statement that comes second to a rank.
 */
export const shareColumn = (stageId: string): string =>
  `pg_advisory_xact_lock_shared(hashtextextended('column:' || cast(${stageId} as text), 0))`;

/** A rank between two others. */
export const rankBetween = (above: string, below: string): string => generateKeyBetween(above, below);

/**
 * Holds a column until the transaction ends, so that two cards never get one place. Everybody takes exactly one of these, and
 * takes it before any row of the column, so movers wait for each other and never deadlock.
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
