import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { BranchFacts, PullRequestFacts } from "../../src/flow/facts.ts";
import { DEFAULT_FLOW, type Flow, type RuleType, type Stage } from "../../src/flow/flow.ts";
import { planMove, type MovePlan } from "../../src/flow/move.ts";
import type { Refusal } from "../../src/flow/refusal.ts";

const flow: Flow = {
  ...DEFAULT_FLOW,
  stages: DEFAULT_FLOW.stages.map((stage) => ({ ...stage, id: stage.name })),
};
const stageWith = (type: RuleType): Stage => ({
  id: type,
  name: type,
  kind: "stage",
  minRole: "member",
  rule: { type, into: null },
});

const pull = (over: Partial<PullRequestFacts> = {}): PullRequestFacts => ({
  number: 12,
  nodeId: "PR_12",
  state: "open",
  isDraft: false,
  targetBranch: "main",
  headSha: "head",
  mergeable: "mergeable",
  reviewDecision: null,
  isInMergeQueue: false,
  isMergedByPerson: false,
  mergeSha: null,
  checks: { state: null, failing: [], pending: [] },
  ...over,
});

const facts = (over: Partial<BranchFacts> = {}): BranchFacts => ({
  target: { name: "main", sha: "trunk" },
  headSha: "head",
  aheadBy: 1,
  pullRequests: [],
  ...over,
});

function plan(
  type: RuleType,
  look: BranchFacts | Refusal,
  {
    branchName = "card/7-say-hello",
    checks = flow.checks,
  }: { branchName?: string | null; checks?: Flow["checks"] } = {},
): MovePlan {
  return planMove({
    flow: { ...flow, checks },
    stage: stageWith(type),
    card: { number: 7, title: "Say hello" },
    repositories: [{ repositoryId: "r1", fullName: "acme/web", branchName, facts: look }],
  });
}

const actionsOf = ({ steps }: MovePlan): string[] => steps.map((step) => step.action);
const reasonsOf = ({ reasons }: MovePlan): string[] => reasons.map(({ reason }) => reason);

describe("what entering a stage does in a repository", () => {
  const fresh = facts({ headSha: null, aheadBy: null });
  const cut = facts({ headSha: "trunk", aheadBy: 0 });
  const pushed = facts();
  const drafted = facts({ pullRequests: [pull({ isDraft: true })] });
  const open = facts({ pullRequests: [pull()] });
  const merged = facts({ aheadBy: 0, pullRequests: [pull({ state: "merged", mergeSha: "m" })] });
  const squashed = facts({ aheadBy: 1, pullRequests: [pull({ state: "merged", mergeSha: "m" })] });
  const closed = facts({ pullRequests: [pull({ state: "closed" })] });

  it.each<[string, RuleType, BranchFacts, string | null, string[], string[]]>([
    ["no rule, no branch", "none", fresh, null, [], []],
    ["branch, none yet", "branch", fresh, null, ["create_branch"], []],
    ["branch, cut", "branch", cut, "b", [], []],
    ["draft, no branch yet", "draft_pull_request", fresh, null, ["create_branch"], []],
    ["draft, nothing pushed yet", "draft_pull_request", cut, "b", [], []],
    ["draft, commits pushed", "draft_pull_request", pushed, "b", ["open_pull_request"], []],
    ["draft, one is open", "draft_pull_request", drafted, "b", [], []],
    ["draft, coming back from review", "draft_pull_request", open, "b", [], []],
    ["review, no branch yet", "pull_request", fresh, null, [], ["nothing_to_merge"]],
    ["review, nothing pushed", "pull_request", cut, "b", [], ["nothing_to_merge"]],
    ["review, commits but no pull request", "pull_request", pushed, "b", ["open_pull_request"], []],
    ["review, a draft", "pull_request", drafted, "b", ["mark_ready"], []],
    ["review, ready", "pull_request", open, "b", [], []],
    ["review, somebody closed it", "pull_request", closed, "b", [], ["pull_request_closed"]],
    ["merge, no branch yet", "merge", fresh, null, [], ["nothing_to_merge"]],
    ["merge, nothing pushed", "merge", cut, "b", [], ["nothing_to_merge"]],
    ["merge, no pull request yet", "merge", pushed, "b", ["open_pull_request"], []],
    ["merge, a draft", "merge", drafted, "b", ["mark_ready", "merge"], []],
    ["merge, ready", "merge", open, "b", ["merge"], []],
    ["merge, merged already", "merge", merged, "b", [], []],
    ["merge, squashed already", "merge", squashed, "b", [], []],
    ["merge, somebody closed it", "merge", closed, "b", [], ["pull_request_closed"]],
    ["merge, branch gone", "merge", facts({ headSha: null, aheadBy: null }), "b", [], ["branch_missing"]],
    [
      "branch, target gone",
      "branch",
      facts({ target: { name: "main", sha: null } }),
      null,
      [],
      ["branch_missing"],
    ],
  ])("%s", (_name, rule, look, branchName, actions, reasons) => {
    const planned = plan(rule, look, { branchName });
    expect(actionsOf(planned)).toEqual(actions);
    expect(reasonsOf(planned)).toEqual(reasons);
  });

  it("opens a draft where the stage asks for a draft, and a ready one where it asks for more", () => {
    expect(plan("draft_pull_request", pushed).steps).toMatchObject([{ isDraft: true }]);
    expect(plan("pull_request", pushed).steps).toMatchObject([{ isDraft: false }]);
  });

  it("pins the head of the pull request it merges", () => {
    expect(plan("merge", facts({ pullRequests: [pull({ headSha: "pinned" })] })).steps).toMatchObject([
      { action: "merge", headSha: "pinned", prNumber: 12 },
    ]);
  });

  it("looks again once a pull request that is to be merged has been opened", () => {
    expect(plan("merge", pushed).needsAnotherLook).toBe(true);
    expect(plan("pull_request", pushed).needsAnotherLook).toBe(false);
  });

  it("opens a second pull request for commits pushed after the first was merged", () => {
    const more = facts({ headSha: "newer", pullRequests: [pull({ state: "merged", headSha: "head" })] });
    expect(actionsOf(plan("merge", more))).toEqual(["open_pull_request"]);
  });

  it.each<[RuleType, boolean]>([
    ["branch", false],
    ["draft_pull_request", true],
    ["pull_request", true],
    ["merge", true],
  ])("%s, does nothing while a pull request that was heard of is not shown: %s", (type, isBehind) => {
    const behind = {
      repositoryId: "r1",
      fullName: "acme/web",
      branchName: "b",
      facts: pushed,
      isBehind: true,
    };
    const card = { number: 7, title: "Say hello" };
    const planned = planMove({ flow, stage: stageWith(type), card, repositories: [behind] });
    expect(planned).toMatchObject({ steps: [], reasons: [], isBehind });
  });

  it("has nothing to merge where all that the target lacks is what the branch was cut from", () => {
    const bare = { repositoryId: "r1", fullName: "acme/web", branchName: "b", facts: pushed, isBare: true };
    const card = { number: 7, title: "Say hello" };
    const planned = planMove({ flow, stage: stageWith("merge"), card, repositories: [bare] });
    expect([actionsOf(planned), reasonsOf(planned)]).toEqual([[], ["nothing_to_merge"]]);
  });

  // Fault: C11
  it("may find a merge landing: the target has the commits, and the pull request is shown as open", () => {
    expect(plan("merge", facts({ aheadBy: 0, pullRequests: [pull()] })).isLanding).toBe(true);
    expect(plan("merge", facts({ aheadBy: 0 })).isLanding).toBe(false);
    expect(plan("merge", open).isLanding).toBe(false);
  });

  it("does not take a pull request into another branch for the one that counts", () => {
    const elsewhere = facts({ pullRequests: [pull({ targetBranch: "develop" })] });
    expect(actionsOf(plan("merge", elsewhere))).toEqual(["open_pull_request"]);
  });

  it("makes a branch again at the very commit that was merged elsewhere, and looks again before it goes on", () => {
    const elsewhere = pull({ state: "merged", targetBranch: "develop", headSha: "merged" });
    const lost = plan("merge", facts({ headSha: null, aheadBy: null, pullRequests: [elsewhere] }));
    expect(lost.steps).toMatchObject([{ action: "restore_branch", fromSha: "merged" }]);
    expect(lost.needsAnotherLook).toBe(true);
  });

  it("has nothing to do where the work of a branch merged elsewhere has come to the target already", () => {
    const elsewhere = pull({ state: "merged", targetBranch: "develop" });
    const landed = plan("merge", facts({ aheadBy: 0, pullRequests: [elsewhere] }));
    expect([actionsOf(landed), reasonsOf(landed)]).toEqual([[], []]);
  });

  it("carries what the forge says when it cannot be asked", () => {
    const gone: Refusal = { reason: "not_permitted", message: "Not Found" };
    expect(plan("merge", gone).reasons).toEqual([
      { reason: "not_permitted", message: "Not Found", repository: "acme/web", details: {} },
    ]);
  });
});

describe("what keeps a pull request from being merged", () => {
  const withPull = (over: Partial<PullRequestFacts>): BranchFacts => facts({ pullRequests: [pull(over)] });

  it("is refused for conflicts", () => {
    expect(reasonsOf(plan("merge", withPull({ mergeable: "conflicting" })))).toEqual(["conflicts"]);
  });

  it.each(["failing", "pending"] as const)("is refused while checks are %s, by name", (state) => {
    const checks = { state, failing: [], pending: [], [state]: ["build"] };
    const planned = plan("merge", withPull({ checks }));
    expect(reasonsOf(planned)).toEqual([`checks_${state}`]);
    expect(planned.reasons[0]?.message).toContain("build");
  });

  it("does not look at checks where the flow ignores them", () => {
    const checks = { state: "failing", failing: ["build"], pending: [] } as const;
    expect(actionsOf(plan("merge", withPull({ checks }), { checks: "ignored" }))).toEqual(["merge"]);
  });

  it("lists all that is known, not only the first", () => {
    const checks = { state: "failing", failing: ["build"], pending: [] } as const;
    expect(reasonsOf(plan("merge", withPull({ mergeable: "conflicting", checks })))).toEqual([
      "conflicts",
      "checks_failing",
    ]);
  });

  it("never takes mergeability that is still computed for a conflict", () => {
    const planned = plan("merge", withPull({ mergeable: "unknown" }));
    expect(reasonsOf(planned)).toEqual([]);
    expect(planned.isUndecided).toBe(true);
  });

  it("doubts what a missing review will do, and leaves the last word to the forge", () => {
    const planned = plan("merge", withPull({ reviewDecision: "review_required" }));
    expect(actionsOf(planned)).toEqual(["merge"]);
    expect(planned.doubts.map(({ reason }) => reason)).toEqual(["review_required"]);
  });
});

const anyPull = fc
  .record({
    number: fc.integer({ min: 1, max: 99 }),
    state: fc.constantFrom("open" as const, "closed" as const, "merged" as const),
    isDraft: fc.boolean(),
    targetBranch: fc.constantFrom("main", "develop"),
    headSha: fc.constantFrom("head", "older"),
    mergeable: fc.constantFrom("mergeable" as const, "conflicting" as const, "unknown" as const),
    checks: fc.constantFrom(
      { state: null, failing: [], pending: [] },
      { state: "failing" as const, failing: ["build"], pending: [] },
      { state: "pending" as const, failing: [], pending: ["build"] },
    ),
  })
  .map((over) => pull(over));

const anyFacts = fc.record({
  target: fc.record({ name: fc.constant("main"), sha: fc.constantFrom("trunk", null) }),
  headSha: fc.constantFrom("head", null),
  aheadBy: fc.constantFrom(0, 1, null),
  pullRequests: fc.array(anyPull, { maxLength: 3 }),
});

const anyRepositories = fc.array(
  fc.record({
    repositoryId: fc.uuid(),
    fullName: fc.constantFrom("acme/web", "acme/api"),
    branchName: fc.constantFrom("card/7", null),
    facts: anyFacts,
  }),
  { maxLength: 4 },
);

const anyRule = fc.constantFrom<RuleType>("none", "branch", "draft_pull_request", "pull_request", "merge");

describe("every plan", () => {
  const planned = fc.tuple(anyRule, anyRepositories).map(([rule, repositories]) => ({
    rule,
    repositories,
    plan: planMove({ flow, stage: stageWith(rule), card: { number: 7, title: "Say hello" }, repositories }),
  }));

  it("merges only on entering a merge stage, and after everything else", () => {
    fc.assert(
      fc.property(planned, ({ rule, plan: { steps } }) => {
        const actions = steps.map(({ action }) => action);
        const sinceFirstMerge = actions.includes("merge") ? actions.slice(actions.indexOf("merge")) : [];
        expect(sinceFirstMerge.every((action) => action === "merge")).toBe(true);
        expect(rule === "merge" || sinceFirstMerge.length === 0).toBe(true);
      }),
    );
  });

  it("merges a repository at most once, and never one it has a reason against", () => {
    fc.assert(
      fc.property(planned, ({ plan: { steps, reasons } }) => {
        const merges = steps.filter(({ action }) => action === "merge");
        expect(new Set(merges.map(({ repositoryId }) => repositoryId)).size).toBe(merges.length);
        expect(reasons.map(({ reason }) => reason)).not.toContain("unknown");
      }),
    );
  });

  it("asks nothing of a stage without a rule", () => {
    fc.assert(
      fc.property(anyRepositories, (repositories) => {
        const question = { flow, stage: stageWith("none"), card: { number: 7, title: "x" }, repositories };
        expect(planMove(question)).toMatchObject({ steps: [], reasons: [], isUndecided: false });
      }),
    );
  });
});
