import { describe, expect, it } from "@jest/globals";
import { distance } from "../../console/text/distance.ts";

const NOW = Date.parse("2026-01-31T12:00:00Z");
const DAY = 86_400;
const at = (seconds: number): string => new Date(NOW + seconds * 1_000).toISOString();

describe("a time as a distance", () => {
  it.each([
    [90 * DAY - 20, "in 3 months"],
    [7 * DAY - 20, "in 7 days"],
    [DAY - 20, "in 24 hours"],
    [30, "just now"],
    [-119, "1 minute ago"],
    [-(2 * DAY - 20), "yesterday"],
    [-(90 * DAY - 20), "2 months ago"],
  ])("of %d seconds is %s", (seconds, words) => {
    expect(distance(at(seconds), NOW)).toBe(words);
  });
});
