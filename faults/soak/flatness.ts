import { median } from "../../src/flow/landings.ts";

/** What one look at the service, its database and its folder for temporary files found. */
export interface Sample {
  /** Seconds since the load began. */
  readonly at: number;
  /** What the kernel says the process has, in MB. */
  readonly rss: number;
  /** What is still held after a garbage collection, buffers included, in MB. */
  readonly heap: number;
  readonly files: number;
  /** All of the service's connections to PostgreSQL. */
  readonly connections: number;
  /** Jobs that are due, and deliveries not worked yet. */
  readonly queue: number;
  /** Rows of the table of jobs, given up ones included. */
  readonly jobs: number;
  /** That table with its indexes, in MB. */
  readonly jobsSize: number;
  readonly temporary: number;
  /** Cards that have come through so far. */
  readonly cards: number;
}

export type Measure = Exclude<keyof Sample, "at" | "cards">;

interface Limit {
  readonly name: string;
  /** The last third may be above the middle third by this share of it, and by so much more. */
  readonly share: number;
  readonly more: number;
}

/** What has to be flat, and how far noise may carry it. */
export const LIMITS: Readonly<Record<Measure, Limit>> = {
  rss: { name: "process memory (RSS), MB", share: 0.05, more: 12 },
  heap: { name: "memory after garbage collection, MB", share: 0.02, more: 2 },
  files: { name: "open files and sockets", share: 0.1, more: 4 },
  connections: { name: "connections to PostgreSQL", share: 0, more: 2 },
  queue: { name: "due jobs and waiting deliveries", share: 0.25, more: 5 },
  jobs: { name: "rows in the jobs table", share: 0.25, more: 5 },
  jobsSize: { name: "size of the jobs table, MB", share: 0.25, more: 1 },
  temporary: { name: "temporary files", share: 0, more: 0 },
};

export interface Verdict {
  readonly name: string;
  readonly middle: number;
  readonly last: number;
  readonly allowed: number;
  readonly isFlat: boolean;
}

/**
 * Holds the median of the last third of a run against that of its middle third; the first third is for caches to fill. A median, because one
 * look may fall into a job of the hour; thirds, because a straight line through noise has a slope of its own.
 */
export function judge(samples: readonly Sample[]): Verdict[] {
  const third = Math.floor(samples.length / 3);
  const middleThird = samples.slice(third, 2 * third);
  const lastThird = samples.slice(-third);
  const held = (Object.entries(LIMITS) as [Measure, Limit][]).map(([measure, { name, share, more }]) => {
    const middle = median(middleThird.map((sample) => sample[measure])) ?? 0;
    const last = median(lastThird.map((sample) => sample[measure])) ?? 0;
    const allowed = middle * (1 + share) + more;
    return { name, middle, last, allowed, isFlat: last <= allowed };
  });
  return [...held, atWork(middleThird, lastThird)];
}

/** A service that does nothing any more is flat, too: it has to bring at least half as many cards through in the end as before. */
function atWork(middleThird: readonly Sample[], lastThird: readonly Sample[]): Verdict {
  const through = (part: readonly Sample[]): number => (part.at(-1)?.cards ?? 0) - (part[0]?.cards ?? 0);
  const middle = through(middleThird);
  const last = through(lastThird);
  const allowed = middle / 2;
  return {
    name: "finished cards (at least)",
    middle,
    last,
    allowed,
    isFlat: last > 0 && last >= allowed,
  };
}
