import type { Load, LoadResult } from "./load.ts";
import { atMost, median, report, short, type Goal, type Measurement } from "./report.ts";
import type { BenchWorld } from "./world.ts";

/** How long and how often each side is measured. */
export interface Pace {
  readonly isShort: boolean;
  readonly rounds: number;
  readonly seconds: number;
}

export type Side = Omit<Load, "connections" | "seconds" | "amount">;

/** One ratio of the service to its floor. */
export interface Workload {
  readonly name: string;
  readonly load?: Measurement["load"];
  readonly connections: number;
  readonly service: Side;
  readonly floor: Side;
  /** `≥` compares calls per second, `≤` the time of a call. */
  readonly goal: Goal;
  /** The limit for p99 ÷ p50 of the service. */
  readonly spread?: number;
}

/** Measures both sides in turn, once per round. */
export async function measureInTurns<Result>(
  { rounds }: Pace,
  first: () => Promise<Result>,
  second: () => Promise<Result>,
): Promise<[Result, Result][]> {
  const pairs: [Result, Result][] = [];
  for (let round = 0; round < rounds; round++) pairs.push([await first(), await second()]);
  return pairs;
}

/** Returns the median ratio of service and floor, and the spread if the workload limits it. */
export async function compare(
  { loader }: BenchWorld,
  pace: Pace,
  { name, load, connections, service, floor, goal, spread }: Workload,
): Promise<Measurement[]> {
  const run = (side: Side) => (): Promise<LoadResult> =>
    loader.run({ ...side, connections, seconds: pace.seconds });
  const pairs = await measureInTurns(pace, run(service), run(floor));
  const rates = pairs.map((pair) => pair.map(({ rate }) => rate) as [number, number]);
  const measured = [reportRatio({ name, ...(load && { load }), goal }, rates)];
  if (spread === undefined) return measured;
  const value = median(pairs.map(([{ p50, p99 }]) => p99 / p50));
  const of = `p99 ÷ p50 of ${name.split(" ÷ ")[0]}`;
  return [...measured, report({ name: of, ...(load && { load }), value, goal: atMost(spread) })];
}

/** The median ratio of pairs of rates. `≥` compares the rates, `≤` the times of a call. */
export function reportRatio(
  row: Omit<Measurement, "value">,
  rates: readonly (readonly [number, number])[],
): Measurement {
  const ratios = rates.map(([one, other]) => (row.goal.sign === "≥" ? one / other : other / one));
  const [one, other] = [0, 1].map((side) => short(median(rates.map((pair) => pair[side] ?? 0))));
  return report({ ...row, value: median(ratios) }, `: ${one} and ${other} a second`);
}
