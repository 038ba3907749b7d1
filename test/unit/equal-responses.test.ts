import { describe, expect, it } from "@jest/globals";
import { unequalResponses } from "../support/responses.ts";

const response = (key: string, text: string, isReplay: boolean) => ({ key, status: 200, text, isReplay });
const faultsOf = (...responses: ReturnType<typeof response>[]) =>
  unequalResponses(responses, ({ key }) => key);

describe("the responses to one idempotency key", () => {
  it("may be one execution and its replays, in any order", () => {
    expect(faultsOf(response("a", "x", true), response("a", "x", false), response("b", "y", false))).toEqual(
      [],
    );
  });

  it("are reported if they differ by a byte or were executed twice", () => {
    expect(faultsOf(response("a", "x", false), response("a", "x ", true))).toHaveLength(1);
    expect(faultsOf(response("a", "x", false), response("a", "x", false))).toEqual([
      "a was executed 2 times",
    ]);
  });
});
