import { expect, it } from "@jest/globals";
import { limitIn } from "../../src/forge/github/calls/limit-answers.ts";
import { CompleteAnswer } from "../../src/forge/github/calls/transport.ts";

const DAY_MS = 86_400_000;
const HOUR_ENDS = Date.parse("2026-03-02T11:00:00Z");

// Fault: E12
it.each([-DAY_MS, 0, DAY_MS])(
  "a limit lasts until its hour ends, with a clock that is %i ms off",
  async (skew) => {
    const now = HOUR_ENDS - 60_000;
    const headers = new Headers({
      "x-ratelimit-reset": String(HOUR_ENDS / 1_000),
      "x-ratelimit-remaining": "0",
      date: new Date(now).toUTCString(),
    });
    const body = { message: "API rate limit exceeded for installation ID 1." };
    const answer = new CompleteAnswer(403, headers, Buffer.from(JSON.stringify(body)));
    expect(await limitIn("https://api.github.com/user", answer, now + skew)).toEqual({ seconds: 61 });
  },
);
