import { expect, it } from "@jest/globals";
import { createLimits } from "../../src/forge/github/calls/limits.ts";

const DAY_MS = 86_400_000;
const HOUR_ENDS = Date.parse("2026-03-02T11:00:00Z");

// Fault: E12
it.each([-DAY_MS, 0, DAY_MS])("a limit lasts until its hour ends if the clock is wrong by %i ms", (skew) => {
  const now = HOUR_ENDS - 60_000;
  const limits = createLimits({ now: () => now + skew, sleep: () => Promise.resolve() });
  const hit = limits.record("1", "rest", {
    status: 403,
    headers: {
      "x-ratelimit-reset": HOUR_ENDS / 1_000,
      "x-ratelimit-remaining": "0",
      date: new Date(now).toUTCString(),
    },
    message: "API rate limit exceeded for installation ID 1.",
    isGraphqlLimit: false,
  });
  expect(hit?.unavailable.retryAfter).toBe(61);
});
