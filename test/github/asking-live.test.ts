import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type GitHubDouble, openGitHubDouble, WEB } from "../support/forge/github-double.ts";

const API_REPO = { installationId: 7, forgeId: 43, fullName: "acme/api" };
const ELSEWHERE = { installationId: 8, forgeId: 44, fullName: "other/web" };
const web = { repository: WEB, number: 5 };
const api = { repository: API_REPO, number: 6 };
const elsewhere = { repository: ELSEWHERE, number: 7 };

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

const answering = (data: unknown, errors?: unknown[]) =>
  github.on("POST", "/graphql", 200, errors === undefined ? { data } : { data, errors });

const run = (over: Record<string, unknown> = {}) => ({
  kind: "CheckRun",
  id: "CR_1",
  databaseId: 1,
  name: "test",
  status: "COMPLETED",
  conclusion: "FAILURE",
  url: "https://github.com/acme/web/runs/1",
  detailsUrl: null,
  title: null,
  summary: null,
  checkSuite: { app: { databaseId: 1 } },
  annotations: { nodes: [] },
  ...over,
});
const page = (nodes: unknown[], endCursor: string | null = null) => ({
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
  nodes,
});
const withChecks = (nodes: unknown[], next: string | null = null, databaseId = 42) => ({
  databaseId,
  pullRequest: { id: "PR_5", statusCheckRollup: { contexts: page(nodes, next) } },
});
const withReviews = (nodes: unknown[], databaseId = 42) => ({
  databaseId,
  pullRequest: { id: "PR_5", reviews: page(nodes) },
});
const annotation = (annotationLevel: string | null) => ({
  path: "a.ts",
  annotationLevel,
  message: "!",
  location: { start: { line: 3 } },
});
/** A hundred runs, the last fifty of all with names that were there before. */
const hundred = (at: number) =>
  Array.from({ length: 100 }, (_, index) =>
    run({
      id: `CR_${at}_${index}`,
      databaseId: 100 * at + index,
      name: `job-${(100 * at + index) % 1_150}`,
    }),
  );
const failingAcme = ({ variables }: { variables: { o0: string } }) =>
  variables.o0 === "acme"
    ? { data: null, errors: [{ message: "Something went wrong" }] }
    : { data: { r0: withReviews([], 44) } };
const tooLarge = {
  data: { r0: null, r1: null },
  errors: [{ type: "RESOURCE_LIMITS_EXCEEDED", path: ["r0"], message: "Resource limits exceeded." }],
};
const review = (author: unknown) => ({ state: "COMMENTED", body: "!", author });
const passing = { id: "CR_1", name: "test", state: "passing", url: null, summary: null, notes: [] };

describe("checks asked live", () => {
  test("are asked in halves if GitHub cannot read them in one call", async () => {
    github.on("POST", "/graphql", 200, tooLarge);
    github.on("POST", "/graphql", 200, tooLarge);
    answering({ r0: withChecks([run()], null, 43) });
    expect(await github.forge.checks([web, api])).toMatchObject([
      { ok: false, error: "GitHub cannot read this much at once" },
      { ok: true, value: [{ state: "failing" }] },
    ]);
  });

  test("take one call for each installation, names as variables only, and come in the order asked", async () => {
    const both = { r0: withChecks([run()]), r1: withChecks([], null, 43) };
    const only = { r0: withChecks([run({ conclusion: "SUCCESS" })], null, 44) };
    // The two installations are asked at once, in whichever order.
    const answer = ({ variables }: { variables: { o0: string } }) => ({
      data: variables.o0 === "acme" ? both : only,
    });
    github.on("POST", "/graphql", 200, answer);
    github.on("POST", "/graphql", 200, answer);
    const answers = await github.forge.checks([web, elsewhere, api]);
    expect(answers).toMatchObject([
      { ok: true, value: [{ state: "failing" }] },
      { ok: true, value: [{ state: "passing" }] },
      { ok: true, value: [] },
    ]);
    expect(github.requests).toHaveLength(2);
    const sent = github.requests.map(({ body }) => body as { query: string; variables: object });
    for (const { query } of sent) expect(query).not.toMatch(/acme|other/);
    expect(sent.map(({ variables }) => variables)).toContainEqual({
      o0: "acme",
      n0: "web",
      p0: 5,
      o1: "acme",
      n1: "api",
      p1: 6,
    });
  });

  test("nothing asked is no call", async () => {
    expect(await github.forge.checks([])).toEqual([]);
    expect(github.requests).toEqual([]);
  });

  test.each([
    ["has no rollup", null],
    ["has an empty one", { contexts: page([]) }],
  ])("a head that %s has no runs", async (_, statusCheckRollup) => {
    answering({ r0: { databaseId: 42, pullRequest: { id: "PR_5", statusCheckRollup } } });
    expect(await github.forge.checks([web])).toEqual([{ ok: true, value: [] }]);
  });

  test("a run is shown by its details page, its summary or title, and notes of levels we know", async () => {
    const levels = ["FAILURE", "WARNING", "NOTICE", null, "A_NEW_ONE"];
    answering({
      r0: withChecks([
        run({
          detailsUrl: "https://ci.example.com/1",
          title: "3 failed",
          annotations: { nodes: [...levels.map(annotation), null] },
        }),
        null,
        run({ id: "CR_2", name: "lint", title: "x", summary: "y", detailsUrl: "ftp://ci.example.com" }),
      ]),
    });
    const [answer] = await github.forge.checks([web]);
    expect(answer).toMatchObject({
      ok: true,
      value: [
        {
          url: "https://ci.example.com/1",
          summary: "3 failed",
          notes: [
            { path: "a.ts", line: 3, level: "failure", message: "!" },
            { level: "warning" },
            { level: "notice" },
            { level: "notice" },
            { level: "notice" },
          ],
        },
        { url: "https://github.com/acme/web/runs/1", summary: "y", notes: [] },
      ],
    });
  });

  // Fault: C16
  test("1,200 of them are read to the end, of each name and App the newest", async () => {
    answering({ r0: withChecks(hundred(0), "c0") });
    for (let at = 1; at < 12; at++) {
      const next = at < 11 ? `c${at}` : null;
      answering({ node: { id: "PR_5", statusCheckRollup: { contexts: page(hundred(at), next) } } });
    }
    const [answer] = await github.forge.checks([web]);
    const found = answer?.ok ? answer.value : [];
    expect(found).toHaveLength(1_150);
    expect(found[0]).toMatchObject({ id: "CR_11_50", name: "job-0" });
    expect(github.requests.map(({ body }) => Object(body).variables.after)).toEqual([
      undefined,
      ...Array.from({ length: 11 }, (_, at) => `c${at}`),
    ]);
  });
});

describe("what goes wrong with one repository", () => {
  test.each([
    ["is not of the shape expected", { r0: { databaseId: 42, pullRequest: { id: 5 } } }],
    ["has a run without a name", { r0: withChecks([run({ name: undefined })]) }],
    [
      "has a note without a line",
      {
        r0: withChecks([
          run({ annotations: { nodes: [{ path: "a", message: "b", location: { start: {} } }] } }),
        ]),
      },
    ],
    [
      "says there is more but not where",
      {
        r0: {
          databaseId: 42,
          pullRequest: {
            id: "P",
            statusCheckRollup: { contexts: { pageInfo: { hasNextPage: true }, nodes: [] } },
          },
        },
      },
    ],
    ["is missing", {}],
  ])("when its answer %s stays with it", async (_, data) => {
    answering({ ...data, r1: withChecks([run({ conclusion: "SUCCESS", url: null })], null, 43) });
    expect(await github.forge.checks([web, api])).toEqual([
      { ok: false, error: "GitHub answered in an unexpected shape" },
      { ok: true, value: [passing] },
    ]);
  });

  test.each([
    [
      "forbids",
      "FORBIDDEN",
      ["r0", "pullRequest", "statusCheckRollup"],
      "Resource not accessible by integration",
    ],
    ["fails at", undefined, ["r0", "pullRequest"], "GitHub could not answer"],
  ])("when GitHub %s a part of it stays with it", async (_, type, path, error) => {
    const message = "Resource not accessible by integration";
    answering({ r0: withChecks([]), r1: withChecks([], null, 43) }, [{ type, path, message }]);
    expect(await github.forge.checks([web, api])).toEqual([
      { ok: false, error },
      { ok: true, value: [] },
    ]);
  });

  test("when it has no such pull request stays with it", async () => {
    const message = "Could not resolve to a PullRequest with the number of 5.";
    const error = { type: "NOT_FOUND", path: ["r0", "pullRequest"], message };
    answering({ r0: { databaseId: 42, pullRequest: null }, r1: withChecks([], null, 43) }, [error]);
    expect(await github.forge.checks([web, api])).toMatchObject([
      { ok: false, error: "acme/web has no pull request 5" },
      { ok: true },
    ]);
  });

  // Fault: D2
  test("when another repository has its name by now, is followed by its id, and never mixed up", async () => {
    answering({ r0: withChecks([run()], null, 666) });
    github.on("GET", "/repositories/42", 200, { id: 42, full_name: "acme/site", default_branch: "main" });
    answering({ r0: withChecks([]) });
    expect(await github.forge.checks([web])).toEqual([{ ok: true, value: [] }]);
    expect(Object(github.requests[2]?.body).variables).toEqual({ o0: "acme", n0: "site", p0: 5 });
  });

  test("when it is gone altogether is told in words", async () => {
    answering({ r0: withChecks([run()], null, 666) });
    github.on("GET", "/repositories/42", 404, { message: "Not Found" });
    expect(await github.forge.checks([web])).toEqual([
      { ok: false, error: expect.stringContaining("acme/web is another repository now") },
    ]);
  });

  test("when a later page of its list is refused leaves nothing half told", async () => {
    answering({ r0: withChecks([run()], "c0") });
    answering({ node: null }, [{ type: "FORBIDDEN", path: ["node"], message: "Resource not accessible" }]);
    expect(await github.forge.checks([web])).toEqual([{ ok: false, error: "Resource not accessible" }]);
  });
});

describe("what goes wrong with an installation", () => {
  // Fault: C18
  test("does not keep another's from answering", async () => {
    github.on("POST", "/graphql", 200, failingAcme);
    github.on("POST", "/graphql", 200, failingAcme);
    expect(await github.forge.reviews([web, elsewhere])).toEqual([
      { ok: false, error: "GitHub could not answer" },
      { ok: true, value: [] },
    ]);
  });
});

describe("reviews asked live", () => {
  test("name people, bots with their suffix, and ghosts", async () => {
    answering({
      r0: withReviews([
        review({ kind: "User", login: "ada" }),
        review({ kind: "Bot", login: "copilot-swe-agent" }),
        review(null),
      ]),
    });
    const [answer] = await github.forge.reviews([web]);
    expect(answer?.ok && answer.value.map(({ author }) => author)).toEqual([
      "ada",
      "copilot-swe-agent[bot]",
      "ghost",
    ]);
  });

  test("of an unknown state are an answer we do not understand", async () => {
    answering({ r0: withReviews([{ state: "PONDERED", body: "", author: null }]) });
    expect(await github.forge.reviews([web])).toMatchObject([{ ok: false }]);
  });
});
