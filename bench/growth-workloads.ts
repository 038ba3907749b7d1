import type { BenchBoard } from "./seed.ts";
import type { Side, Workload } from "./workloads.ts";

/** Cards enough that what grows with them shows: a column holds more than 10,000. */
export const LARGE = 50_000;
/** Ten a column. */
export const TINY = 45;

/** How much dearer a call may be on a large board, and a move into the middle of a long column. */
const AS_CHEAP = 1 / 1.5;
const LONG_COLUMN = 1 / 5;
/** So many cards are read or moved in turn, spread over the board. */
const TURNS = 400;

/**
 * The same calls of the same service on a large board (as the service) and on a small one (as the floor): cost must not grow with what is not looked at. `small` has
 * 500 cards, `tiny` ten a column.
 */
export function growthWorkloads(
  service: string,
  large: BenchBoard,
  small: BenchBoard,
  tiny: BenchBoard,
): Workload[] {
  const row = (
    name: string,
    to: (board: BenchBoard) => Side,
    floor: BenchBoard,
    ratio: number,
  ): Workload => ({
    name: `${name}, ${large.cards} ÷ ${floor.cards} cards`,
    service: to(large),
    floor: to(floor),
    atLeast: { 1: ratio },
  });
  const move =
    (indexOf: (board: BenchBoard) => number) =>
    (board: BenchBoard): Side => ({
      url: service,
      method: "POST",
      paths: inColumn(board).map((number) => `/v1/cards/${number}/move`),
      headers: auth(board),
      bodies: [JSON.stringify({ statusId: board.stages[1]?.id, index: indexOf(board) })],
      fresh: "key",
    });
  const read = (board: BenchBoard): Side => ({
    url: service,
    method: "GET",
    paths: spread(board.cards).map((number) => `/v1/cards/${number}`),
    headers: auth(board),
  });
  const create = (board: BenchBoard): Side => ({
    url: service,
    method: "POST",
    paths: ["/v1/cards"],
    headers: auth(board),
    bodies: [JSON.stringify({ title: "A card that the bench has made" })],
    fresh: "key",
  });
  return [
    row("reading a card", read, small, AS_CHEAP),
    row("creating a card", create, small, AS_CHEAP),
    row(
      "a move to the top",
      move(() => 0),
      tiny,
      AS_CHEAP,
    ),
    row(
      "a move to the middle",
      move(({ cards }) => Math.floor(cards / 9)),
      tiny,
      LONG_COLUMN,
    ),
  ];
}

const auth = ({ apiKey }: BenchBoard): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });

/** Cards that stand in the first column, as `seedBoard` spreads them. */
const inColumn = ({ cards }: BenchBoard): number[] =>
  spread(cards).map((number) => number - (number % 20) + 4);

/** Numbers from all over a board. */
const spread = (cards: number): number[] =>
  Array.from(
    { length: Math.min(TURNS, cards) },
    (_, at) => 1 + Math.floor((at * cards) / Math.min(TURNS, cards)),
  );
