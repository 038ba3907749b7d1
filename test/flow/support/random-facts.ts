import fc from "fast-check";
import type { PullRequestFacts } from "../../../src/flow/facts.ts";
import { DEFAULT_FLOW, type Flow, type RuleType, type Stage } from "../../../src/flow/flow.ts";

export const flow: Flow = {
  ...DEFAULT_FLOW,
  stages: DEFAULT_FLOW.stages.map((stage) => ({ ...stage, id: stage.name })),
};

export const stageWith = (type: RuleType): Stage => ({
  id: type,
  name: type,
  kind: "stage",
  minRole: "member",
  rule: { type, into: null },
});

export const pull = (over: Partial<PullRequestFacts> = {}): PullRequestFacts => ({
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

const anyPull = fc
  .record({
    number: fc.integer({ min: 1, max: 99 }),
    state: fc.constantFrom("open" as const, "closed" as const, "merged" as const),
    isDraft: fc.boolean(),
    targetBranch: fc.constantFrom("main", "develop"),
    headSha: fc.constantFrom("head", "older"),
    mergeable: fc.constantFrom("mergeable" as const, "conflicting" as const, "unknown" as const),
    reviewDecision: fc.constantFrom(
      null,
      "approved" as const,
      "review_required" as const,
      "changes_requested" as const,
    ),
    isInMergeQueue: fc.boolean(),
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

export const anyRepositories = fc.array(
  fc.record({
    repositoryId: fc.uuid(),
    fullName: fc.constantFrom("acme/web", "acme/api"),
    branchName: fc.constantFrom("card/7", null),
    facts: anyFacts,
    isForgeLagging: fc.boolean(),
    start: fc.record({ facts: anyFacts }),
  }),
  { maxLength: 4 },
);

export const anyRule = fc.constantFrom<RuleType>(
  "none",
  "branch",
  "draft_pull_request",
  "pull_request",
  "merge",
);
