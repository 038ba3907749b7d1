import type { BenchWorld } from "./world.ts";
import type { Measured } from "./load.ts";
import { limitRow, median, told, type Row } from "./report.ts";
import type { Side, Workload } from "./workloads.ts";

/** How long and how often is measured. */
export interface Pace {
  readonly isShort: boolean;
  readonly rounds: number;
  readonly seconds: number;
}

/** Service and floor in turns, so many rounds: the medians, and for a row that asks so how far the slowest calls are from the usual ones. */
export async function compare(
  { loader }: BenchWorld,
  { isShort, rounds, seconds }: Pace,
  workload: Workload,
): Promise<Row[]> {
  const made: Row[] = [];
  for (const connections of isShort ? [4] : Object.keys(workload.atLeast).map(Number)) {
    const pairs: { service: Measured; floor: Measured }[] = [];
    const of = (side: Side): Promise<Measured> => loader.measure({ ...side, connections, seconds });
    for (let round = 0; round < rounds; round++) {
      pairs.push({ service: await of(workload.service), floor: await of(workload.floor) });
    }
    made.push(
      told({
        name: workload.name,
        connections,
        service: median(pairs.map(({ service }) => service.rate)),
        floor: median(pairs.map(({ floor }) => floor.rate)),
        ratio: median(pairs.map(({ service, floor }) => service.rate / floor.rate)),
        goal: workload.atLeast[connections] ?? 0,
      }),
    );
    if (workload.spread !== undefined) {
      const spreads = pairs.map(({ service }) => service.p99 / service.p50);
      made.push(limitRow(`p99 ÷ p50 of ${workload.name} @${connections}`, median(spreads), workload.spread));
    }
  }
  return made;
}
