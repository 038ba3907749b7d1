import { describe, expect, it } from "@jest/globals";
import { DEFAULT_FLOW, type Flow, type Stage } from "../../src/flow/flow.ts";
import type { BranchFacts, HeadFacts, PullRequestFacts } from "../../src/flow/facts.ts";
import { planMove, type RepositoryState } from "../../src/flow/move.ts";
import {
  workByRepository,
  headsOf,
  judgeReadiness,
  type OnFailingChecks,
  type Readiness,
} from "../../src/flow/readiness.ts";

const FLOW: Flow = {
  ...DEFAULT_FLOW,
  stages: DEFAULT_FLOW.stages.map((stage, at) => ({ ...stage, id: String(at) })),
};
const DONE: Stage = FLOW.stages.at(-1)!;
const HEAD = "a".repeat(40);

const pull = (changes: Partial<PullRequestFacts> = {}): PullRequestFacts => ({
  number: 1,
  nodeId: "PR_1",
  state: "open",
  isDraft: false,
  targetBranch: "main",
  headSha: HEAD,
  mergeable: "mergeable",
  reviewDecision: null,
  isInMergeQueue: false,
  mergeSha: null,
  isMergedByPerson: false,
  checks: { state: null, failing: [], pending: [] },
  unmetChecks: [],
  ...changes,
});

const START_MS = FLOW.verification.checksStartSeconds * 1_000;
const NO_RULES = {
  requiredChecks: [],
  requiredApprovals: 0,
  requiresLastPushApproval: false,
  requiresCodeOwnerReview: false,
  requiresResolvedThreads: false,
  sources: [],
};
const OLD: HeadFacts = {
  ageMs: START_MS,
  readyAgeMs: null,
  hadChecks: false,
  pushers: [],
  lastPusher: null,
};

const repository = (facts: Partial<BranchFacts> = {}, id = "web"): RepositoryState => ({
  repositoryId: id,
  fullName: `acme/${id}`,
  branchName: "card/1",
  facts: {
    target: { name: "main", sha: "b".repeat(40) },
    headSha: HEAD,
    aheadBy: 1,
    requiredChecks: [],
    rules: { ...NO_RULES, requiredChecks: facts.requiredChecks ?? [] },
    pullRequests: [pull()],
    ...facts,
  },
  head: OLD,
});

interface Case {
  readonly now: readonly RepositoryState[];
  /** What was armed; by default nothing is. */
  readonly armed?: readonly RepositoryState[];
  readonly ageMs?: number;
  readonly flow?: Flow;
  readonly onFailingChecks?: OnFailingChecks;
}

function judge({ now, armed, ageMs = START_MS, flow = FLOW, onFailingChecks = "disarm" }: Case): Readiness {
  const armedWith = armed ? workByRepository(armed) : null;
  const card = { number: 1, title: "Say hello" };
  const headShas = armedWith && headsOf(armedWith);
  const repositories = now.map((each) => ({ ...each, head: { ...OLD, ...each.head, ageMs } }));
  const { reasons, doubts, starting } = planMove({ flow, stage: DONE, card, repositories, headShas });
  const found = { reasons, doubts, starting, repositories };
  return judgeReadiness({ flow, stage: DONE, ...found, armedWith, onFailingChecks });
}

const said = (readiness: Readiness): string[] => {
  if (readiness.state === "ready") return ["ready"];
  if (readiness.state === "changed") return ["changed", readiness.disarming.reason];
  const reasons = readiness.state === "waiting" ? readiness.waitingFor : readiness.reasons;
  return [readiness.state, ...reasons.map(({ reason }) => reason)];
};

const requiring = (unmet: readonly string[], changes: Partial<PullRequestFacts> = {}) =>
  repository({ requiredChecks: ["ci"], pullRequests: [pull({ unmetChecks: unmet, ...changes })] });
const of = (changes: Partial<PullRequestFacts>) => repository({ pullRequests: [pull(changes)] });
const PENDING = { state: "pending", failing: [], pending: ["ci"] } as const;
const FAILING = { state: "failing", failing: ["ci"], pending: [] } as const;
const PASSING = { state: "passing", failing: [], pending: [] } as const;

const [LINUS, GRACE] = [
  { forgeId: 7, login: "linus" },
  { forgeId: 8, login: "grace" },
];
/** Work that linus has pushed, and one approval. */
const approvedBy = (
  author: typeof LINUS,
  rules: Partial<typeof NO_RULES>,
  commits: BranchFacts["commits"] = [{ sha: HEAD, authorIds: [LINUS.forgeId] }],
): RepositoryState => ({
  ...repository({
    rules: { ...NO_RULES, ...rules },
    commits,
    pullRequests: [pull({ reviewDecision: "approved", reviews: [{ state: "approved", author }] })],
  }),
  head: { ...OLD, pushers: [LINUS], lastPusher: LINUS },
});

describe("a card in a stage that merges", () => {
  it.each<[string, Case, string[]]>([
    ["is ready a minute after the push if no check is required", { now: [repository()] }, ["ready"]],
    [
      "waits for another code owner than the pusher, although no number of approvals is required",
      { now: [approvedBy(LINUS, { requiresCodeOwnerReview: true })] },
      ["waiting", "review_required"],
    ],
    [
      "is ready with the approval of a code owner who did not work on it",
      { now: [approvedBy(GRACE, { requiresCodeOwnerReview: true })] },
      ["ready"],
    ],
    [
      "is refused if its authors cannot be read, which no event changes",
      { now: [approvedBy(GRACE, { requiredApprovals: 1 }, null)] },
      ["refused", "review_required"],
    ],
    [
      "waits in the first minute if no check is required",
      { now: [repository()], ageMs: 0 },
      ["waiting", "checks_pending"],
    ],
    [
      "waits in the first minute even if other checks pass",
      { now: [of({ checks: PASSING })], ageMs: 0 },
      ["waiting", "checks_pending"],
    ],
    [
      "waits for a required check that has not reported",
      { now: [requiring(["ci"])] },
      ["waiting", "checks_pending"],
    ],
    [
      "is ready at once if the required checks have passed",
      { now: [requiring([], { checks: PASSING })], ageMs: 0 },
      ["ready"],
    ],
    [
      "names a required check once that is pending",
      { now: [requiring(["ci"], { checks: PENDING })] },
      ["waiting", "checks_pending"],
    ],
    [
      "is refused for a failing check",
      { now: [requiring(["ci"], { checks: FAILING })] },
      ["refused", "checks_failing"],
    ],
    [
      "waits for a failing check that may be repeated, if it was asked to",
      { now: [requiring(["ci"], { checks: FAILING })], onFailingChecks: "wait" },
      ["waiting", "checks_failing"],
    ],
    [
      "waits for a review",
      { now: [of({ reviewDecision: "review_required" })] },
      ["waiting", "review_required"],
    ],
    [
      "is refused if changes are requested",
      { now: [of({ reviewDecision: "changes_requested", checks: PENDING })] },
      ["refused", "changes_requested"],
    ],
    [
      "is refused for a conflict, whatever the checks are",
      { now: [of({ mergeable: "conflicting", checks: PENDING })] },
      ["refused", "conflicts"],
    ],
    [
      "is refused if the pull request is closed",
      { now: [of({ state: "closed" })] },
      ["refused", "pull_request_closed"],
    ],
    ["is ready if GitHub's queue decides", { now: [requiring(["ci"], { isInMergeQueue: true })] }, ["ready"]],
    [
      "is ready if somebody has merged it",
      { now: [of({ state: "merged" })], armed: [repository()] },
      ["ready"],
    ],
    [
      "waits for each repository",
      { now: [repository(), repository({ pullRequests: [pull({ checks: PENDING })] }, "api")] },
      ["waiting", "checks_pending"],
    ],
    [
      "follows GitHub's rules where the flow ignores checks",
      { now: [requiring(["ci"], { checks: FAILING })], flow: { ...FLOW, checks: "ignored" } },
      ["refused", "checks_failing"],
    ],
    [
      "is refused if the head has moved",
      { now: [repository({ headSha: "c".repeat(40) })], armed: [repository()] },
      ["refused", "head_moved"],
    ],
    [
      "has changed if a repository was added",
      { now: [repository(), repository({}, "api")], armed: [repository()] },
      ["changed", "repositories_changed"],
    ],
    [
      "has changed if a repository was exchanged",
      { now: [repository({}, "api")], armed: [repository()] },
      ["changed", "repositories_changed"],
    ],
    [
      "has changed if the default branch has",
      {
        now: [repository({ target: { name: "trunk", sha: HEAD }, pullRequests: [] })],
        armed: [repository()],
      },
      ["changed", "flow_changed"],
    ],
    [
      "has changed if the pull request merges elsewhere",
      { now: [of({ targetBranch: "next" })], armed: [repository()] },
      ["changed", "pull_request_changed"],
    ],
    [
      "has changed if the pull request became a draft",
      { now: [of({ isDraft: true })], armed: [repository()] },
      ["changed", "pull_request_changed"],
    ],
    [
      "is ready without a pull request, which the move opens",
      { now: [repository({ pullRequests: [] })] },
      ["ready"],
    ],
  ])("%s", (_, question, expected) => {
    expect(said(judge(question))).toEqual(expected);
  });

  it("says when the first minute ends, unless it waits for something else too", () => {
    expect(judge({ now: [repository()], ageMs: 20_000 })).toMatchObject({
      endsInMs: START_MS - 20_000,
    });
    expect(judge({ now: [of({ checks: PENDING })], ageMs: 20_000 })).toMatchObject({ endsInMs: null });
  });

  it("waits for room in the stage only after it was armed, and mentions it if nothing else is missing", () => {
    const full = { reason: "wip_limit", message: "full", repository: "", details: {} } as const;
    const plan = (now: RepositoryState) =>
      planMove({ flow: FLOW, stage: DONE, card: { number: 1, title: "x" }, repositories: [now] });
    const judged = (now: RepositoryState, isArmed: boolean) =>
      said(
        judgeReadiness({
          flow: FLOW,
          stage: DONE,
          onFailingChecks: "disarm",
          starting: plan(now).starting,
          reasons: [full, ...plan(now).reasons],
          doubts: plan(now).doubts,
          repositories: [now],
          armedWith: isArmed ? workByRepository([now]) : null,
        }),
      );
    expect(judged(repository(), false)).toEqual(["refused", "wip_limit"]);
    expect(judged(repository(), true)).toEqual(["waiting", "wip_limit"]);
    expect(judged(of({ checks: PENDING }), true)).toEqual(["waiting", "checks_pending"]);
  });
});
