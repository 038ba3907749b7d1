import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { branchNameFor, slugOf } from "../../src/flow/names.ts";
import { checksState, outcomeOfCheckRun, outcomeOfStatus, type CheckOutcome } from "../../src/flow/checks.ts";
import { DEFAULT_FLOW, targetOf, type Flow } from "../../src/flow/flow.ts";
import { mayAct, ROLES } from "../../src/flow/roles.ts";

describe("a branch name", () => {
  it.each([
    ["Say hello", "card/7-say-hello"],
    ["Größe ändern: Øre & Æther", "card/7-grosse-andern-ore-aether"],
    ["  ..//@{ -- ", "card/7"],
    ["日本語", "card/7"],
    ["a.lock", "card/7-a-lock"],
  ])("for the title %j is %j", (title, name) => {
    expect(branchNameFor("card/{number}-{slug}", 7, title)).toBe(name);
  });

  it("ends with a number if the first name is taken", () => {
    expect(branchNameFor("card/{number}-{slug}", 7, "Say hello", 2)).toBe("card/7-say-hello-2");
  });

  // Fault: D8 The branch name is invalid or clashes => made valid, or refused
  it("is a valid Git ref name for any title", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (title) => {
        const name = branchNameFor("card/{number}-{slug}", 7, title);
        expect(name).toMatch(/^card\/7(-[a-z0-9]+)*$/);
        expect(slugOf(title).length).toBeLessThanOrEqual(50);
      }),
    );
  });
});

describe("the state of a commit's checks", () => {
  it.each<[CheckOutcome[], string | null]>([
    [[], null],
    [["passing", "skipped"], "passing"],
    [["passing", "pending"], "pending"],
    [["pending", "failing", "passing"], "failing"],
    [["skipped"], "passing"],
  ])("with the outcomes %j is %s", (outcomes, state) => {
    expect(checksState(outcomes)).toBe(state);
  });

  it.each([
    ["completed", "success", "passing"],
    ["completed", "failure", "failing"],
    ["COMPLETED", "TIMED_OUT", "failing"],
    ["completed", "action_required", "failing"],
    ["completed", "neutral", "skipped"],
    ["completed", "stale", "pending"],
    ["in_progress", null, "pending"],
    ["queued", null, "pending"],
  ])(
    "has, for a check run with status %s and conclusion %s, the outcome %s",
    (status, conclusion, outcome) => {
      expect(outcomeOfCheckRun(status, conclusion)).toBe(outcome);
    },
  );

  it.each([
    ["success", "passing"],
    ["ERROR", "failing"],
    ["failure", "failing"],
    ["pending", "pending"],
    ["EXPECTED", "pending"],
  ])("has, for a commit status %s, the outcome %s", (state, outcome) => {
    expect(outcomeOfStatus(state)).toBe(outcome);
  });
});

const withMerges = (...into: (string | null)[]): Flow => ({
  ...DEFAULT_FLOW,
  stages: into.map((target, at) => ({
    id: String(at),
    name: String(at),
    kind: "stage",
    minRole: "member",
    rule: { type: "merge", into: target },
  })),
});

describe("the target of a card", () => {
  it("is that of the first merge stage, and that of the last one for a hotfix", () => {
    expect(targetOf(withMerges("develop", "main"), false)).toBe("develop");
    expect(targetOf(withMerges("develop", "main"), true)).toBe("main");
  });

  it("is the default branch in a flow without merges", () => {
    expect(targetOf(withMerges(), false)).toBeNull();
  });
});

it("each role includes the rights of the lower roles", () => {
  const table = ROLES.map((held) => ROLES.map((required) => mayAct(held, required)));
  expect(table).toEqual([
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ]);
});
