import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { BranchFacts, PullRequestFacts } from "../../src/flow/facts.ts";
import type { Flow, RuleType } from "../../src/flow/flow.ts";
import { planMove, type MovePlan } from "../../src/flow/move.ts";
import type { Refusal } from "../../src/flow/refusal.ts";
import { anyRepositories, anyRule, flow, pull, stageWith } from "./support/random-facts.ts";

const facts = (over: Partial<BranchFacts> = {}): BranchFacts => ({
  target: { name: "main", sha: "trunk" },
  headSha: "head",
  aheadBy: 1,
  pullRequests: [],
  ...over,
});

function plan(
  type: RuleType,
  found: BranchFacts | Refusal,
  {
    branchName = "card/7-say-hello",
    checks = flow.checks,
    requiredSha,
  }: { branchName?: string | null; checks?: Flow["checks"]; requiredSha?: string } = {},
): MovePlan {
  return planMove({
    flow: { ...flow, checks },
    stage: stageWith(type),
    card: { number: 7, title: "Say hello" },
    headShas: requiredSha === undefined ? null : { r1: requiredSha },
    repositories: [{ repositoryId: "r1", fullName: "acme/web", branchName, facts: found }],
  });
}

const actionsOf = ({ steps }: MovePlan): string[] => steps.map((step) => step.action);
const reasonsOf = ({ reasons }: MovePlan): string[] => reasons.map(({ reason }) => reason);

describe("planMove", () => {
  const fresh = facts({ headSha: null, aheadBy: null });
  const created = facts({ headSha: "trunk", aheadBy: 0 });
  const pushed = facts();
  const drafted = facts({ pullRequests: [pull({ isDraft: true })] });
  const open = facts({ pullRequests: [pull()] });
  const merged = facts({ aheadBy: 0, pullRequests: [pull({ state: "merged", mergeSha: "m" })] });
  const squashed = facts({ aheadBy: 1, pullRequests: [pull({ state: "merged", mergeSha: "m" })] });
  const closed = facts({ pullRequests: [pull({ state: "closed" })] });

  it.each<[string, RuleType, BranchFacts, string | null, string[], string[]]>([
    ["no rule, no branch", "none", fresh, null, [], []],
    ["branch, none yet", "branch", fresh, null, ["create_branch"], []],
    ["branch, created", "branch", created, "b", [], []],
    ["draft, no branch yet", "draft_pull_request", fresh, null, ["create_branch"], []],
    ["draft, nothing pushed yet", "draft_pull_request", created, "b", [], []],
    ["draft, commits pushed", "draft_pull_request", pushed, "b", ["open_pull_request"], []],
    ["draft, one is open", "draft_pull_request", drafted, "b", [], []],
    ["draft, coming back from review", "draft_pull_request", open, "b", [], []],
    ["review, no branch yet", "pull_request", fresh, null, [], ["nothing_to_merge"]],
    ["review, nothing pushed", "pull_request", created, "b", [], ["nothing_to_merge"]],
    ["review, commits but no pull request", "pull_request", pushed, "b", ["open_pull_request"], []],
    ["review, a draft", "pull_request", drafted, "b", ["mark_ready"], []],
    ["review, ready", "pull_request", open, "b", [], []],
    ["review, closed", "pull_request", closed, "b", [], ["pull_request_closed"]],
    ["merge, no branch yet", "merge", fresh, null, [], ["nothing_to_merge"]],
    ["merge, nothing pushed", "merge", created, "b", [], ["nothing_to_merge"]],
    ["merge, no pull request yet", "merge", pushed, "b", ["open_pull_request"], []],
    ["merge, a draft", "merge", drafted, "b", ["mark_ready"], []],
    ["merge, ready", "merge", open, "b", ["merge"], []],
    ["merge, merged already", "merge", merged, "b", [], []],
    ["merge, squashed already", "merge", squashed, "b", [], []],
    ["merge, closed", "merge", closed, "b", [], ["pull_request_closed"]],
    ["merge, branch deleted", "merge", facts({ headSha: null, aheadBy: null }), "b", [], ["branch_missing"]],
    [
      "branch, target deleted",
      "branch",
      facts({ target: { name: "main", sha: null } }),
      null,
      [],
      ["branch_missing"],
    ],
  ])("handles the case: %s", (_name, rule, found, branchName, actions, reasons) => {
    const planned = plan(rule, found, { branchName });
    expect(actionsOf(planned)).toEqual(actions);
    expect(reasonsOf(planned)).toEqual(reasons);
  });

  it("opens a draft or a ready pull request as the stage requires", () => {
    expect(plan("draft_pull_request", pushed).steps).toMatchObject([{ isDraft: true }]);
    expect(plan("pull_request", pushed).steps).toMatchObject([{ isDraft: false }]);
  });

  it("pins the head of the pull request it merges", () => {
    expect(plan("merge", facts({ pullRequests: [pull({ headSha: "pinned" })] })).steps).toMatchObject([
      { action: "merge", headSha: "pinned", prNumber: 12 },
    ]);
  });

  it("needs another inspection after it opens a pull request to merge", () => {
    expect(plan("merge", pushed).needsReplan).toBe(true);
    expect(plan("pull_request", pushed).needsReplan).toBe(false);
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
  ])("for the rule %s, waits for reads that show a known pull request: %s", (type, isForgeLagging) => {
    const behind = {
      repositoryId: "r1",
      fullName: "acme/web",
      branchName: "b",
      facts: pushed,
      isForgeLagging: true,
    };
    const card = { number: 7, title: "Say hello" };
    const planned = planMove({ flow, stage: stageWith(type), card, repositories: [behind] });
    expect(planned).toMatchObject({ steps: [], reasons: [], isForgeLagging });
  });

  it("has nothing to merge if the branch has only commits of its start", () => {
    const bare = {
      repositoryId: "r1",
      fullName: "acme/web",
      branchName: "b",
      facts: pushed,
      start: { facts: facts({ aheadBy: 0 }) },
    };
    const card = { number: 7, title: "Say hello" };
    const planned = planMove({ flow, stage: stageWith("merge"), card, repositories: [bare] });
    expect([actionsOf(planned), reasonsOf(planned)]).toEqual([[], ["nothing_to_merge"]]);
  });

  // Fault: C11
  it("finds an unfinished merge: the target has the commits and the pull request is still open", () => {
    expect(plan("merge", facts({ aheadBy: 0, pullRequests: [pull()] })).mayBeMerged).toBe(true);
    expect(plan("merge", facts({ aheadBy: 0 })).mayBeMerged).toBe(false);
    expect(plan("merge", open).mayBeMerged).toBe(false);
  });

  it("ignores a pull request into another branch", () => {
    const elsewhere = facts({ pullRequests: [pull({ targetBranch: "develop" })] });
    expect(actionsOf(plan("merge", elsewhere))).toEqual(["open_pull_request"]);
  });

  it("restores a branch at the commit that was merged elsewhere and needs another inspection", () => {
    const elsewhere = pull({ state: "merged", targetBranch: "develop", headSha: "merged" });
    const lost = plan("merge", facts({ headSha: null, aheadBy: null, pullRequests: [elsewhere] }));
    expect(lost.steps).toMatchObject([{ action: "restore_branch", fromSha: "merged" }]);
    expect(lost.needsReplan).toBe(true);
  });

  it("has no steps if the target already has the commits of a branch merged elsewhere", () => {
    const elsewhere = pull({ state: "merged", targetBranch: "develop" });
    const landed = plan("merge", facts({ aheadBy: 0, pullRequests: [elsewhere] }));
    expect([actionsOf(landed), reasonsOf(landed)]).toEqual([[], []]);
  });

  it("names the repository in which the target is missing", () => {
    const without = facts({ target: { name: "release", sha: null } });
    expect(plan("merge", without).reasons).toMatchObject([
      {
        message:
          "The target branch release does not exist in acme/web. Create it, or change the flow's target, then move the card again.",
        repository: "acme/web",
        details: { branch: "release" },
      },
    ]);
  });

  it("returns GitHub's message if the repository cannot be inspected", () => {
    const gone: Refusal = { reason: "not_permitted", message: "Not Found" };
    expect(plan("merge", gone).reasons).toEqual([
      { reason: "not_permitted", message: "Not Found", repository: "acme/web", details: {} },
    ]);
  });
});

describe("planMove with a required head", () => {
  const open = facts({ pullRequests: [pull()] });
  const merged = [pull({ state: "merged", mergeSha: "m" })];

  it.each<[string, RuleType, BranchFacts, string | null, string[]]>([
    ["no rule", "none", facts({ headSha: "other" }), "b", []],
    ["branch, the same head", "branch", facts(), "b", []],
    ["branch, another head", "branch", facts({ headSha: "other" }), "b", ["head_moved"]],
    ["branch, none yet", "branch", facts({ headSha: null, aheadBy: null }), null, ["head_moved"]],
    ["branch, deleted", "branch", facts({ headSha: null, aheadBy: null }), "b", ["head_moved"]],
    ["review, another head", "pull_request", facts({ headSha: "other" }), "b", ["head_moved"]],
    ["merge, the same head", "merge", open, "b", []],
    ["merge, another head", "merge", { ...open, headSha: "other" }, "b", ["head_moved"]],
    ["merge, merged already", "merge", facts({ aheadBy: 0, pullRequests: merged }), "b", []],
    ["merge, merged and deleted", "merge", facts({ headSha: null, pullRequests: merged }), "b", []],
    [
      "merge, another head merged and deleted",
      "merge",
      facts({ headSha: null, pullRequests: [pull({ state: "merged", headSha: "other" })] }),
      "b",
      ["head_moved"],
    ],
    [
      "merge, deleted after a merge into an earlier target",
      "merge",
      facts({ headSha: null, pullRequests: [pull({ state: "merged", targetBranch: "staging" })] }),
      "b",
      [],
    ],
  ])("handles the case: %s", (_name, rule, found, branchName, reasons) => {
    const planned = plan(rule, found, { branchName, requiredSha: "head" });
    expect(reasonsOf(planned)).toEqual(reasons);
    expect(reasons.length > 0 && planned.steps.length > 0).toBe(false);
  });

  it("pins the required head where the pull request is behind its branch", () => {
    const behind = facts({ pullRequests: [pull({ headSha: "older" })] });
    expect(plan("merge", behind, { requiredSha: "head" }).steps).toMatchObject([
      { action: "merge", headSha: "head" },
    ]);
  });

  it("reports the required and the present head", () => {
    expect(plan("merge", facts({ headSha: "other" }), { requiredSha: "head" }).reasons).toMatchObject([
      { repository: "acme/web", details: { requiredSha: "head", headSha: "other" } },
    ]);
  });
});

describe("the merge blockers of planMove", () => {
  const withPull = (over: Partial<PullRequestFacts>): BranchFacts => facts({ pullRequests: [pull(over)] });

  it("include conflicts", () => {
    expect(reasonsOf(plan("merge", withPull({ mergeable: "conflicting" })))).toEqual(["conflicts"]);
  });

  it.each(["failing", "pending"] as const)("include %s checks with their names", (state) => {
    const checks = { state, failing: [], pending: [], [state]: ["build"] };
    const planned = plan("merge", withPull({ checks }));
    expect(reasonsOf(planned)).toEqual([`checks_${state}`]);
    expect(planned.reasons[0]?.message).toContain("build");
  });

  it("do not include checks in a flow that ignores them", () => {
    const checks = { state: "failing", failing: ["build"], pending: [] } as const;
    expect(actionsOf(plan("merge", withPull({ checks }), { checks: "ignored" }))).toEqual(["merge"]);
  });

  it("are all listed, not only the first", () => {
    const checks = { state: "failing", failing: ["build"], pending: [] } as const;
    expect(reasonsOf(plan("merge", withPull({ mergeable: "conflicting", checks })))).toEqual([
      "conflicts",
      "checks_failing",
    ]);
  });

  it("do not include an unknown mergeability, which makes the plan undecided", () => {
    const planned = plan("merge", withPull({ mergeable: "unknown" }));
    expect(reasonsOf(planned)).toEqual([]);
    expect(planned.isUndecided).toBe(true);
  });

  it("do not include a missing review, which is a doubt that GitHub decides", () => {
    const planned = plan("merge", withPull({ reviewDecision: "review_required" }));
    expect(actionsOf(planned)).toEqual(["merge"]);
    expect(planned.doubts.map(({ reason }) => reason)).toEqual(["review_required"]);
  });
});

describe("every plan", () => {
  const planned = fc.tuple(anyRule, anyRepositories).map(([rule, repositories]) => ({
    rule,
    repositories,
    plan: planMove({ flow, stage: stageWith(rule), card: { number: 7, title: "Say hello" }, repositories }),
  }));

  it("merges only for a merge stage and after all other steps", () => {
    fc.assert(
      fc.property(planned, ({ rule, plan: { steps } }) => {
        const actions = steps.map(({ action }) => action);
        const sinceFirstMerge = actions.includes("merge") ? actions.slice(actions.indexOf("merge")) : [];
        expect(sinceFirstMerge.every((action) => action === "merge")).toBe(true);
        expect(rule === "merge" || sinceFirstMerge.length === 0).toBe(true);
      }),
    );
  });

  it("merges each repository at most once and has no unknown reason", () => {
    fc.assert(
      fc.property(planned, ({ plan: { steps, reasons } }) => {
        const merges = steps.filter(({ action }) => action === "merge");
        expect(new Set(merges.map(({ repositoryId }) => repositoryId)).size).toBe(merges.length);
        expect(reasons.map(({ reason }) => reason)).not.toContain("unknown");
      }),
    );
  });

  it("has no steps for a stage without a rule", () => {
    fc.assert(
      fc.property(anyRepositories, (repositories) => {
        const question = { flow, stage: stageWith("none"), card: { number: 7, title: "x" }, repositories };
        expect(planMove(question)).toMatchObject({ steps: [], reasons: [], isUndecided: false });
      }),
    );
  });
});
