import { connect } from "../src/store/db/connect.ts";
import { migrate } from "../src/store/db/migrate.ts";
import { compare, type Pace, type Side } from "./compare.ts";
import { movesTo, SAME_TIME } from "./growth.ts";
import type { Call } from "./load.ts";
import type { Measurement } from "./report.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import { auth, cardNumbersOf } from "./workloads.ts";
import { startService, type BenchWorld } from "./world.ts";

const BOARD_CARDS = 50;

/** A service with its own database. The timelines have 20 rows a card, those of `first` `firstRows`. */
async function startGrown(world: BenchWorld, name: string, boards: number, firstRows: number) {
  await world.seeding.raw(`create database ${name}`);
  const { href: connectionString } = Object.assign(new URL(world.connectionString), { pathname: `/${name}` });
  await migrate(connectionString);
  const { url, stop } = await startService(world, connectionString);
  const db = connect({ connectionString, max: 1, hasTimeouts: false, onError: () => undefined });
  world.cleanups.push(() => db.destroy());
  const first = await seedBoard(db, BOARD_CARDS, "first", firstRows / BOARD_CARDS);
  for (let nth = 1; nth < boards; nth++) await seedBoard(db, BOARD_CARDS, `other-${nth}`);
  await db.raw("vacuum analyze");
  return { url, stop, first };
}

/** Compares a database with many boards and a million rows on timelines with one of a single board. */
export async function measureManyBoards(world: BenchWorld, pace: Pace): Promise<Measurement[]> {
  const boards = pace.isShort ? 50 : 1_000;
  const many = await startGrown(world, "many", boards, 1_000);
  const one = await startGrown(world, "one", 1, 10_000);
  const calls: Readonly<Record<string, (board: BenchBoard) => readonly Call[]>> = {
    "read of a card": (board) =>
      cardNumbersOf(board).map((number) => ({
        method: "GET",
        path: `/v1/cards/${number}`,
        headers: auth(board),
      })),
    "read of a board": (board) => [{ method: "GET", path: "/v1/board", headers: auth(board) }],
    create: (board) => [
      { method: "POST", path: "/v1/cards", headers: auth(board), body: '{"title":"A new card"}' },
    ],
    "move to the top": (board) => movesTo(board, 0),
  };
  const measurements: Measurement[] = [];
  for (const [name, of] of Object.entries(calls)) {
    const side = ({ url, first }: typeof many): Side => ({ url, calls: of(first), fresh: "key" });
    const title = `time of ${name}, ${boards} boards with ${boards * 1_000} timeline rows ÷ 1 with 10000`;
    const sides = { service: side(many), floor: side(one), connections: 1, goal: SAME_TIME };
    measurements.push(...(await compare(world, pace, { name: title, ...sides })));
  }
  await many.stop();
  await one.stop();
  return measurements;
}
