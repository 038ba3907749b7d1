import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { Blocked, BlockedReason, RefusalReason } from "../../src/flow/refusal.ts";
import type { PullRequestFacts } from "../../src/flow/facts.ts";
import type { MoveStep } from "../../src/flow/move.ts";
import { previewOf } from "../../src/actions/moves/preview-move.ts";
import { workByRepository } from "../../src/flow/readiness.ts";
import { decide, finalOf, type Decision, type Run } from "../../src/flow/decide.ts";
import { areSameReasons, remainingReasons, type RecheckedCard } from "../../src/flow/remaining-reasons.ts";
import { anyRepositories, anyRule, flow, pull, stageWith } from "./support/random-facts.ts";

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

const RUNS: Run = {
  state: "run",
  steps: [step()],
  following: [],
  isDecidedAgain: false,
  doubts: [],
  mergedWork: [],
  unfinishedIn: ["acme/web"],
  isUndecided: false,
  warnings: [],
};
const rechecked = (decision: Decision, shown: Partial<RecheckedCard> = {}): RecheckedCard => ({
  decision,
  headSha: "head",
  shown: new Map(),
  mergeMethod: "merge",
  hasNewPermissions: false,
  ...shown,
});
const shows = (run: Partial<Run>, shown: Partial<RecheckedCard> = {}): RecheckedCard =>
  rechecked({ ...RUNS, ...run }, shown);
/** A decision that refuses. */
const refuses = (...reasons: readonly BlockedReason[]): RecheckedCard =>
  rechecked({
    ...RUNS,
    state: "refuse",
    reasons,
    steps: [],
    endsInMs: null,
    unfinishedIn: reasons.map(({ repository }) => repository),
  });

const archived = blocker("not_permitted", "acme/web", { connection: "archived" });
const forbidden = blocker("not_permitted");
const method = blocker("protected", "acme/web", { mergeMethod: "merge" });
const abandoned = blocker("unknown", "acme/web", { attempts: 5 });
const namesTaken = blocker("branch_missing", "acme/web", { taken: ["card/7"] });
const protectedBy = blocker("protected");
const failing = blocker("checks_failing", "acme/web", { failing: ["build"], pending: [] });
const facts = { target: { name: "main", sha: "trunk" }, headSha: "head", aheadBy: 1, pullRequests: [] };
const scan = blocker("checks_pending", "acme/web", { rule: "code_scanning" });
const conversations = blocker("review_required", "acme/web", { rule: "conversations" });
const rebase = blocker("conflicts", "acme/web", { mergeMethod: "rebase" });
const onGitHub = (change: Partial<PullRequestFacts>, name = "acme/web") => ({
  shown: new Map([[name, { ...facts, pullRequests: [pull(change)] }]]),
});
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
      refuses(failing),
      [failing],
    ],
    ["those of a response, while nothing has changed", blockedBy(protectedBy), shows({}), [protectedBy]],
    [
      "those of a response and of the inspection",
      blockedBy(protectedBy),
      refuses(failing),
      [protectedBy, failing],
    ],
    ["none of another head", blockedBy(protectedBy), shows({}, { headSha: "later" }), []],
    [
      "those of a response if the head cannot be read",
      blockedBy(protectedBy),
      { ...refuses(archived), headSha: undefined },
      [protectedBy, archived],
    ],
    ["none of another repository", blockedBy(protectedBy), shows({ unfinishedIn: ["acme/api"] }), []],
    ["none of another merge method", blockedBy(method), shows({}, { mergeMethod: "squash" }), []],
    ["that of the same merge method", blockedBy(method), shows({}), [method]],
    [
      "that of the repository whose pull request is not in a queue again",
      blockedBy(blocker("queue_rejected"), blocker("queue_rejected", "acme/api")),
      shows({ unfinishedIn: ["acme/web", "acme/api"] }, onGitHub({ isInMergeQueue: true })),
      [blocker("queue_rejected", "acme/api")],
    ],
    ["that it was abandoned, without steps", blockedBy(abandoned), shows({ unfinishedIn: [] }), [abandoned]],
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
      shows({ doubts: [review] }, { headSha: "later" }),
      [review],
    ],
    [
      "what GitHub has said about checks, while it shows the pull request as blocked",
      blockedBy(scan),
      shows({}, onGitHub({ mergeState: "blocked" })),
      [scan],
    ],
    [
      "none of what GitHub has said about checks, when it does not show the pull request as blocked",
      blockedBy(scan),
      shows({}, onGitHub({ mergeState: "clean" })),
      [],
    ],
    [
      "what GitHub has said about conversations, while there are some",
      blockedBy(conversations),
      shows({}, onGitHub({ unresolvedThreads: 1 })),
      [conversations],
    ],
    [
      "none of what GitHub has said about conversations, when all are resolved",
      blockedBy(conversations),
      shows({}, onGitHub({ unresolvedThreads: 0 })),
      [],
    ],
    [
      "what GitHub has said about a rebase, while the pull request can be merged otherwise",
      blockedBy(rebase),
      shows({}, { mergeMethod: "rebase", ...onGitHub({ mergeable: "mergeable" }) }),
      [rebase],
    ],
    [
      "none of what GitHub has said about a rebase, for another head",
      blockedBy(rebase),
      shows({}, { headSha: "later" }),
      [],
    ],
    ["none of a doubt that is gone", blockedBy(review), shows({}), []],
    ["no doubt that was not a blocker before", blockedBy(failing), shows({ doubts: [review] }), []],
    [
      "the new doubt in place of the earlier one",
      blockedBy(review),
      shows({ doubts: [blocker("changes_requested")] }),
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

const repository = (name: string, pullRequests: readonly PullRequestFacts[], isForgeLagging = false) => ({
  repositoryId: name,
  fullName: name,
  branchName: "card/7",
  facts: { ...facts, pullRequests },
  isForgeLagging,
});
const merge = {
  flow,
  stage: stageWith("merge"),
  card: { number: 7, title: "Say hello" },
  gateReasons: [],
  waiting: null,
};

it("a move reads everything again that GitHub does not show yet", () => {
  const repositories = [
    repository("acme/web", [], true),
    repository("acme/api", [pull({ mergeable: "unknown" })]),
  ];
  const decision = decide({ ...merge, repositories });
  expect(decision).toMatchObject({ state: "read_again", missing: ["pull_request", "mergeability"] });
});

it("the first reason of a move that can no longer wait is one that it does not wait for", () => {
  const checks = { state: "pending" as const, failing: [], pending: ["ci"] };
  const repositories = [
    repository("acme/web", [pull({ checks })]),
    repository("acme/api", [pull({ mergeable: "conflicting" })]),
  ];
  const waiting = { armedWith: workByRepository(repositories), onFailingChecks: "disarm" } as const;
  const gateReasons = [blocker("wip_limit", "")];
  const decision = finalOf(decide({ ...merge, repositories, gateReasons, waiting }));
  const reasons = decision.state === "refuse" ? decision.reasons.map(({ reason }) => reason) : [];
  expect(reasons).toEqual(["conflicts", "wip_limit", "checks_pending"]);
});

it("a branch that has to be opened first does not stop a merge that GitHub may accept", () => {
  const doubted = pull({ reviewDecision: "review_required" });
  const repositories = [repository("acme/web", []), repository("acme/api", [doubted])];
  expect(decide({ ...merge, repositories })).toMatchObject({ state: "run", isDecidedAgain: true });
});

describe("with the same facts", () => {
  /** What may be asked about a card: a move, and the same move that may wait. */
  const questions = fc
    .record({ rule: anyRule, repositories: anyRepositories, isFull: fc.boolean(), isArmed: fc.boolean() })
    .map(({ rule, repositories, isFull, isArmed }) => {
      const move = {
        flow,
        stage: stageWith(rule),
        card: { number: 7, title: "Say hello" },
        repositories,
        gateReasons: isFull ? [blocker("wip_limit", "")] : [],
        waiting: null,
      };
      const armedWith = isArmed ? workByRepository(repositories) : null;
      return { move, waits: { ...move, waiting: { armedWith, onFailingChecks: "wait" as const } } };
    });
  const isMerge = ({ action }: { readonly action: string }): boolean => action === "merge";

  it("a move that waits runs only what another move would run, and never with a doubt", () => {
    fc.assert(
      fc.property(questions, ({ move, waits }) => {
        const waited = finalOf(decide(waits));
        fc.pre(waited.state === "run");
        expect([waited, waited.doubts]).toEqual([finalOf(decide(move)), []]);
      }),
    );
  });

  it("a preview shows what the move does", () => {
    fc.assert(
      fc.property(questions, ({ move }) => {
        const decision = decide(move);
        const final = finalOf(decision);
        const { wouldMove, certainty, steps, reasons } = previewOf(decision);
        const isRefused = final.state === "refuse";
        expect([wouldMove, certainty === "certain" && !wouldMove]).toEqual([
          final.state === "run" && final.doubts.length === 0,
          isRefused,
        ]);
        expect(reasons).toEqual(isRefused ? final.reasons : final.doubts);
        const run = "steps" in final ? final.steps : [];
        expect(steps.slice(0, run.length)).toMatchObject(
          run.map(({ action, fullName, branchName }) => ({ action, fullName, branchName })),
        );
      }),
    );
  });

  it("a card that was refused stays blocked", () => {
    fc.assert(
      fc.property(questions, ({ move }) => {
        const decision = decide({ ...move, gateReasons: [] });
        const final = finalOf(decision);
        fc.pre(final.state === "refuse" && !final.isUndecided);
        const reasons = final.state === "refuse" ? final.reasons : [];
        expect(remainingReasons(blockedBy(...reasons), rechecked(decision))).toEqual(reasons);
      }),
    );
  });

  it("a blocked card that a move would move is free", () => {
    fc.assert(
      fc.property(questions, ({ move }) => {
        const decision = decide(move);
        const final = finalOf(decision);
        fc.pre(final.state === "run" && !final.isUndecided);
        expect(remainingReasons(blockedBy(failing), rechecked(decision))).toEqual([]);
      }),
    );
  });

  it("several merges run only without a doubt, and a refusal merges nothing", () => {
    fc.assert(
      fc.property(questions, ({ move }) => {
        const final = finalOf(decide(move));
        const merges = "steps" in final ? final.steps.filter(isMerge) : [];
        const allowed = final.state === "refuse" ? 0 : final.doubts.length > 0 ? 1 : Infinity;
        expect(merges.length).toBeLessThanOrEqual(allowed);
      }),
    );
  });
});
