import { measureInTurns, reportRatio, compare, type Pace, type Side, type Workload } from "./compare.ts";
import { seedLanes, sendAndAwaitDeliveries } from "./deliveries.ts";
import type { Call } from "./load.ts";
import { atMost, report, type Measurement } from "./report.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import { auth, cardListPath, cardNumbersOf } from "./workloads.ts";
import type { BenchWorld } from "./world.ts";

/** More than 10,000 cards per column. */
const LARGE = 50_000;
const SMALL = 500;
/** Ten cards per column. */
const TINY = 45;

/** Goals for the time of a call on a large board ÷ on a small one. */
export const SAME_TIME = atMost(1.5);
const LONG_COLUMN = atMost(5);

const DELIVERIES = 200;
const MOVERS = 16;

/** Compares a large board with a small one. The time of a call must not grow with unread rows. */
export async function measureGrowth(world: BenchWorld, pace: Pace): Promise<Measurement[]> {
  const { seeding, service: url } = world;
  const small = await seedBoard(seeding, SMALL, "small");
  const tiny = await seedBoard(seeding, TINY, "tiny");
  const large = await seedBoard(seeding, pace.isShort ? 5_000 : LARGE, "large");
  await seeding.raw("vacuum analyze");
  const workload = (
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
    workload("read of a card", small, SAME_TIME, (board) =>
      spread(board).map((number) => ({ method: "GET", path: `/v1/cards/${number}`, headers: auth(board) })),
    ),
    workload("create", small, SAME_TIME, (board) => [
      { method: "POST", path: "/v1/cards", headers: auth(board), body: '{"title":"A new card"}' },
    ]),
    workload("cards filtered", small, SAME_TIME, (board) => [
      { method: "GET", path: cardListPath(board), headers: auth(board) },
    ]),
    workload("search for a card", small, SAME_TIME, (board) =>
      spread(board).map((number) => ({
        method: "GET",
        path: `/v1/search?q=${number}&kinds=cards`,
        headers: auth(board),
      })),
    ),
    workload("move to the top", tiny, SAME_TIME, (board) => movesTo(board, 0)),
    workload("move to the middle", tiny, LONG_COLUMN, (board) => movesTo(board, Math.floor(board.cards / 9))),
  ];
  const measurements: Measurement[] = [];
  for (const workload of workloads) measurements.push(...(await compare(world, pace, workload)));
  const [many, few] = [await seedLanes(world.db, large), await seedLanes(world.db, small)];
  const rateOn = (lanes: typeof many) => async (): Promise<number> => {
    const startedAt = performance.now();
    await sendAndAwaitDeliveries(world, lanes, DELIVERIES);
    return (DELIVERIES * 1_000) / (performance.now() - startedAt);
  };
  const rates = await measureInTurns(pace, rateOn(many), rateOn(few));
  measurements.push(
    reportRatio({ name: nameOf("webhook processed", large, small), goal: SAME_TIME }, rates),
    await measureMovers(world, pace, large),
  );
  return measurements;
}

const nameOf = (name: string, large: BenchBoard, small: BenchBoard): string =>
  `time of ${name}, ${large.cards} ÷ ${small.cards} cards`;

/** Card numbers from the whole board. */
function spread(board: BenchBoard): number[] {
  const numbers = cardNumbersOf(board);
  return numbers.map((_, at) => 1 + Math.floor((at * board.cards) / numbers.length));
}

/** Moves within the first column. `seedBoard` puts the fourth of every twenty cards there. */
export const movesTo = (board: BenchBoard, index: number): Call[] =>
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

/** Moves cards of one column from many connections and counts wrong positions and deadlocks. */
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
  const errors = {
    lost: before.filter((number) => !after.includes(number)).length,
    duplicated: after.length - new Set(after).size,
    misplaced: 0,
    deadlocks: (await deadlocks(world)) - deadlocksBefore,
  };
  for (const number of after.filter((_, at) => at % Math.ceil(after.length / 100) === 0)) {
    const { position } = await get<{ position: number }>(`/v1/cards/${number}`);
    if (position !== after.indexOf(number)) errors.misplaced++;
  }
  const value = Object.values(errors).reduce((sum, count) => sum + count, 0);
  return report(
    {
      name: `errors after ${answered} moves on ${MOVERS} connections in a column of ${before.length}`,
      value,
      goal: atMost(0),
    },
    `: ${JSON.stringify(errors)}`,
  );
}

async function deadlocks({ db }: BenchWorld): Promise<number> {
  const { rows } = await db.raw<{ rows: { deadlocks: string }[] }>(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  return Number(rows[0]?.deadlocks ?? 0);
}
