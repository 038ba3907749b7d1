import { describe, expect, it } from "@jest/globals";
import { median } from "../../src/flow/trunk/landings.ts";
import { trunkWindow } from "../../src/flow/trunk/trunk-window.ts";

const NOW = new Date("2026-03-31T23:59:59.999Z");
const windowOf = (from?: string, to?: string) => {
  const found = trunkWindow({ from, to }, NOW);
  return "wrong" in found ? found.message : [found.begin.toISOString(), found.end.toISOString()];
};

describe("the window of the trunk report", () => {
  // Contract: Trunk: The default window is the last thirty days and today
  it("is the last thirty days and today by default", () => {
    expect(windowOf()).toEqual(["2026-03-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z"]);
    expect(windowOf("2026-03-31")).toEqual(["2026-03-31T00:00:00.000Z", "2026-04-01T00:00:00.000Z"]);
  });

  it.each([
    ["2026-01-01", "2026-04-02", ["2026-01-01T00:00:00.000Z", "2026-04-03T00:00:00.000Z"]],
    ["2026-01-01", "2026-04-03", "ask for 92 days or fewer at a time"],
    ["2026-01-02", "2026-01-01", "the window ends before it starts"],
    [undefined, "2026-01-31", ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]],
    [undefined, "tomorrow", "`to` is a date, as YYYY-MM-DD"],
    ["2024-02-29", "2024-02-29", ["2024-02-29T00:00:00.000Z", "2024-03-01T00:00:00.000Z"]],
    ["2026-02-29", undefined, "`from` is a date, as YYYY-MM-DD"],
    ["2026-03-01T00:00:00Z", undefined, "`from` is a date, as YYYY-MM-DD"],
    [undefined, "0000-01-31", "`to` is a date, as YYYY-MM-DD"],
    ["", undefined, "`from` is a date, as YYYY-MM-DD"],
    ["2026-03-01", "tomorrow", "`to` is a date, as YYYY-MM-DD"],
  ])("from %s to %s is %j", (from, to, expected) => {
    expect(windowOf(from, to)).toEqual(expected);
  });
});

it("a median is the middle value or the mean of the two middle values", () => {
  expect([median([]), median([3]), median([9, 1, 2]), median([1, 2, 3.333, 10])]).toEqual([
    null,
    3,
    2,
    2.6665,
  ]);
});
