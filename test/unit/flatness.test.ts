import { describe, expect, it } from "@jest/globals";
import { judgeFlatness, LIMITS, type Measure, type Sample } from "../../faults/soak/flatness.ts";

const SAMPLES = 180;
const STEADY: Omit<Sample, "at" | "cards"> = {
  rss: 150,
  heap: 42,
  files: 50,
  connections: 16,
  queue: 4,
  jobs: 6,
  jobsSize: 0.2,
  temporary: 0,
  overdue: 0,
  retainedSize: 20,
  perItem: 2,
};

/** A run of half an hour; `over` changes the sample with this number. */
const run = (over: (at: number) => Partial<Sample>): Sample[] =>
  Array.from({ length: SAMPLES }, (_, at) => ({ ...STEADY, at: at * 10, cards: at, ...over(at) }));

const notFlat = (samples: readonly Sample[]): string[] =>
  judgeFlatness(samples)
    .filter(({ isFlat }) => !isFlat)
    .map(({ name }) => name);

describe("the samples of half an hour", () => {
  it("are flat if nothing grows, whether caches fill at first or single samples are high", () => {
    expect(notFlat(run(() => ({})))).toEqual([]);
    expect(notFlat(run((at) => ({ rss: 90 + Math.min(at, 60), heap: 30 + Math.min(at, 60) / 5 })))).toEqual(
      [],
    );
    expect(notFlat(run((at) => (at % 20 === 0 ? { queue: 400, connections: 30, rss: 400 } : {})))).toEqual(
      [],
    );
  });

  // The growth per hour.
  it.each<[Measure, number]>([
    ["rss", 150],
    ["heap", 24],
    ["files", 90],
    ["connections", 30],
    ["queue", 90],
    ["jobs", 90],
    ["jobsSize", 12],
    ["temporary", 12],
    ["overdue", 200],
    ["retainedSize", 60],
    ["perItem", 2],
  ])("are not flat if %s grows by %i an hour", (measure, perHour) => {
    const grows = run((at) => ({ [measure]: STEADY[measure] + (perHour * at * 10) / 3_600 }));
    expect(notFlat(grows)).toEqual([LIMITS[measure].name]);
  });

  it("are not flat if no more cards are finished", () => {
    expect(notFlat(run((at) => ({ cards: Math.min(at, 120) })))).toEqual(["finished cards (at least)"]);
    expect(notFlat(run(() => ({ cards: 0 })))).toEqual(["finished cards (at least)"]);
  });
});
