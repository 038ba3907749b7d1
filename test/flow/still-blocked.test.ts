import { describe, expect, it } from "@jest/globals";
import type { Blocked, BlockedReason, RefusalReason } from "../../src/flow/refusal.ts";
import type { MovePlan, MoveStep } from "../../src/flow/move.ts";
import { areSameReasons, remainingReasons, type LaterInspection } from "../../src/flow/remaining-reasons.ts";

const blockerOf = (
  reason: RefusalReason,
  repository = "acme/web",
  details: BlockedReason["details"] = {},
): BlockedReason => ({ reason, message: reason, repository, details });

const blockedBy = (...reasons: readonly BlockedReason[]): Blocked => ({
  ...(reasons[0] ?? blockerOf("unknown")),
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
  isLagging: false,
  needsReplan: false,
  mergedWork: [],
};
const inspection = (plan: Partial<MovePlan>, shown: Partial<LaterInspection> = {}): LaterInspection => ({
  plan: { ...NOTHING, steps: [step()], ...plan },
  headSha: "head",
  isQueued: false,
  mergeMethod: "merge",
  isPermitted: false,
  ...shown,
});

const archived = blockerOf("not_permitted", "acme/web", { connection: "archived" });
const forbidden = blockerOf("not_permitted");
const method = blockerOf("protected", "acme/web", { mergeMethod: "merge" });
const abandoned = blockerOf("unknown", "acme/web", { attempts: 5 });
const namesTaken = blockerOf("branch_missing", "acme/web", { taken: ["card/7"] });
const failing = blockerOf("checks_failing");
const review = blockerOf("review_required");

describe("the remaining blockers of a card", () => {
  it.each<[string, Blocked, LaterInspection, BlockedReason[]]>([
    [
      "none if they came from an inspection and the next one shows none",
      blockedBy(failing, archived),
      inspection({}),
      [],
    ],
    [
      "those of the new inspection, in place of the earlier ones",
      blockedBy(archived),
      inspection({ reasons: [failing] }),
      [failing],
    ],
    [
      "those of a response, while nothing has changed",
      blockedBy(blockerOf("protected")),
      inspection({}),
      [blockerOf("protected")],
    ],
    [
      "those of a response and those of the inspection",
      blockedBy(blockerOf("protected")),
      inspection({ reasons: [failing], steps: [] }),
      [blockerOf("protected"), failing],
    ],
    ["none of another head", blockedBy(blockerOf("protected")), inspection({}, { headSha: "later" }), []],
    [
      "those of a response if the head cannot be read",
      blockedBy(blockerOf("protected")),
      inspection({ reasons: [archived], steps: [] }, { headSha: undefined }),
      [blockerOf("protected"), archived],
    ],
    [
      "none of a repository without steps",
      blockedBy(blockerOf("protected")),
      inspection({ steps: [step("acme/api")] }),
      [],
    ],
    ["none of another merge method", blockedBy(method), inspection({}, { mergeMethod: "squash" }), []],
    ["that of the same merge method", blockedBy(method), inspection({}), [method]],
    [
      "none of a queue that has the pull request again",
      blockedBy(blockerOf("queue_rejected")),
      inspection({}, { isQueued: true }),
      [],
    ],
    [
      "that it was abandoned, even without steps",
      blockedBy(abandoned),
      inspection({ steps: [] }),
      [abandoned],
    ],
    ["that every branch name is taken", blockedBy(namesTaken), inspection({}), [namesTaken]],
    [
      "none of a permission that was granted",
      blockedBy(forbidden),
      inspection({}, { isPermitted: true }),
      [],
    ],
    ["that of a missing permission", blockedBy(forbidden), inspection({}), [forbidden]],
    [
      "the same while GitHub computes the mergeability",
      blockedBy(failing, review),
      inspection({ isUndecided: true }),
      [failing, review],
    ],
    [
      "all but that of a granted permission while GitHub computes the mergeability",
      blockedBy(forbidden, failing),
      inspection({ isUndecided: true }, { isPermitted: true }),
      [failing],
    ],
    [
      "a doubt that was a blocker, for any head",
      blockedBy(review),
      inspection({ doubts: [review] }, { headSha: "later" }),
      [review],
    ],
    ["none of a doubt that is gone", blockedBy(review), inspection({}), []],
    ["no doubt that was not a blocker before", blockedBy(failing), inspection({ doubts: [review] }), []],
    [
      "the new doubt in place of the earlier one",
      blockedBy(review),
      inspection({ doubts: [blockerOf("changes_requested")] }),
      [blockerOf("changes_requested")],
    ],
  ])("are %s", (_name, blocked, later, remaining) => {
    expect(remainingReasons(blocked, later)).toEqual(remaining);
  });
});

it("two lists of reasons are equal if their subjects are, whatever the messages", () => {
  const branch = (name: string) => blockerOf("branch_missing", "acme/web", { branch: name });
  expect(areSameReasons([failing], [{ ...failing, message: "other", details: { failing: ["x"] } }])).toBe(
    true,
  );
  expect(areSameReasons([branch("a")], [branch("b")])).toBe(false);
  expect(areSameReasons([failing], [failing, review])).toBe(false);
});
