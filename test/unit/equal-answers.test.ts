import { describe, expect, it } from "@jest/globals";
import { unequalAnswers } from "../support/answers.ts";

const answer = (key: string, text: string, isReplay: boolean) => ({ key, status: 200, text, isReplay });
const faultsOf = (...answers: ReturnType<typeof answer>[]) => unequalAnswers(answers, ({ key }) => key);

describe("what one key was answered with", () => {
  it("may be one execution and its replays, whichever was heard first", () => {
    expect(faultsOf(answer("a", "x", true), answer("a", "x", false), answer("b", "y", false))).toEqual([]);
  });

  it("is found where it differs by a byte, or was carried out twice", () => {
    expect(faultsOf(answer("a", "x", false), answer("a", "x ", true))).toHaveLength(1);
    expect(faultsOf(answer("a", "x", false), answer("a", "x", false))).toEqual(["a was carried out 2 times"]);
  });
});
