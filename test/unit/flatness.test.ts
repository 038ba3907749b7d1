import { describe, expect, it } from "@jest/globals";
import { judgeFlatness, LIMITS, type Measure, type Sample } from "../../faults/soak/flatness.ts";

const LOOKS = 180;
const STEADY: Omit<Sample, "at" | "cards"> = {
  rss: 150,
  heap: 42,
  files: 50,
  connections: 16,
  queue: 4,
  jobs: 6,
  jobsSize: 0.2,
  temporary: 0,
};

/** A run of half an hour, each look as `over` has it at its number. */
const run = (over: (at: number) => Partial<Sample>): Sample[] =>
  Array.from({ length: LOOKS }, (_, at) => ({ ...STEADY, at: at * 10, cards: at, ...over(at) }));

const notFlat = (samples: readonly Sample[]): string[] =>
  judgeFlatness(samples)
    .filter(({ isFlat }) => !isFlat)
    .map(({ name }) => name);

describe("a run of half an hour", () => {
  it("is flat when nothing grows, however caches fill at first and whatever one look meets", () => {
    expect(notFlat(run(() => ({})))).toEqual([]);
    expect(notFlat(run((at) => ({ rss: 90 + Math.min(at, 60), heap: 30 + Math.min(at, 60) / 5 })))).toEqual(
      [],
    );
    expect(notFlat(run((at) => (at % 20 === 0 ? { queue: 400, connections: 30, rss: 400 } : {})))).toEqual(
      [],
    );
  });

  // What grows by so much in an hour.
  it.each<[Measure, number]>([
    ["rss", 150],
    ["heap", 24],
    ["files", 90],
    ["connections", 30],
    ["queue", 90],
    ["jobs", 90],
    ["jobsSize", 12],
    ["temporary", 12],
  ])("is not where %s grows by %i an hour", (measure, anHour) => {
    const grows = run((at) => ({ [measure]: STEADY[measure] + (anHour * at * 10) / 3_600 }));
    expect(notFlat(grows)).toEqual([LIMITS[measure].name]);
  });

  it("is not where nothing is done any more", () => {
    expect(notFlat(run((at) => ({ cards: Math.min(at, 120) })))).toEqual(["finished cards (at least)"]);
    expect(notFlat(run(() => ({ cards: 0 })))).toEqual(["finished cards (at least)"]);
  });
});
