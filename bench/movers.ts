import type { Pace } from "./compare.ts";
import { limitRow, type Row } from "./report.ts";
import type { BenchBoard } from "./seed.ts";
import type { BenchWorld } from "./world.ts";

const MOVERS = 16;

interface Shown {
  readonly columns: readonly {
    readonly statusId: string;
    readonly tasks: readonly { readonly number: number }[];
  }[];
}

/** Many move cards of one column to places all over it: what then is not as it should be. */
export async function measureMovers(world: BenchWorld, pace: Pace, board: BenchBoard): Promise<Row[]> {
  const stageId = board.stages[1]?.id;
  const headers = { authorization: `Bearer ${board.apiKey}` };
  const column = async (): Promise<number[]> => {
    const shown = (await (await fetch(`${world.service}/v1/board`, { headers })).json()) as Shown;
    return (shown.columns.find(({ statusId }) => statusId === stageId)?.tasks ?? []).map(
      ({ number }) => number,
    );
  };
  const deadlocks = await world.deadlocks();
  const before = await column();
  const moved = before.slice(0, 400);
  const { answered } = await world.loader.measure({
    url: world.service,
    method: "POST",
    paths: moved.map((number) => `/v1/cards/${number}/move`),
    headers,
    bodies: moved.map((_, at) => JSON.stringify({ statusId: stageId, index: (at * 7) % before.length })),
    fresh: "key",
    connections: MOVERS,
    amount: pace.isShort ? 50 : 1_000,
  });
  const after = await column();
  const looked = after.filter((_, at) => at % Math.ceil(after.length / 100) === 0);
  let wrong = 0;
  for (const number of looked) {
    const card = (await (await fetch(`${world.service}/v1/cards/${number}`, { headers })).json()) as {
      position: number;
    };
    if (card.position !== after.indexOf(number)) wrong++;
  }
  const lost = before.filter((number) => !after.includes(number)).length;
  const doubled = after.length - new Set(after).size;
  const deadlocked = (await world.deadlocks()) - deadlocks;
  const faults = lost + doubled + wrong + deadlocked;
  if (faults > 0) console.log({ lost, doubled, wrong, deadlocked });
  return [
    limitRow(
      `${MOVERS} movers on a column of ${before.length}, ${answered} moves: deadlocks, lost, doubled and wrong places`,
      faults,
      0,
    ),
  ];
}
