import type { Load, LoadResult } from "./load.ts";
import { atMost, median, report, short, type Goal, type Measurement } from "./report.ts";
import { cpuSecondsOf, type BenchWorld } from "./world.ts";

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
  /** The limit for the CPU of the service per call, in milliseconds. */
  readonly cpu?: number;
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

/** Returns the median ratio of service and floor, and the spread and the CPU if the workload limits them. */
export async function compare(
  { loader, pid }: BenchWorld,
  pace: Pace,
  { name, load, connections, service, floor, goal, spread, cpu }: Workload,
): Promise<Measurement[]> {
  const run = (side: Side): Promise<LoadResult> =>
    loader.run({ ...side, connections, seconds: pace.seconds });
  const cpuOfCalls: number[] = [];
  const serve = async (): Promise<LoadResult> => {
    const before = await cpuSecondsOf(pid);
    const result = await run(service);
    cpuOfCalls.push((1_000 * ((await cpuSecondsOf(pid)) - before)) / result.answered);
    return result;
  };
  const pairs = await measureInTurns(pace, serve, () => run(floor));
  const rates = pairs.map((pair) => pair.map(({ rate }) => rate) as [number, number]);
  const measured = [reportRatio({ name, ...(load && { load }), goal }, rates)];
  const what = name.split(" ÷ ")[0];
  const limited = (of: string, value: number, limit: number | undefined): void => {
    if (limit !== undefined)
      measured.push(report({ name: of, ...(load && { load }), value, goal: atMost(limit) }));
  };
  limited(`p99 ÷ p50 of ${what}`, median(pairs.map(([{ p50, p99 }]) => p99 / p50)), spread);
  limited(`CPU of ${what}, ms`, median(cpuOfCalls), cpu);
  return measured;
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
