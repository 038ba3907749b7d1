import { describe, expect, it } from "@jest/globals";
import type { Blocked, BlockedReason, RefusalReason } from "../../src/flow/refusal.ts";
import type { MovePlan, MoveStep } from "../../src/flow/move.ts";
import { areSameReasons, remainingReasons, type RecheckedCard } from "../../src/flow/remaining-reasons.ts";

const blocker = (
  reason: RefusalReason,
  repository = "acme/web",
  details: BlockedReason["details"] = {},
): BlockedReason => ({ reason, message: reason, repository, details });

const blockedBy = (...reasons: readonly BlockedReason[]): Blocked => ({
  ...(reasons[0] ?? blocker("unknown")),
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
  likelyRefusals: [],
  isUndecided: false,
  mayBeMerged: false,
  isForgeLagging: false,
  needsReplan: false,
  mergedWork: [],
};
const shows = (plan: Partial<MovePlan>, shown: Partial<RecheckedCard> = {}): RecheckedCard => ({
  plan: { ...NOTHING, steps: [step()], ...plan },
  headSha: "head",
  queuedIn: [],
  mergeMethod: "merge",
  hasNewPermissions: false,
  ...shown,
});

const archived = blocker("not_permitted", "acme/web", { connection: "archived" });
const forbidden = blocker("not_permitted");
const method = blocker("protected", "acme/web", { mergeMethod: "merge" });
const abandoned = blocker("unknown", "acme/web", { attempts: 5 });
const namesTaken = blocker("branch_missing", "acme/web", { taken: ["card/7"] });
const protectedBy = blocker("protected");
const failing = blocker("checks_failing");
const review = blocker("review_required");

describe("the remaining blockers of a card", () => {
  it.each<[string, Blocked, RecheckedCard, BlockedReason[]]>([
    [
      "none if they came from an inspection and the next one shows none",
      blockedBy(failing, archived),
      shows({}),
      [],
    ],
    [
      "those of the new inspection, in place of the earlier ones",
      blockedBy(archived),
      shows({ reasons: [failing] }),
      [failing],
    ],
    ["those of a response, while nothing has changed", blockedBy(protectedBy), shows({}), [protectedBy]],
    [
      "those of a response and of the inspection",
      blockedBy(protectedBy),
      shows({ reasons: [failing], steps: [] }),
      [protectedBy, failing],
    ],
    ["none of another head", blockedBy(protectedBy), shows({}, { headSha: "later" }), []],
    [
      "those of a response if the head cannot be read",
      blockedBy(protectedBy),
      shows({ reasons: [archived], steps: [] }, { headSha: undefined }),
      [protectedBy, archived],
    ],
    ["none of another repository", blockedBy(protectedBy), shows({ steps: [step("acme/api")] }), []],
    ["none of another merge method", blockedBy(method), shows({}, { mergeMethod: "squash" }), []],
    ["that of the same merge method", blockedBy(method), shows({}), [method]],
    [
      "that of the repository whose pull request is not in a queue again",
      blockedBy(blocker("queue_rejected"), blocker("queue_rejected", "acme/api")),
      shows({ steps: [step(), step("acme/api")] }, { queuedIn: ["acme/web"] }),
      [blocker("queue_rejected", "acme/api")],
    ],
    ["that it was abandoned, without steps", blockedBy(abandoned), shows({ steps: [] }), [abandoned]],
    ["that every branch name is taken", blockedBy(namesTaken), shows({}), [namesTaken]],
    ["none of a granted permission", blockedBy(forbidden), shows({}, { hasNewPermissions: true }), []],
    ["that of a missing permission", blockedBy(forbidden), shows({}), [forbidden]],
    [
      "the same while the mergeability is unknown",
      blockedBy(failing, review),
      shows({ isUndecided: true }),
      [failing, review],
    ],
    [
      "all but a granted permission while the mergeability is unknown",
      blockedBy(forbidden, failing),
      shows({ isUndecided: true }, { hasNewPermissions: true }),
      [failing],
    ],
    [
      "a doubt that was a blocker, for any head",
      blockedBy(review),
      shows({ likelyRefusals: [review] }, { headSha: "later" }),
      [review],
    ],
    ["none of a doubt that is gone", blockedBy(review), shows({}), []],
    ["no doubt that was not a blocker before", blockedBy(failing), shows({ likelyRefusals: [review] }), []],
    [
      "the new doubt in place of the earlier one",
      blockedBy(review),
      shows({ likelyRefusals: [blocker("changes_requested")] }),
      [blocker("changes_requested")],
    ],
  ])("are %s", (_name, blocked, later, remaining) => {
    expect(remainingReasons(blocked, later)).toEqual(remaining);
  });
});

it("two lists of reasons are equal if their subjects are, whatever the messages", () => {
  const branch = (name: string) => blocker("branch_missing", "acme/web", { branch: name });
  expect(areSameReasons([failing], [{ ...failing, message: "other", details: { failing: ["x"] } }])).toBe(
    true,
  );
  expect(areSameReasons([branch("a")], [branch("b")])).toBe(false);
  expect(areSameReasons([failing], [failing, review])).toBe(false);
});
