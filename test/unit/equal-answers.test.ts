import { describe, expect, it } from "@jest/globals";
import { unequalAnswers } from "../support/answers.ts";

const answer = (key: string, text: string, isReplay: boolean) => ({ key, status: 200, text, isReplay });
const faultsOf = (...answers: ReturnType<typeof answer>[]) => unequalAnswers(answers, ({ key }) => key);

describe("the responses to one idempotency key", () => {
  it("may be one execution and its replays, in any order", () => {
    expect(faultsOf(answer("a", "x", true), answer("a", "x", false), answer("b", "y", false))).toEqual([]);
  });

  it("are reported if they differ by a byte or were executed twice", () => {
    expect(faultsOf(answer("a", "x", false), answer("a", "x ", true))).toHaveLength(1);
    expect(faultsOf(answer("a", "x", false), answer("a", "x", false))).toEqual(["a was executed 2 times"]);
  });
});
