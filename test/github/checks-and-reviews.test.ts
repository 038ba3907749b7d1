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
/** A hundred runs. The last fifty repeat earlier names. */
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

describe("reading checks", () => {
  test("are asked in halves if GitHub cannot read them in one call", async () => {
    github.on("POST", "/graphql", 200, tooLarge);
    github.on("POST", "/graphql", 200, tooLarge);
    answering({ r0: withChecks([run()], null, 43) });
    expect(await github.forge.checks([web, api])).toMatchObject([
      { ok: false, error: "GitHub cannot read this much at once" },
      { ok: true, value: [{ state: "failing" }] },
    ]);
  });

  test("takes one call for each installation and returns results in the requested order", async () => {
    const both = { r0: withChecks([run()]), r1: withChecks([], null, 43) };
    const only = { r0: withChecks([run({ conclusion: "SUCCESS" })], null, 44) };
    // Both installations are called concurrently.
    const response = ({ variables }: { variables: { o0: string } }) => ({
      data: variables.o0 === "acme" ? both : only,
    });
    github.on("POST", "/graphql", 200, response);
    github.on("POST", "/graphql", 200, response);
    const responses = await github.forge.checks([web, elsewhere, api]);
    expect(responses).toMatchObject([
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

  test("of nothing makes no call", async () => {
    expect(await github.forge.checks([])).toEqual([]);
    expect(github.requests).toEqual([]);
  });

  test.each([
    ["has no rollup", null],
    ["has an empty rollup", { contexts: page([]) }],
  ])("a head that %s has no runs", async (_, statusCheckRollup) => {
    answering({ r0: { databaseId: 42, pullRequest: { id: "PR_5", statusCheckRollup } } });
    expect(await github.forge.checks([web])).toEqual([{ ok: true, value: [] }]);
  });

  test("a run has its details page, its summary or title, and annotations of known levels", async () => {
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
    const [response] = await github.forge.checks([web]);
    expect(response).toMatchObject({
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
  test("1,200 runs are read to the end, with the newest of each name and App", async () => {
    answering({ r0: withChecks(hundred(0), "c0") });
    for (let at = 1; at < 12; at++) {
      const next = at < 11 ? `c${at}` : null;
      answering({ node: { id: "PR_5", statusCheckRollup: { contexts: page(hundred(at), next) } } });
    }
    const [response] = await github.forge.checks([web]);
    const found = response?.ok ? response.value : [];
    expect(found).toHaveLength(1_150);
    expect(found[0]).toMatchObject({ id: "CR_11_50", name: "job-0" });
    expect(github.requests.map(({ body }) => Object(body).variables.after)).toEqual([
      undefined,
      ...Array.from({ length: 11 }, (_, at) => `c${at}`),
    ]);
  });
});

describe("an error in one repository", () => {
  test.each([
    ["has an unexpected shape", { r0: { databaseId: 42, pullRequest: { id: 5 } } }],
    ["has a run without a name", { r0: withChecks([run({ name: undefined })]) }],
    [
      "has an annotation without a line",
      {
        r0: withChecks([
          run({ annotations: { nodes: [{ path: "a", message: "b", location: { start: {} } }] } }),
        ]),
      },
    ],
    [
      "has more pages without a cursor",
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
  ])("whose response %s does not affect the others", async (_, data) => {
    answering({ ...data, r1: withChecks([run({ conclusion: "SUCCESS", url: null })], null, 43) });
    expect(await github.forge.checks([web, api])).toEqual([
      { ok: false, error: "GitHub responded in an unexpected shape" },
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
    ["fails at", "INTERNAL", ["r0", "pullRequest"], "GitHub could not respond"],
  ])("where GitHub %s a part does not affect the others", async (_, type, path, error) => {
    const message = "Resource not accessible by integration";
    answering({ r0: withChecks([]), r1: withChecks([], null, 43) }, [{ type, path, message }]);
    expect(await github.forge.checks([web, api])).toEqual([
      { ok: false, error },
      { ok: true, value: [] },
    ]);
  });

  test("without such a pull request does not affect the others", async () => {
    const message = "Could not resolve to a PullRequest with the number of 5.";
    const error = { type: "NOT_FOUND", path: ["r0", "pullRequest"], message };
    answering({ r0: { databaseId: 42, pullRequest: null }, r1: withChecks([], null, 43) }, [error]);
    expect(await github.forge.checks([web, api])).toMatchObject([
      { ok: false, error: "acme/web has no pull request 5" },
      { ok: true },
    ]);
  });

  // Fault: D2
  test("whose name belongs to another repository is followed by its id", async () => {
    answering({ r0: withChecks([run()], null, 666) });
    github.on("GET", "/repositories/42", 200, { id: 42, full_name: "acme/site", default_branch: "main" });
    answering({ r0: withChecks([]) });
    expect(await github.forge.checks([web])).toEqual([{ ok: true, value: [] }]);
    expect(Object(github.requests[2]?.body).variables).toEqual({ o0: "acme", n0: "site", p0: 5 });
  });

  test("that was deleted has a message", async () => {
    answering({ r0: withChecks([run()], null, 666) });
    github.on("GET", "/repositories/42", 404, { message: "Not Found" });
    github.on("GET", "/repos/acme/web", 404, { message: "Not Found" });
    expect(await github.forge.checks([web])).toEqual([
      { ok: false, error: expect.stringContaining("The name acme/web belongs to another repository now") },
    ]);
  });

  test("whose next page is refused returns no partial list", async () => {
    answering({ r0: withChecks([run()], "c0") });
    answering({ node: null }, [{ type: "FORBIDDEN", path: ["node"], message: "Resource not accessible" }]);
    expect(await github.forge.checks([web])).toEqual([{ ok: false, error: "Resource not accessible" }]);
  });
});

describe("an error in an installation", () => {
  // Fault: C18
  test("does not affect others", async () => {
    github.on("POST", "/graphql", 200, failingAcme);
    github.on("POST", "/graphql", 200, failingAcme);
    expect(await github.forge.reviews([web, elsewhere])).toEqual([
      { ok: false, error: "GitHub could not respond" },
      { ok: true, value: [] },
    ]);
  });
});

describe("reading reviews", () => {
  test("has names of people, bots with their suffix, and deleted accounts", async () => {
    answering({
      r0: withReviews([
        review({ kind: "User", login: "ada" }),
        review({ kind: "Bot", login: "copilot-swe-agent" }),
        review(null),
      ]),
    });
    const [response] = await github.forge.reviews([web]);
    expect(response?.ok && response.value.map(({ author }) => author)).toEqual([
      "ada",
      "copilot-swe-agent[bot]",
      "ghost",
    ]);
  });

  test("are cut visibly where they are longer than GitHub allows", async () => {
    answering({ r0: withReviews([{ ...review(null), body: "😀".repeat(100_000) }]) });
    const [response] = await github.forge.reviews([web]);
    const [body = ""] = response?.ok ? response.value.map((each) => each.body) : [];
    expect(body).toBe(`${"😀".repeat(65_535)}…`);
  });

  test("with an unknown state is an invalid response", async () => {
    answering({ r0: withReviews([{ state: "PONDERED", body: "", author: null }]) });
    expect(await github.forge.reviews([web])).toMatchObject([{ ok: false }]);
  });
});
