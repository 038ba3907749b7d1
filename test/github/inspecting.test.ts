import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { BranchInspectionRequest } from "../../src/forge/pull-requests.ts";
import { type GitHubDouble, openGitHubDouble, OTHER_SHA, SHA, WEB } from "../support/forge/github-double.ts";

const BRANCH = "card/7-login";
const MERGED = "c".repeat(40);
const API_REPO = { installationId: 7, forgeId: 43, fullName: "acme/api" };
const web: BranchInspectionRequest = { repository: WEB, branchName: BRANCH, targetBranch: null };
const api: BranchInspectionRequest = { repository: API_REPO, branchName: BRANCH, targetBranch: "next" };

const run = (name: string, status: string, conclusion: string | null, databaseId: number, app = 1) => ({
  kind: "CheckRun",
  databaseId,
  name,
  status,
  conclusion,
  checkSuite: { app: { databaseId: app } },
});
const status = (context: string, state: string) => ({
  kind: "StatusContext",
  context,
  state,
  createdAt: "2026-11-20T12:00:00Z",
});
const rollup = (nodes: unknown[], endCursor: string | null = null) => ({
  contexts: { pageInfo: { hasNextPage: endCursor !== null, endCursor }, nodes },
});

function pull(over: Record<string, unknown> = {}) {
  return {
    id: "PR_5",
    number: 5,
    state: "OPEN",
    isDraft: false,
    baseRefName: "main",
    headRefName: BRANCH,
    headRefOid: SHA,
    headRepository: { databaseId: 42 },
    mergeable: "MERGEABLE",
    reviewDecision: null,
    isInMergeQueue: false,
    mergeCommit: null,
    statusCheckRollup: null,
    ...over,
  };
}

function repository(over: Record<string, unknown> = {}) {
  return {
    databaseId: 42,
    nameWithOwner: "acme/web",
    defaultBranchRef: { name: "main" },
    target: { name: "main", target: { oid: OTHER_SHA }, compare: { aheadBy: 2, behindBy: 3 } },
    head: { name: BRANCH, target: { oid: SHA } },
    pullRequests: { nodes: [] },
    ...over,
  };
}

const notFound = (path: (string | number)[]) => ({
  type: "NOT_FOUND",
  path,
  message: "Could not resolve to a Repository with the name 'acme/web'.",
});

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

const answering = (data: unknown, errors?: unknown[]) =>
  github.on("POST", "/graphql", 200, errors === undefined ? { data } : { data, errors });

const byName = ({ variables }: { variables: { n0: string } }) => {
  const isWeb = variables.n0 === "web";
  return { data: { r0: repository(isWeb ? {} : { databaseId: 43, nameWithOwner: "acme/api" }) } };
};

const checksOf = async (...pages: unknown[][]) => {
  const [first = [], ...rest] = pages;
  const cursor = (index: number) => (index < rest.length ? `c${index}` : null);
  answering({
    r0: repository({ pullRequests: { nodes: [pull({ statusCheckRollup: rollup(first, cursor(0)) })] } }),
  });
  rest.forEach((nodes, index) =>
    answering({ node: { statusCheckRollup: rollup(nodes, cursor(index + 1)) } }),
  );
  const [response] = await github.forge.inspect([web]);
  return response?.refusal === undefined ? response?.pullRequests[0]?.checks : undefined;
};

describe("inspecting branches", () => {
  const unknown = (typeName: string, fieldName: string) => ({
    path: ["fragment Pull", fieldName],
    extensions: { code: "undefinedField", typeName, fieldName },
    message: `Field '${fieldName}' doesn't exist on type '${typeName}'`,
  });
  const isInMergeQueue = unknown("PullRequest", "isInMergeQueue");
  const asksForQueue = () =>
    github.requests.map(({ body }) => String(Object(body).query).includes("isInMergeQueue"));

  test("asks an Enterprise Server once more without the queue if it knows none, and tries again after an hour", async () => {
    const { isInMergeQueue: _lacking, ...known } = pull();
    const data = { r0: repository({ pullRequests: { nodes: [known] } }) };
    const found = [{ pullRequests: [{ number: 5, isInMergeQueue: false }] }];
    github.on("POST", "/graphql", 200, { errors: [isInMergeQueue] });
    answering(data);
    expect(await github.forge.inspect([web])).toMatchObject(found);
    github.clock.pass(3_599_000);
    answering(data);
    expect(await github.forge.inspect([web])).toMatchObject(found);
    expect(asksForQueue()).toEqual([true, false, false]);
    expect(Object(github.requests[2]?.body).query).toContain("reviewDecision");
    github.clock.pass(1_000);
    const queued = { ...known, isInMergeQueue: true };
    answering({ r0: repository({ pullRequests: { nodes: [queued] } }) });
    expect(await github.forge.inspect([web])).toMatchObject([{ pullRequests: [{ isInMergeQueue: true }] }]);
    expect(asksForQueue()).toEqual([true, false, false, true]);
  });

  test.each([
    ["PullRequest", "reviewDecision"],
    ["PullRequest", "mergeable"],
    ["PullRequest", "isDraft"],
    ["PullRequest", "statusCheckRollup"],
    ["CheckRun", "conclusion"],
    ["Ref", "rules"],
    ["Ref", "refUpdateRule"],
    ["Repository", "isArchived"],
    ["Issue", "isInMergeQueue"],
  ])("fails if a server lacks %s.%s, on which a decision may depend", async (type, field) => {
    const message = `The GitHub server is too old: its GraphQL API lacks ${type}.${field}`;
    const failure = { name: "ForgeUnavailable", reason: "unusable_response", retryAfter: 60 };
    github.on("POST", "/graphql", 200, { errors: [unknown(type, field)] });
    await expect(github.forge.inspect([web])).rejects.toMatchObject({ ...failure, message });
    // Also next to a field that it may lack, and after the document without that one.
    github.on("POST", "/graphql", 200, { errors: [unknown(type, field), isInMergeQueue] });
    await expect(github.forge.inspect([web])).rejects.toThrow(`${type}.${field} and PullRequest.isInMerge`);
    github.on("POST", "/graphql", 200, { errors: [isInMergeQueue] });
    github.on("POST", "/graphql", 200, { errors: [unknown(type, field)] });
    await expect(github.forge.inspect([web])).rejects.toMatchObject({ ...failure, message });
    expect(asksForQueue()).toEqual([true, true, true, false]);
    expect(github.logged.join()).toContain(`"fields":["${type}.${field}"]`);
  });

  test("asks once more without the queue if the account forbids it, and again with it after new permissions", async () => {
    const found = [{ pullRequests: [{ number: 5, isInMergeQueue: false, checks: { state: null } }] }];
    const { isInMergeQueue: _forbidden, ...shown } = pull();
    const error = {
      type: "FORBIDDEN",
      path: ["r0", "pullRequests", "nodes", 0, "isInMergeQueue"],
      message: "Resource not accessible by integration",
    };
    github.on("GET", "/app/installations/7", 200, {
      id: 7,
      account: { id: 1, login: "acme" },
      permissions: {},
    });
    answering({ r0: repository({ pullRequests: { nodes: [null] } }) }, [error]);
    answering({ r0: repository({ pullRequests: { nodes: [shown] } }) });
    expect(await github.forge.inspect([web])).toMatchObject(found);
    answering({ r0: repository({ pullRequests: { nodes: [shown] } }) });
    expect(await github.forge.inspect([web])).toMatchObject(found);
    await github.forge.forgetToken(7);
    const queued = { ...pull(), isInMergeQueue: true };
    answering({ r0: repository({ pullRequests: { nodes: [queued] } }) });
    expect(await github.forge.inspect([web])).toMatchObject([{ pullRequests: [{ isInMergeQueue: true }] }]);
    const queries = github.sent("POST", "/graphql").map(({ body }) => String(Object(body).query));
    expect(queries.map((query) => query.includes("isInMergeQueue"))).toEqual([true, false, false, true]);
  });

  test("fails if a server refuses the document without the field because of the same field", async () => {
    for (let calls = 0; calls < 2; calls++) github.on("POST", "/graphql", 200, { errors: [isInMergeQueue] });
    await expect(github.forge.inspect([web])).rejects.toThrow("lacks PullRequest.isInMergeQueue");
  });

  test("takes one call for all repositories of an installation, with names as variables", async () => {
    answering({
      r0: repository(),
      r1: repository({ databaseId: 43, nameWithOwner: "acme/api", target: null, head: null }),
    });
    const [first, second] = await github.forge.inspect([web, api]);
    expect(github.requests).toHaveLength(1);
    const sent = github.requests[0]?.body as { query: string; variables: Record<string, string> };
    expect(sent.query).not.toMatch(/acme|card|next/);
    expect(sent.variables).toMatchObject({ o0: "acme", n1: "api", b0: BRANCH, t1: "refs/heads/next" });
    expect(first).toEqual({
      repository: { forgeId: 42, fullName: "acme/web", defaultBranch: "main" },
      target: { name: "main", sha: OTHER_SHA },
      headSha: SHA,
      aheadBy: 2,
      behindBy: 3,
      pullRequests: [],
      conversation: null,
      newest: null,
      commits: null,
    });
    expect(second).toMatchObject({ target: { name: "next", sha: null }, headSha: null, aheadBy: null });
  });

  test("takes one call for each installation and keeps the order of the request", async () => {
    github.on("POST", "/graphql", 200, byName);
    github.on("POST", "/graphql", 200, byName);
    const elsewhere = { ...api, repository: { ...API_REPO, installationId: 8 } };
    expect(await github.forge.inspect([elsewhere, web])).toMatchObject([
      { repository: { forgeId: 43 } },
      { repository: { forgeId: 42 } },
    ]);
    expect(github.requests).toHaveLength(2);
  });

  test("is repeated in halves if the response is too large", async () => {
    answering({ r0: repository({ title: "x".repeat(33 * 1024 * 1024) }), r1: repository() });
    answering({ r0: repository() });
    answering({ r0: repository({ databaseId: 43, nameWithOwner: "acme/api" }) });
    expect(await github.forge.inspect([web, api])).toMatchObject([
      { repository: { forgeId: 42 } },
      { repository: { forgeId: 43 } },
    ]);
    expect(github.requests.map(({ body }) => Object.keys((body as { variables: object }).variables))).toEqual(
      [
        expect.arrayContaining(["n0", "n1"]),
        expect.not.arrayContaining(["n1"]),
        expect.not.arrayContaining(["n1"]),
      ],
    );
  });

  const tooLarge: readonly [string, number, unknown][] = [
    ["resources", 200, { data: null, errors: [{ type: "RESOURCE_LIMITS_EXCEEDED", message: "Too large." }] }],
    ["time", 200, { data: null, errors: [{ message: "This may be the result of a timeout." }] }],
    ["time, with status 502", 502, { data: null, message: "We couldn't respond to your request in time." }],
  ];

  test.each(tooLarge)("that need too much of GitHub's %s are asked in halves", async (_, status, body) => {
    // A read that gets a 502 at once is repeated unchanged first.
    for (let calls = status === 502 ? 3 : 1; calls > 0; calls--) github.on("POST", "/graphql", status, body);
    github.on("POST", "/graphql", 200, byName);
    github.on("POST", "/graphql", 200, byName);
    expect(await github.forge.inspect([web, api])).toMatchObject([
      { repository: { forgeId: 42 } },
      { repository: { forgeId: 43 } },
    ]);
  });

  test("that GitHub ends after ten seconds are asked in halves, and not unchanged", async () => {
    const end = () => github.clock.pass(10_000);
    github.on("POST", "/graphql", 502, end);
    github.on("POST", "/graphql", 200, byName);
    github.on("POST", "/graphql", 504, end);
    expect(await github.forge.inspect([web, api], { isPartial: true })).toMatchObject([
      { repository: { forgeId: 42 } },
      { refusal: { reason: "unknown", message: "GitHub cannot read this much at once" } },
    ]);
    expect(github.requests).toHaveLength(3);
  });

  test("that GitHub does not return at once are not asked in halves", async () => {
    for (let calls = 0; calls < 3; calls++) github.on("POST", "/graphql", 502, "<html>Bad gateway</html>");
    await expect(github.forge.inspect([web, api])).rejects.toMatchObject({ name: "ForgeUnavailable" });
  });

  test("fail for a caller that needs every response if GitHub cannot read one of them", async () => {
    const [, , body] = tooLarge[0]!;
    for (let calls = 0; calls < 2; calls++) github.on("POST", "/graphql", 200, body);
    await expect(github.forge.inspect([web, api])).rejects.toMatchObject({
      name: "ForgeUnavailable",
      message: "GitHub cannot read this much at once: acme/web",
    });
  });

  test("of one repository is not repeated if its response is too large", async () => {
    answering({ r0: repository({ title: "x".repeat(33 * 1024 * 1024) }) });
    await expect(github.forge.inspect([web])).rejects.toMatchObject({
      name: "ForgeUnavailable",
      message: "GitHub's response is too large: acme/web",
    });
    expect(github.requests).toHaveLength(1);
  });

  test("of the target only reads no pull requests", async () => {
    answering({
      r0: repository({
        head: undefined,
        pullRequests: undefined,
        target: { name: "main", target: { oid: SHA } },
      }),
    });
    const [response] = await github.forge.inspect([{ ...web, branchName: null }]);
    expect(response).toMatchObject({ target: { sha: SHA }, headSha: null, aheadBy: null, pullRequests: [] });
    expect(Object(github.requests[0]?.body).query).not.toContain("pullRequests");
  });

  test("returns the pull requests of this branch of this repository only", async () => {
    const nodes = [
      pull({ number: 9, headRepository: { databaseId: 99 } }),
      pull({ number: 8, headRepository: null }),
      pull({ number: 7, headRefName: "card/7" }),
      null,
      pull({
        reviewDecision: "REVIEW_REQUIRED",
        isDraft: true,
        mergeable: "CONFLICTING",
        isInMergeQueue: true,
      }),
      pull({ number: 4, state: "MERGED", mergeCommit: { oid: MERGED }, mergeable: "UNKNOWN" }),
      pull({ number: 3, state: "CLOSED", mergeCommit: { oid: MERGED }, mergeable: "A_NEW_WORD" }),
    ];
    answering({ r0: repository({ pullRequests: { nodes } }) });
    const [response] = await github.forge.inspect([web]);
    expect(response).toMatchObject({
      pullRequests: [
        {
          number: 5,
          nodeId: "PR_5",
          state: "open",
          isDraft: true,
          mergeable: "conflicting",
          reviewDecision: "review_required",
          isInMergeQueue: true,
          mergeSha: null,
          checks: { state: null, failing: [], pending: [] },
        },
        { number: 4, state: "merged", mergeSha: MERGED, mergeable: "unknown" },
        { number: 3, state: "closed", mergeSha: null, mergeable: "unknown" },
      ],
    });
  });
});

describe("the checks of a pull request", () => {
  test("are the newest report of each name and App", async () => {
    const checks = await checksOf([
      run("build", "COMPLETED", "FAILURE", 1),
      run("build", "COMPLETED", "SUCCESS", 2),
      run("build", "IN_PROGRESS", null, 1, 2),
      run("lint", "COMPLETED", "SKIPPED", 3),
      null,
    ]);
    expect(checks).toEqual({ state: "pending", failing: [], pending: ["build"], hasSkipped: true });
  });

  test("include commit statuses, and failing ones precede pending ones", async () => {
    const checks = await checksOf([
      run("build", "COMPLETED", "TIMED_OUT", 1),
      status("build", "SUCCESS"),
      status("deploy", "EXPECTED"),
      status("audit", "ERROR"),
    ]);
    expect(checks).toEqual({ state: "failing", failing: ["build", "audit"], pending: ["deploy"] });
  });

  test("are read to the end", async () => {
    const many = Array.from({ length: 100 }, (_, index) =>
      run(`job-${index}`, "COMPLETED", "SUCCESS", index + 1),
    );
    const checks = await checksOf(
      many,
      [run("late", "COMPLETED", "SUCCESS", 500)],
      [run("last", "QUEUED", null, 501)],
    );
    expect(checks).toEqual({ state: "pending", failing: [], pending: ["last"] });
    expect(github.requests.map(({ body }) => Object(body).variables.after)).toEqual([undefined, "c0", "c1"]);
  });
});

describe("the checks that a target requires", () => {
  const ruleset = (...requiredStatusChecks: object[]) => ({ parameters: { requiredStatusChecks } });
  const inspected = async (rules: object, errors?: unknown[]) => {
    const reports = [
      run("build", "COMPLETED", "SUCCESS", 1, 1),
      status("build", "PENDING"),
      run("lint", "COMPLETED", "SKIPPED", 2, 1),
    ];
    const pulls = { nodes: [pull({ statusCheckRollup: rollup(reports) })] };
    const { target } = repository();
    answering({ r0: repository({ target: { ...target, ...rules }, pullRequests: pulls }) }, errors);
    const [response] = await github.forge.inspect([web], { includesRules: true });
    if (!response || response.refusal) throw new Error("the branch was not inspected");
    return { required: response.requiredChecks, unmet: response.pullRequests[0]?.unmetChecks };
  };

  test("are those of classic protection and of rulesets, and unmet unless all reports of the name passed", async () => {
    const response = await inspected({
      refUpdateRule: { requiredStatusCheckContexts: ["build", "lint", null] },
      rules: {
        nodes: [
          { parameters: null },
          ruleset({ context: "lint", integrationId: 9 }, { context: "deploy", integrationId: null }),
        ],
      },
    });
    expect(response).toEqual({ required: ["build", "lint", "deploy"], unmet: ["build", "lint", "deploy"] });
  });

  test("are met by skipped checks and by the App that a ruleset names", async () => {
    const nodes = [ruleset({ context: "build", integrationId: 1 }, { context: "lint" })];
    expect(await inspected({ rules: { nodes } })).toEqual({ required: ["build", "lint"], unmet: [] });
  });

  test("are none if GitHub does not show the rules to the App", async () => {
    const forbidden = { type: "FORBIDDEN", path: ["r0", "target", "rules"], message: "Forbidden" };
    expect(await inspected({ refUpdateRule: null, rules: null }, [forbidden])).toEqual({
      required: [],
      unmet: [],
    });
  });
});

describe("what a target requires", () => {
  const rules = {
    refUpdateRule: {
      requiredStatusCheckContexts: ["build"],
      requiredApprovingReviewCount: 1,
      requiresCodeOwnerReviews: true,
      requiresConversationResolution: false,
    },
    rules: {
      nodes: [
        {
          type: "PULL_REQUEST",
          repositoryRuleset: { databaseId: 9, name: "main" },
          parameters: {
            requiredApprovingReviewCount: 2,
            requireCodeOwnerReview: false,
            requireLastPushApproval: true,
            requiredReviewThreadResolution: true,
          },
        },
        {
          type: "CODE_SCANNING",
          repositoryRuleset: { databaseId: 9, name: "main" },
          parameters: {},
        },
        { type: "DELETION", repositoryRuleset: { databaseId: 10, name: "keep" }, parameters: null },
      ],
    },
  };
  const asked = { includesRules: true };
  const answer = (over: Record<string, unknown> = {}) => {
    const { target } = repository();
    const opened = pull({ viewerCanMergeAsAdmin: true, ...over });
    answering({ r0: repository({ target: { ...target, ...rules }, pullRequests: { nodes: [opened] } }) });
  };
  const sourcesOf = (found: unknown): unknown[] => Object(found)[0].rules.sources;

  test("is read of each ruleset, with the rules that only GitHub can evaluate and the bypass", async () => {
    answer();
    github.on("GET", "/repositories/42/rulesets/9", 200, { current_user_can_bypass: "pull_requests_only" });
    const [found] = await github.forge.inspect([web], asked);
    const none = { requiresLastPushApproval: false, requiresResolvedThreads: false, unevaluated: [] };
    expect(found).toMatchObject({
      rules: {
        requiredChecks: ["build"],
        requiredApprovals: 2,
        requiresLastPushApproval: true,
        requiresCodeOwnerReview: true,
        requiresResolvedThreads: true,
        sources: [
          { rulesetId: null, name: "branch protection", requiredApprovals: 1, canBypass: true, ...none },
          {
            rulesetId: 9,
            name: "main",
            requiredApprovals: 2,
            unevaluated: ["code_scanning"],
            canBypass: true,
          },
        ],
      },
    });
    expect(sourcesOf([found])).toHaveLength(2);
  });

  test("is known for ten minutes concerning the bypass, and unknown if GitHub does not say", async () => {
    const path = "/repositories/42/rulesets/9";
    const bypass = async () => {
      answer();
      return sourcesOf(await github.forge.inspect([web], asked))[1];
    };
    github.on("GET", path, 200, {});
    expect(await bypass()).toMatchObject({ canBypass: null });
    expect(await bypass()).toMatchObject({ canBypass: null });
    github.clock.pass(600_000);
    github.on("GET", path, 200, { current_user_can_bypass: "never" });
    expect(await bypass()).toMatchObject({ canBypass: false });
    expect(github.sent("GET", "/rulesets/9")).toHaveLength(2);
  });

  test("comes with the reviews, conversations and state of the pull request", async () => {
    const by = { kind: "User", login: "ada", databaseId: 3 };
    const opinions = [
      { state: "APPROVED", author: by, commit: { oid: SHA } },
      { state: "DISMISSED", author: null, commit: null },
    ];
    const threads = (totalCount: number, ...resolved: boolean[]) => ({
      totalCount,
      nodes: resolved.map((isResolved) => ({ isResolved })),
    });
    const read = async (reviewThreads: object) => {
      github.on("GET", "/repositories/42/rulesets/9", 200, {});
      answer({
        mergeStateStatus: "BLOCKED",
        latestOpinionatedReviews: { nodes: opinions },
        reviewThreads,
        author: by,
      });
      const [found] = await github.forge.inspect([web], asked);
      github.clock.pass(600_000);
      return Object(found).pullRequests[0];
    };
    expect(await read(threads(2, true, false))).toMatchObject({
      author: { forgeId: 3, login: "ada" },
      mergeState: "blocked",
      reviews: [
        { state: "approved", author: { forgeId: 3, login: "ada" } },
        { state: "dismissed", author: null },
      ],
      unresolvedThreads: 1,
    });
    expect(await read(threads(1, true))).toMatchObject({ unresolvedThreads: 0 });
    expect(await read(threads(101, true))).toMatchObject({ unresolvedThreads: null });
  });
});

// Fault: D4
describe("a repository with another name", () => {
  const renamed = { id: 42, full_name: "acme/website", default_branch: "main" };

  // Fault: D2
  test("whose old name is used by another is inspected under its new name", async () => {
    answering({ r0: repository({ databaseId: 666 }) });
    github.on("GET", "/repositories/42", 200, renamed);
    answering({ r0: repository({ nameWithOwner: "acme/website" }) });
    const [response] = await github.forge.inspect([web]);
    expect(response).toMatchObject({ repository: { forgeId: 42, fullName: "acme/website" }, headSha: SHA });
    expect(Object(github.requests[2]?.body).variables).toMatchObject({ o0: "acme", n0: "website" });
  });

  test("whose old name is unused is inspected under its new name; others keep their response", async () => {
    answering({ r0: null, r1: repository({ databaseId: 43, nameWithOwner: "acme/api" }) }, [
      notFound(["r0"]),
    ]);
    github.on("GET", "/repositories/42", 200, renamed);
    answering({ r0: repository({ nameWithOwner: "acme/website" }) });
    const responses = await github.forge.inspect([web, api]);
    expect(
      responses.map((response) => response.refusal === undefined && response.repository.fullName),
    ).toEqual(["acme/website", "acme/api"]);
  });

  // Fault: C18
  test("that was deleted is refused with GitHub's message; others are not affected", async () => {
    answering({ r0: null, r1: repository({ databaseId: 43 }) }, [notFound(["r0"])]);
    github.on("GET", "/repositories/42", 404, { message: "Not Found" });
    github.on("GET", "/repos/acme/web", 404, { message: "Not Found" });
    const [gone, there] = await github.forge.inspect([web, api]);
    expect(gone).toEqual({ refusal: { reason: "not_permitted", message: notFound([]).message } });
    expect(there?.refusal).toBeUndefined();
  });

  test("whose id is not found is refused, and another repository is never returned", async () => {
    answering({ r0: repository({ databaseId: 666 }) });
    github.on("GET", "/repositories/42", 404, { message: "Not Found" });
    github.on("GET", "/repos/acme/web", 404, { message: "Not Found" });
    expect(await github.forge.inspect([web])).toMatchObject([{ refusal: { reason: "not_permitted" } }]);
  });
});

describe("errors next to data", () => {
  test("about a comparison with a missing branch leave the comparison unknown", async () => {
    answering(
      { r0: repository({ head: null, target: { name: "main", target: { oid: SHA }, compare: null } }) },
      [notFound(["r0", "target", "compare"])],
    );
    expect(await github.forge.inspect([web])).toMatchObject([{ headSha: null, aheadBy: null }]);
  });

  test("that forbid a part refuse the inspection with GitHub's message", async () => {
    const message = "Resource not accessible by integration";
    answering({ r0: repository() }, [{ type: "FORBIDDEN", path: ["r0", "pullRequests"], message }]);
    expect(await github.forge.inspect([web])).toEqual([{ refusal: { reason: "not_permitted", message } }]);
  });

  test("that are about the whole call refuse all questions, in GitHub's words", async () => {
    const message = "Resource protected by organization SAML enforcement.";
    const errors = [{ type: "SAML_FAILURE", message }];
    github.on("POST", "/graphql", 200, { data: null, errors });
    const refused = { refusal: { reason: "not_permitted", message } };
    expect(await github.forge.inspect([web, web])).toEqual([refused, refused]);
  });

  // Fault: C14
  test.each([
    ["of a transient type", { data: { r0: repository() }, errors: [{ type: "INTERNAL", message: "Oops" }] }],
    [
      "without a type",
      { data: null, errors: [{ message: "Something went wrong while executing your query" }] },
    ],
    ["without data or errors", { data: null }],
    ["in another shape", { data: { r0: { databaseId: "42" } } }],
    ["in HTML", "<html></html>"],
  ])("%s make the forge unavailable", async (_, body) => {
    github.on("POST", "/graphql", 200, body);
    await expect(github.forge.inspect([web])).rejects.toMatchObject({ name: "ForgeUnavailable" });
  });

  test("that end a call in GitHub's timeout are followed by another call", async () => {
    github.on("POST", "/graphql", 502, "<html>Bad gateway</html>");
    answering({ r0: repository() });
    expect(await github.forge.inspect([web])).toMatchObject([{ headSha: SHA }]);
  });
});

test("an empty repository has a default branch", async () => {
  answering({ r0: repository({ defaultBranchRef: null, target: null, head: null }) });
  github.on("GET", "/repositories/42", 200, { id: 42, full_name: "acme/web", default_branch: "trunk" });
  expect(await github.forge.inspect([web])).toMatchObject([
    { repository: { defaultBranch: "trunk" }, target: { name: "trunk", sha: null }, headSha: null },
  ]);
});
