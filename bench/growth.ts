import { inTurns, reportRatio, compare, type Pace, type Side, type Workload } from "./compare.ts";
import { seedLanes, workThrough } from "./deliveries.ts";
import type { Call } from "./load.ts";
import { atMost, report, type Measurement } from "./report.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import { auth, numbersOf } from "./workloads.ts";
import type { BenchWorld } from "./world.ts";

/** A column then holds more than 10,000 cards. */
const LARGE = 50_000;
const SMALL = 500;
/** Ten cards a column. */
const TINY = 45;

/** The most that a call may take on a large board, as a multiple of the same call on a small one. */
const AS_CHEAP = atMost(1.5);
const LONG_COLUMN = atMost(5);

const DELIVERIES = 200;
const MOVERS = 16;

/** The same calls on a large board and on a small one: the cost must not grow with what is not looked at. */
export async function measureGrowth(world: BenchWorld, pace: Pace): Promise<Measurement[]> {
  const { seeding, service: url } = world;
  const small = await seedBoard(seeding, SMALL, "small");
  const tiny = await seedBoard(seeding, TINY, "tiny");
  const large = await seedBoard(seeding, pace.isShort ? 5_000 : LARGE, "large");
  await seeding.raw("vacuum analyze");
  const row = (
    name: string,
    other: BenchBoard,
    goal: Workload["goal"],
    to: (board: BenchBoard) => Call[],
  ) => {
    const side = (board: BenchBoard): Side => ({ url, calls: to(board), fresh: "key" });
    const service = side(large);
    return { name: nameOf(name, large, other), connections: 1, service, floor: side(other), goal };
  };
  const workloads: readonly Workload[] = [
    row("read of a card", small, AS_CHEAP, (board) =>
      spread(board).map((number) => ({ method: "GET", path: `/v1/cards/${number}`, headers: auth(board) })),
    ),
    row("create", small, AS_CHEAP, (board) => [
      { method: "POST", path: "/v1/cards", headers: auth(board), body: '{"title":"A new card"}' },
    ]),
    row("move to the top", tiny, AS_CHEAP, (board) => movesTo(board, 0)),
    row("move to the middle", tiny, LONG_COLUMN, (board) => movesTo(board, Math.floor(board.cards / 9))),
  ];
  const measurements: Measurement[] = [];
  for (const workload of workloads) measurements.push(...(await compare(world, pace, workload)));
  const [many, few] = [await seedLanes(world.db, large), await seedLanes(world.db, small)];
  const rateOn = (lanes: typeof many) => async (): Promise<number> => {
    const began = performance.now();
    await workThrough(world, lanes, DELIVERIES);
    return (DELIVERIES * 1_000) / (performance.now() - began);
  };
  const rates = await inTurns(pace, rateOn(many), rateOn(few));
  measurements.push(
    reportRatio({ name: nameOf("webhook worked", large, small), goal: AS_CHEAP }, rates),
    await measureMovers(world, pace, large),
  );
  return measurements;
}

const nameOf = (name: string, large: BenchBoard, small: BenchBoard): string =>
  `time of ${name}, ${large.cards} ÷ ${small.cards} cards`;

/** Numbers from all over a board. */
function spread(board: BenchBoard): number[] {
  const numbers = numbersOf(board);
  return numbers.map((_, at) => 1 + Math.floor((at * board.cards) / numbers.length));
}

/** Moves of cards within the first column, where `seedBoard` puts the fourth card of each twenty. */
const movesTo = (board: BenchBoard, index: number): Call[] =>
  spread(board).map((number) => ({
    method: "POST",
    path: `/v1/cards/${number - (number % 20) + 4}/move`,
    headers: auth(board),
    body: JSON.stringify({ statusId: board.stages[1]?.id, index }),
  }));

interface ShownBoard {
  readonly columns: readonly {
    readonly statusId: string;
    readonly tasks: readonly { readonly number: number }[];
  }[];
}

/** Moves cards of one column from many connections, and counts what is wrong afterwards. */
async function measureMovers(world: BenchWorld, pace: Pace, board: BenchBoard): Promise<Measurement> {
  const statusId = board.stages[1]?.id;
  const get = async <Body>(path: string): Promise<Body> =>
    (await (await fetch(`${world.service}${path}`, { headers: auth(board) })).json()) as Body;
  const column = async (): Promise<number[]> => {
    const { columns } = await get<ShownBoard>("/v1/board");
    return (columns.find((each) => each.statusId === statusId)?.tasks ?? []).map(({ number }) => number);
  };
  const [deadlocksBefore, before] = [await deadlocks(world), await column()];
  const { answered } = await world.loader.run({
    url: world.service,
    calls: before.slice(0, 400).map((number, at) => ({
      method: "POST",
      path: `/v1/cards/${number}/move`,
      headers: auth(board),
      body: JSON.stringify({ statusId, index: (at * 7) % before.length }),
    })),
    fresh: "key",
    connections: MOVERS,
    amount: pace.isShort ? 50 : 1_000,
  });
  const after = await column();
  const wrong = {
    lost: before.filter((number) => !after.includes(number)).length,
    doubled: after.length - new Set(after).size,
    misplaced: 0,
    deadlocks: (await deadlocks(world)) - deadlocksBefore,
  };
  for (const number of after.filter((_, at) => at % Math.ceil(after.length / 100) === 0)) {
    const { position } = await get<{ position: number }>(`/v1/cards/${number}`);
    if (position !== after.indexOf(number)) wrong.misplaced++;
  }
  const value = Object.values(wrong).reduce((sum, count) => sum + count, 0);
  return report(
    {
      name: `wrong after ${answered} moves by ${MOVERS} movers in a column of ${before.length}`,
      value,
      goal: atMost(0),
    },
    `: ${JSON.stringify(wrong)}`,
  );
}

async function deadlocks({ db }: BenchWorld): Promise<number> {
  const { rows } = await db.raw<{ rows: { deadlocks: string }[] }>(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  return Number(rows[0]?.deadlocks ?? 0);
}
