/** Each list of GitHub is read to its end, or its reader knows that it has a part of it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type GitHubDouble, openGitHubDouble, OTHER_SHA, SHA, WEB } from "../support/forge/github-double.ts";

const REPOSITORY = "/repositories/42";
const ADAPTER = join(import.meta.dirname, "../../src/forge/github");
const BOT = 900;

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

const hundred = <T>(item: (index: number) => T): T[] =>
  Array.from({ length: 100 }, (_, index) => item(index));

/** Two pages, the second with one item. */
function pages(path: string, first: (index: number) => unknown, last: unknown): void {
  github.on("GET", path, 200, hundred(first));
  github.on("GET", path, 200, [last]);
}
const pagesAsked = (ending: string): unknown[] =>
  github.sent("GET", ending).map(({ query }) => query["page"]);

function identified(): void {
  github.on("GET", "/app", 200, { slug: "trunkline" });
  github.on("GET", "/app/installations", 200, [{ id: 7, account: { id: 1, login: "acme" } }]);
  github.on("GET", "/users/trunkline%5Bbot%5D", 200, { id: BOT, login: "trunkline[bot]" });
}

describe("a list with one item more than a page", () => {
  test("of installations is read to the end", async () => {
    const installation = (id: number) => ({ id, account: { id, login: `account-${id}` } });
    pages("/app/installations", (index) => installation(index + 1), installation(101));
    expect(await github.forge.installations()).toHaveLength(101);
  });

  test("of repositories is read to the end, also after a short page with a link to the next one", async () => {
    const granted = (id: number) => ({
      id,
      node_id: `R_${id}`,
      full_name: `acme/r${id}`,
      html_url: `https://github.com/acme/r${id}`,
      default_branch: "main",
      archived: false,
    });
    const link = { link: `<https://api.github.com/installation/repositories?page=2>; rel="next"` };
    github.on("GET", "/installation/repositories", 200, { repositories: [granted(1)] }, link);
    github.on("GET", "/installation/repositories", 200, { repositories: [granted(2)] });
    const found = await github.forge.repositories(7);
    expect(found.ok && found.value.map(({ forgeId }) => forgeId)).toEqual([1, 2]);
  });

  test("of comments is searched to the end", async () => {
    identified();
    const path = `${REPOSITORY}/issues/5/comments`;
    pages(path, (id) => ({ id, body: "Hi", user: { id: BOT } }), {
      id: 77,
      body: "<!-- m -->",
      user: { id: BOT },
    });
    const order = {
      number: 5,
      body: "<!-- m -->",
      mark: "<!-- m -->",
      firstAttemptAt: "2026-11-20T12:00:00Z",
    };
    const written = await github.forge.comment(WEB, { ...order, isRetry: true, mayWrite: true }, 5_000);
    expect(written).toEqual({ ok: true, value: { commentId: 77 } });
  });

  test("of a branch's pull requests is searched to the end", async () => {
    const pull = (number: number, state: string) => ({
      number,
      node_id: `PR_${number}`,
      state,
      head: { ref: "card/7", sha: SHA, repo: { id: 42 } },
      base: { ref: "main" },
    });
    pages(`${REPOSITORY}/pulls`, (index) => pull(200 - index, "closed"), pull(1, "open"));
    const opened = await github.forge.openPullRequest(WEB, {
      title: "A card",
      body: "",
      headBranch: "card/7",
      targetBranch: "main",
      isDraft: true,
      isRetry: true,
      highestKnownNumber: null,
      isReported: () => Promise.resolve(false),
    });
    expect(opened).toMatchObject({ ok: true, value: { number: 1 } });
    expect(pagesAsked("/pulls")).toEqual(["1", "2"]);
  });

  test("of reviews is searched before a person's approval is submitted", async () => {
    const path = `${REPOSITORY}/pulls/5`;
    github.on("GET", path, 200, { node_id: "PR_5", state: "open", head: { sha: SHA } });
    const review = (id: number, state: string) => ({
      state,
      commit_id: SHA,
      user: { id, login: `user-${id}` },
    });
    pages(`${path}/reviews`, (index) => review(index + 1, "COMMENTED"), review(10, "APPROVED"));
    github.on("PUT", `${path}/merge-async`, 403, { message: "Forbidden" });
    const token = { accessToken: "ghu_test", expiresAt: null };
    const order = { number: 5, headSha: SHA, method: "merge", reviewerId: 10, token } as const;
    expect(await github.forge.approve(WEB, order, 1_000)).toMatchObject({
      refusal: { message: "Forbidden" },
    });
    expect(github.sent("POST", "/reviews")).toEqual([]);
  });

  test("of releases is searched for the draft of a tag", async () => {
    const path = `${REPOSITORY}/releases`;
    const errors = [{ resource: "Release", code: "already_exists", field: "tag_name" }];
    github.on("POST", path, 422, { message: "Validation Failed", errors });
    github.on("GET", `${path}/tags/v1`, 404, { message: "Not Found" });
    const release = (tag: string, draft: boolean) => ({ html_url: "https://x.test", tag_name: tag, draft });
    pages(path, (index) => release(`v0.${index}`, false), release("v1", true));
    const notes = { tagName: "v1", sha: SHA, name: "One", body: "", isPrerelease: false, isLatest: true };
    expect(await github.forge.publishRelease(WEB, notes)).toMatchObject({
      refusal: { message: "tag_name already_exists" },
    });
  });

  test("of tags is read to the end", async () => {
    const page = (names: readonly string[], endCursor: string | null) => ({
      data: {
        r0: {
          databaseId: 42,
          refs: {
            pageInfo: { hasNextPage: endCursor !== null, endCursor },
            nodes: names.map((name) => ({ name })),
          },
        },
      },
    });
    github.on(
      "POST",
      "/graphql",
      200,
      page(
        hundred((index) => `v1.${index}`),
        "next",
      ),
    );
    github.on("POST", "/graphql", 200, page(["v2.0"], null));
    const [tags] = await github.forge.tagNames([WEB]);
    expect(tags?.ok && [tags.value?.length, tags.value?.at(-1)]).toEqual([101, "v2.0"]);
  });

  test("of tags is unknown if a further page is not read in time, also while another one is complete", async () => {
    const list = (databaseId: number, name: string, hasNextPage: boolean) => ({
      databaseId,
      refs: { pageInfo: { hasNextPage, endCursor: hasNextPage ? "next" : null }, nodes: [{ name }] },
    });
    const first = { r0: list(42, "v1", true), r1: list(43, "v2", false) };
    github.on("POST", "/graphql", 200, { data: first });
    github.on("POST", "/graphql", 502, {});
    expect(await github.forge.tagNames([WEB, { ...WEB, forgeId: 43, fullName: "acme/api" }])).toEqual([
      { ok: true, value: null },
      { ok: true, value: ["v2"] },
    ]);
  });

  test("of temporary branches is read to the end, although GitHub documents no pages for it", async () => {
    const path = `${REPOSITORY}/git/matching-refs/heads%2Ftrunkline%2Ftmp%2F`;
    const ref = (name: string) => ({ ref: `refs/heads/trunkline/tmp/${name}`, object: { sha: SHA } });
    const full = hundred((index) => ref(`pick-${index}`));
    github.on("GET", path, 200, full);
    github.on("GET", path, 200, [ref("pick-last")]);
    expect(await github.forge.temporaryBranches(WEB)).toHaveLength(101);
  });

  test("of temporary branches ends if GitHub has no pages and repeats it", async () => {
    const path = `${REPOSITORY}/git/matching-refs/heads%2Ftrunkline%2Ftmp%2F`;
    const ref = (name: string) => ({ ref: `refs/heads/trunkline/tmp/${name}`, object: { sha: SHA } });
    const all = hundred((index) => ref(`pick-${index}`));
    github.on("GET", path, 200, all);
    github.on("GET", path, 200, all);
    expect(await github.forge.temporaryBranches(WEB)).toHaveLength(100);
  });
});

describe("a list of which GitHub shows a part", () => {
  const branch = "card/7";
  const inspected = async (over: object, more: readonly unknown[] = []) => {
    const target = { name: "main", target: { oid: OTHER_SHA }, compare: { aheadBy: 101 } };
    const found = {
      databaseId: 42,
      nameWithOwner: "acme/web",
      defaultBranchRef: { name: "main" },
      target: { ...target, ...over },
      head: { name: branch, target: { oid: SHA } },
      pullRequests: { nodes: [] },
    };
    github.on("POST", "/graphql", 200, { data: { r0: { ...found, ...over } } });
    for (const body of more) github.on("POST", "/graphql", 200, body);
    const questions = [{ repository: WEB, branchName: branch, targetBranch: null }];
    const [response] = await github.forge.inspect(questions, { includesRules: true, includesCommits: true });
    return response;
  };

  test("of rules leaves them unknown, which refuses a merge", async () => {
    const rules = { pageInfo: { hasNextPage: true }, nodes: [] };
    const target = { name: "main", target: { oid: OTHER_SHA }, rules };
    const response = await inspected({ target });
    expect(response).toMatchObject({
      rules: { reason: "protected", message: expect.stringContaining("more than Trunkline reads") },
    });
    expect(response).not.toHaveProperty("requiredChecks");
  });

  test("of commits or their authors names no author", async () => {
    const author = { authors: { totalCount: 1, nodes: [{ email: "a@x.test", user: null }] } };
    const crowd = {
      oid: SHA,
      authors: { totalCount: 21, nodes: Array.from({ length: 20 }, () => author.authors.nodes[0]) },
    };
    const of = (nodes: unknown[], aheadBy: number) => ({
      target: { name: "main", target: { oid: OTHER_SHA }, compare: { aheadBy, commits: { nodes } } },
    });
    expect(
      await inspected(
        of(
          hundred(() => ({ oid: SHA, ...author })),
          101,
        ),
      ),
    ).toMatchObject({ commits: null });
    expect(await inspected(of([crowd], 1))).toMatchObject({ commits: null });
  });

  test("of checks refuses the inspection", async () => {
    const pull = {
      id: "PR_5",
      number: 5,
      state: "OPEN",
      isDraft: false,
      baseRefName: "main",
      headRefName: branch,
      headRefOid: SHA,
      headRepository: { databaseId: 42 },
      mergeable: "MERGEABLE",
      statusCheckRollup: { contexts: { pageInfo: { hasNextPage: true, endCursor: "next" }, nodes: [] } },
    };
    const forbidden = { type: "FORBIDDEN", path: ["node"], message: "No" };
    const response = await inspected({ pullRequests: { nodes: [pull] } }, [
      { data: { node: null }, errors: [forbidden] },
    ]);
    expect(response).toMatchObject({
      refusal: { message: "GitHub did not list all checks of pull request #5. Try again." },
    });
  });
});

/** Every page size in the adapter, and what happens to further items. */
const LISTS = {
  "accounts.ts": { per_page: "read to the end" },
  "app.ts": { per_page: "the caller asks for the next page of the delivery log" },
  "repositories.ts": { per_page: "read to the end" },
  "branches/branches.ts": { per_page: "read to the end" },
  "branches/landed-history.ts": {
    "history(first: ${PAGE}": "read to the end, or the caller continues",
    "parents(first: 2": "Trunkline uses two parents",
    "associatedPullRequests(first: ${PULL_REQUESTS}": "the rest is read where it matters",
    "associatedPullRequests(first: ${PAGE}": "read to the end",
  },
  "branches/pick-state.ts": {
    "history(first: ${COMMITS}": "a longer rebase is refused",
    "commits(last: ${COMMITS}": "a longer rebase is refused",
    "parents(first: 2": "Trunkline uses two parents",
    "history(first: ${HISTORY}": "read until older ones cannot contain the pick",
    "rules(first: 100": "the pick is signed",
  },
  "branches/tags.ts": { "refs(first: ${PAGE}": "read to MAX_TAGS_READ", per_page: "read to the end" },
  "people/approve.ts": { per_page: "read to the end" },
  "pull-requests/check-details.ts": { "annotations(first: ${NOTES_PER_RUN}": "at most 20 notes by contract" },
  "pull-requests/check-suites.ts": {
    "checkSuites(first: 100": "those that count have runs or are among the first",
    "checkRuns(first: 1": "only their number",
  },
  "pull-requests/listed-pull-requests.ts": { per_page: "read to the end" },
  "pull-requests/comments.ts": { per_page: "read to the end" },
  "pull-requests/conversation.ts": {
    "comments(last: ${NEWEST}": "the comparison compares the newest, and knows whether there are more",
    "reviews(last: ${NEWEST}": "the comparison compares the newest",
  },
  "pull-requests/inspect-query.ts": {
    "commits(first: 1": "only their number",
    "commits(first: 100": "without authors, which a gate refuses",
    "authors(first: 20": "without authors, which a gate refuses",
    "latestOpinionatedReviews(first: 100": "reviewDecision counts all",
    "reviewThreads(first: 100": "their number is unknown",
    "contexts(first: 100": "read to the end, or refused",
    "pullRequests(first: ${maxPullRequests}":
      "the newest of one branch, of which one can be open for each target",
    "pullRequests(first: 1": "the one that changed last",
  },
  "pull-requests/pull-request-lists.ts": { "select(first: 100": "read to the end" },
  "pull-requests/pull-requests.ts": { per_page: "read to the end" },
  "pull-requests/target-rules.ts": {
    "history(first: 10": "only whether the newest landings had checks",
    "rules(first: 100": "a merge is refused",
  },
};

test("every list in the adapter is known here", () => {
  const found: Record<string, string[]> = {};
  for (const file of readdirSync(ADAPTER, { recursive: true, encoding: "utf8" }).toSorted()) {
    if (!file.endsWith(".ts")) continue;
    const source = readFileSync(join(ADAPTER, file), "utf8");
    const connections = source.matchAll(/(\w+)\([^()]*?\b((?:first|last): (?:\d+|\$\{\w+\}))/g);
    const lists = [...connections].map(([, field, size]) => `${field}(${size}`);
    if (/per_page: (?:PAGE|\d{2,})/.test(source)) lists.push("per_page");
    const named = [...new Set(lists)].toSorted();
    if (named.length > 0) found[file] = named;
  }
  const known = Object.entries(LISTS).map(([file, lists]) => [file, Object.keys(lists).toSorted()]);
  expect(found).toEqual(Object.fromEntries(known));
});
