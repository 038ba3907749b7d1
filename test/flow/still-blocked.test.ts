import { describe, expect, it } from "@jest/globals";
import type { Blocked, BlockedReason, RefusalReason } from "../../src/flow/refusal.ts";
import type { MovePlan, MoveStep } from "../../src/flow/move.ts";
import { areSame, stillInTheWay, type LaterLook } from "../../src/flow/still-blocked.ts";

const of = (
  reason: RefusalReason,
  repository = "acme/web",
  details: BlockedReason["details"] = {},
): BlockedReason => ({ reason, message: reason, repository, details });

const refusedFor = (...reasons: readonly BlockedReason[]): Blocked => ({
  ...(reasons[0] ?? of("unknown")),
  reasons,
  statusId: "done",
  headSha: "head",
  at: "2026-01-31T09:30:00.000Z",
});

const step = (fullName = "acme/web"): MoveStep => ({
  action: "merge",
  repositoryId: fullName,
  fullName,
  branchName: "card/7",
  targetBranch: "main",
  prNumber: 1,
  nodeId: "1",
  headSha: "head",
});

const NOTHING: MovePlan = {
  steps: [],
  reasons: [],
  doubts: [],
  isUndecided: false,
  isLanding: false,
  isBehind: false,
  needsAnotherLook: false,
  landed: [],
};
const look = (plan: Partial<MovePlan>, shown: Partial<LaterLook> = {}): LaterLook => ({
  plan: { ...NOTHING, steps: [step()], ...plan },
  headSha: "head",
  isQueued: false,
  mergeMethod: "merge",
  isPermitted: false,
  ...shown,
});

const archived = of("not_permitted", "acme/web", { connection: "archived" });
const forbidden = of("not_permitted");
const method = of("protected", "acme/web", { mergeMethod: "merge" });
const givenUp = of("unknown", "acme/web", { attempts: 5 });
const named = of("branch_missing", "acme/web", { taken: ["card/7"] });
const red = of("checks_failing");
const review = of("review_required");

describe("what still stands in the way", () => {
  it.each<[string, Blocked, LaterLook, BlockedReason[]]>([
    ["nothing that a look shows, once it shows nothing", refusedFor(red, archived), look({}), []],
    ["what a look shows, in place of what it showed", refusedFor(archived), look({ reasons: [red] }), [red]],
    ["what was told, while nothing has changed", refusedFor(of("protected")), look({}), [of("protected")]],
    [
      "what was told, and what is shown",
      refusedFor(of("protected")),
      look({ reasons: [red], steps: [] }),
      [of("protected"), red],
    ],
    ["nothing of another head", refusedFor(of("protected")), look({}, { headSha: "later" }), []],
    [
      "what was told of a head that cannot be asked about",
      refusedFor(of("protected")),
      look({ reasons: [archived], steps: [] }, { headSha: undefined }),
      [of("protected"), archived],
    ],
    ["nothing of what is done", refusedFor(of("protected")), look({ steps: [step("acme/api")] }), []],
    ["nothing of another way to merge", refusedFor(method), look({}, { mergeMethod: "squash" }), []],
    ["a way to merge that is the same", refusedFor(method), look({}), [method]],
    ["nothing of a queue it is in again", refusedFor(of("queue_rejected")), look({}, { isQueued: true }), []],
    ["that it was given up, with nothing left to do", refusedFor(givenUp), look({ steps: [] }), [givenUp]],
    ["that every name is taken", refusedFor(named), look({}), [named]],
    ["nothing that is permitted", refusedFor(forbidden), look({}, { isPermitted: true }), []],
    ["what is not permitted", refusedFor(forbidden), look({}), [forbidden]],
    [
      "the same, while the forge is thinking",
      refusedFor(red, review),
      look({ isUndecided: true }),
      [red, review],
    ],
    [
      "all but what is permitted, while the forge is thinking",
      refusedFor(forbidden, red),
      look({ isUndecided: true }, { isPermitted: true }),
      [red],
    ],
    [
      "a doubt it was refused for, of any head",
      refusedFor(review),
      look({ doubts: [review] }, { headSha: "later" }),
      [review],
    ],
    ["nothing of a doubt that is gone", refusedFor(review), look({}), []],
    ["no doubt it was not refused for", refusedFor(red), look({ doubts: [review] }), []],
    [
      "a doubt that has become another",
      refusedFor(review),
      look({ doubts: [of("changes_requested")] }),
      [of("changes_requested")],
    ],
  ])("is %s", (_name, blocked, later, left) => {
    expect(stillInTheWay(blocked, later)).toEqual(left);
  });
});

it("reasons are the same by what they are of, and not by their words", () => {
  const branch = (name: string) => of("branch_missing", "acme/web", { branch: name });
  expect(areSame([red], [{ ...red, message: "other", details: { failing: ["x"] } }])).toBe(true);
  expect(areSame([branch("a")], [branch("b")])).toBe(false);
  expect(areSame([red], [red, review])).toBe(false);
});
