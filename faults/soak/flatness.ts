import { median } from "../../src/flow/trunk/landings.ts";

/** One sample of the service, its database and its folder for temporary files. */
export interface Sample {
  /** Seconds since the start of the load. */
  readonly at: number;
  /** Resident memory of the process, in MB. */
  readonly rss: number;
  /** Heap and buffers after a garbage collection, in MB. */
  readonly heap: number;
  readonly files: number;
  /** All of the service's connections to PostgreSQL. */
  readonly connections: number;
  /** Due jobs and unprocessed deliveries. */
  readonly queue: number;
  /** Rows in the jobs table, including jobs that failed permanently. */
  readonly jobs: number;
  /** The jobs table with its indexes, in MB. */
  readonly jobsSize: number;
  readonly temporary: number;
  /** Rows past their retention. */
  readonly overdue: number;
  /** The tables of which all old rows are deleted, with their indexes, in MB. */
  readonly retainedSize: number;
  /** Rows in all other tables per card and item of a timeline. */
  readonly perItem: number;
  /** Cards finished so far. */
  readonly cards: number;
}

export type Measure = Exclude<keyof Sample, "at" | "cards">;

interface Limit {
  readonly name: string;
  /** The last third may exceed the middle third by this share of it plus `more`. */
  readonly share: number;
  readonly more: number;
}

/** The values that must be flat, and the noise that is allowed. */
export const LIMITS: Readonly<Record<Measure, Limit>> = {
  rss: { name: "process memory (RSS), MB", share: 0.05, more: 12 },
  heap: { name: "memory after garbage collection, MB", share: 0.02, more: 2 },
  files: { name: "open files and sockets", share: 0.1, more: 4 },
  connections: { name: "connections to PostgreSQL", share: 0, more: 2 },
  queue: { name: "due jobs and waiting deliveries", share: 0.25, more: 5 },
  jobs: { name: "rows in the jobs table", share: 0.25, more: 5 },
  jobsSize: { name: "size of the jobs table, MB", share: 0.25, more: 1 },
  temporary: { name: "temporary files", share: 0, more: 0 },
  overdue: { name: "rows past their retention", share: 0, more: 20 },
  retainedSize: { name: "size of tables with retention, MB", share: 0.15, more: 4 },
  perItem: { name: "rows in other tables per card and timeline item", share: 0.05, more: 0.05 },
};

export interface Verdict {
  readonly name: string;
  readonly middle: number;
  readonly last: number;
  readonly allowed: number;
  readonly isFlat: boolean;
}

/**
 * Compares the median of the last third of a run with that of the middle third. Caches fill in the
 * first third. A median, because a sample may coincide with an hourly job. Thirds, because a line
 * fitted through noise has a slope.
 */
export function judgeFlatness(samples: readonly Sample[]): Verdict[] {
  const third = Math.floor(samples.length / 3);
  const middleThird = samples.slice(third, 2 * third);
  const lastThird = samples.slice(-third);
  const verdicts = (Object.entries(LIMITS) as [Measure, Limit][]).map(([measure, { name, share, more }]) => {
    const middle = median(middleThird.map((sample) => sample[measure])) ?? 0;
    const last = median(lastThird.map((sample) => sample[measure])) ?? 0;
    const allowed = middle * (1 + share) + more;
    return { name, middle, last, allowed, isFlat: last <= allowed };
  });
  return [...verdicts, judgeThroughput(middleThird, lastThird)];
}

/** The last third must finish half as many cards: a service that does nothing is flat too. */
function judgeThroughput(middleThird: readonly Sample[], lastThird: readonly Sample[]): Verdict {
  const finished = (part: readonly Sample[]): number => (part.at(-1)?.cards ?? 0) - (part[0]?.cards ?? 0);
  const middle = finished(middleThird);
  const last = finished(lastThird);
  const allowed = middle / 2;
  const isFlat = last > 0 && last >= allowed;
  return { name: "finished cards (at least)", middle, last, allowed, isFlat };
}
