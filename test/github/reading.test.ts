import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ForgeUnavailable } from "../../src/forge/values.ts";
import { type GitHubDouble, openGitHubDouble, OTHER_SHA, SHA, WEB } from "../support/forge/github-double.ts";

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

const installation = (id: number, over: Record<string, unknown> = {}) => ({
  id,
  account: { id: id * 10, login: `account-${id}` },
  suspended_at: null,
  ...over,
});
const repository = (id: number, fullName = `acme/r${id}`) => ({
  id,
  full_name: fullName,
  html_url: `https://github.com/${fullName}`,
  default_branch: "trunk",
});

describe("the App's own account", () => {
  test("is read once: the App, then its bot with the token of an installation", async () => {
    github.on("GET", "/app", 200, { slug: "trunkline" });
    github.on("GET", "/app/installations", 200, [
      installation(6, { suspended_at: "2026-01-01T00:00:00Z" }),
      installation(7),
    ]);
    github.on("GET", "/users/trunkline%5Bbot%5D", 200, { id: 99, login: "trunkline[bot]" });
    const identity = { botLogin: "trunkline[bot]", botId: 99 };
    expect(await github.forge.identity()).toEqual(identity);
    expect(await github.forge.identity()).toEqual(identity);
    expect(github.requests[0]?.headers["authorization"]).toMatch(/^bearer /);
    expect(github.requests[2]?.headers["authorization"]).toBe("token ghs_test.1");
  });

  test("has no bot if the App has no installation", async () => {
    github.on("GET", "/app", 200, { slug: "trunkline" });
    github.on("GET", "/app/installations", 200, []);
    github.on("GET", "/users/trunkline%5Bbot%5D", 200, { id: 99, login: "trunkline[bot]" });
    expect(await github.forge.identity()).toMatchObject({ botId: 99 });
    expect(github.requests[2]?.headers["authorization"]).toBeUndefined();
  });

  test("is read again after an error", async () => {
    github.on("GET", "/app", 200, { name: "no slug" });
    await expect(github.forge.identity()).rejects.toThrow("unexpected shape");
    github.on("GET", "/app", 200, { slug: "trunkline" });
    github.on("GET", "/app/installations", 200, []);
    github.on("GET", "/users/trunkline%5Bbot%5D", 200, { id: 99, login: "trunkline[bot]" });
    expect(await github.forge.identity()).toMatchObject({ botLogin: "trunkline[bot]" });
  });
});

describe("listings", () => {
  test("of installations have their missing permissions", async () => {
    const rest = {
      issues: "read",
      checks: "read",
      statuses: "write",
      merge_queues: "read",
      metadata: "read",
    };
    const permissions = { contents: "read", pull_requests: "write", ...rest };
    github.on("GET", "/app/installations/7", 200, installation(7, { permissions }));
    expect((await github.forge.installation(7))?.missingPermissions).toEqual([
      "contents: write",
      "workflows: write",
    ]);
    github.on("GET", "/app/installations/7", 404, { message: "Not Found" });
    expect(await github.forge.installation(7)).toBeNull();
  });

  test("of installations have their suspension, enterprises included", async () => {
    github.on("GET", "/app/installations", 200, [
      installation(7, { suspended_at: "2026-01-01T00:00:00Z" }),
      installation(8, { account: { id: 80, slug: "big-corp" } }),
      installation(9, { account: null }),
    ]);
    expect(await github.forge.installations()).toMatchObject([
      { installationId: 7, account: { forgeId: 70, login: "account-7" }, suspended: true },
      { installationId: 8, account: { forgeId: 80, login: "big-corp" }, suspended: false },
    ]);
  });

  test("of repositories are read to the end", async () => {
    const granted = (id: number) => ({ ...repository(id), node_id: `R_${id}`, archived: id === 101 });
    const page = Array.from({ length: 100 }, (_, index) => granted(index + 1));
    github.on("GET", "/installation/repositories", 200, { total_count: 101, repositories: page });
    github.on("GET", "/installation/repositories", 200, {
      total_count: 101,
      repositories: [granted(101)],
    });
    const found = await github.forge.repositories(7);
    const repositories = found.ok ? found.value : [];
    expect(repositories).toHaveLength(101);
    expect(repositories[100]).toEqual({
      forgeId: 101,
      fullName: "acme/r101",
      forgeUrl: "https://github.com",
      defaultBranch: "trunk",
      nodeId: "R_101",
      isArchived: true,
    });
    expect(github.requests.map(({ query }) => query)).toEqual([
      { per_page: "100", page: "1" },
      { per_page: "100", page: "2" },
    ]);
  });
});

describe("a repository", () => {
  // Fault: D1
  test("is found by its id under its new name", async () => {
    github.on("GET", "/repositories/42", 200, repository(42, "acme-inc/website"));
    expect(await github.forge.repository(WEB)).toEqual({
      forgeId: 42,
      fullName: "acme-inc/website",
      defaultBranch: "trunk",
    });
  });

  test.each([403, 451])("with %i was deleted or is not accessible", async (status) => {
    github.on("GET", "/repositories/42", status, { message: "Not Found" });
    expect(await github.forge.repository(WEB)).toBeNull();
  });

  test.each([
    ["is found where its name leads to it", 42, "acme/web"],
    ["is gone where its name leads to another one", 99, null],
  ])("whose id is not found %s", async (_, forgeId, fullName) => {
    github.on("GET", "/repositories/42", 404, { message: "Not Found" });
    github.on("GET", "/repos/acme/web", 200, repository(forgeId, "acme/web"));
    const found = await github.forge.repository(WEB);
    expect(found?.fullName ?? null).toBe(fullName);
  });
});

describe("a repeated read", () => {
  test("is conditional and uses the cached response", async () => {
    github.on("GET", "/repositories/42", 200, repository(42), { etag: 'W/"one"' });
    const first = await github.forge.repository(WEB);
    github.on("GET", "/repositories/42", 304, undefined, { etag: 'W/"one"' });
    expect(await github.forge.repository(WEB)).toEqual(first);
    expect(github.requests[1]?.headers["if-none-match"]).toBe('W/"one"');
    github.on("GET", "/repositories/42", 200, repository(42, "acme/renamed"), { etag: 'W/"two"' });
    expect(await github.forge.repository(WEB)).toMatchObject({ fullName: "acme/renamed" });
  });

  test("tells how far the clock is off by the time of the last response", async () => {
    const app = { slug: "trunkline", permissions: {}, events: [] };
    const date = (inSeconds: number): string => new Date(Date.now() + inSeconds * 1_000).toUTCString();
    github.on("GET", "/app", 200, app, { etag: 'W/"one"', date: date(-300) });
    expect((await github.forge.app()).clockSkewSeconds).toBeGreaterThan(290);
    github.on("GET", "/app", 304, undefined, { etag: 'W/"one"', date: date(0) });
    expect(Math.abs((await github.forge.app()).clockSkewSeconds ?? 300)).toBeLessThan(30);
  });

  test("does not use responses of other installations or for deleted repositories", async () => {
    github.on("GET", "/repositories/42", 200, repository(42), { etag: 'W/"one"' });
    await github.forge.repository(WEB);
    for (const ref of [{ ...WEB, installationId: 8 }, WEB, WEB]) {
      github.on("GET", "/repositories/42", 404, {});
      github.on("GET", "/repos/acme/web", 404, {});
      expect(await github.forge.repository(ref)).toBeNull();
    }
    expect(github.sent("GET", "/repositories/42").map((request) => request.headers["if-none-match"])).toEqual(
      [undefined, undefined, 'W/"one"', undefined],
    );
  });
});

describe("a repeated read after an invalid response", () => {
  test.each(["<html>Bad Gateway</html>", '{"id": 42, "full_na', ""])(
    "is not conditional after %p",
    async (body) => {
      github.on("GET", "/repositories/42", 200, body, { etag: 'W/"one"' });
      await expect(github.forge.repository(WEB)).rejects.toThrow(ForgeUnavailable);
      github.on("GET", "/repositories/42", 200, repository(42), { etag: 'W/"one"' });
      expect(await github.forge.repository(WEB)).toMatchObject({ forgeId: 42 });
      expect(github.requests.at(-1)?.headers["if-none-match"]).toBeUndefined();
    },
  );
});

describe("a redirect", () => {
  test("to the same host is followed with the same method and body", async () => {
    const moved = { location: "https://api.github.com/repositories/42/git/refs?moved=1" };
    const refs = "/repositories/42/git/refs";
    github.on("POST", refs, 307, { message: "Moved" }, moved);
    github.on("POST", refs, 201, { ref: "refs/heads/x", object: { sha: SHA } });
    expect(await github.forge.createBranch(WEB, "x", SHA)).toEqual({ ok: true, value: { created: true } });
    expect(github.requests[1]).toMatchObject({ method: "POST", body: { sha: SHA }, query: { moved: "1" } });
  });

  test("to another host is not followed", async () => {
    github.on("GET", "/repositories/42", 301, {}, { location: "http://169.254.169.254/latest" });
    github.on("GET", "/repositories/42", 301, {}, { location: "http://169.254.169.254/latest" });
    github.on("GET", "/repositories/42", 301, {}, { location: "http://169.254.169.254/latest" });
    await expect(github.forge.repository(WEB)).rejects.toThrow("did not respond");
  });

  test("in a circle ends", async () => {
    const moved = { location: "https://api.github.com/repositories/42" };
    for (let hops = 0; hops < 12; hops++) github.on("GET", "/repositories/42", 301, {}, moved);
    await expect(github.forge.repository(WEB)).rejects.toThrow("did not respond");
  });
});

describe("GitHub Enterprise Server", () => {
  test("is called below /api/v3, and below /api/graphql for GraphQL, tokens included", async () => {
    const server = openGitHubDouble({ baseUrl: "https://ghe.acme.test/api/v3" });
    server.on("GET", "/repositories/42", 401, {});
    server.on("GET", "/repositories/42", 200, repository(42));
    expect(await server.forge.repository(WEB)).toMatchObject({ forgeId: 42 });
    expect(server.minted).toBe(2);
    server.on("POST", "/graphql", 200, {
      data: { node: { isDraft: false } },
      errors: [{ type: "UNPROCESSABLE", message: "x" }],
    });
    server.on("POST", "/graphql", 200, { data: { node: { isDraft: false } } });
    expect(await server.forge.markReady(WEB, "PR_5")).toMatchObject({ ok: true });
  });
});

describe("the history of a trunk", () => {
  const NEWER = "c".repeat(40);
  const pull = (number: number, over: object = {}) => ({
    number,
    merged: true,
    baseRefName: "elsewhere",
    baseRef: { name: "elsewhere" },
    mergeCommit: { oid: OTHER_SHA },
    ...over,
  });
  const pulls = (nodes: readonly object[], endCursor: string | null = null) => ({
    pageInfo: { hasNextPage: endCursor !== null, endCursor },
    nodes,
  });
  const commit = (oid: string, committedDate: string, associatedPullRequests = pulls([]), parent = "") => ({
    oid,
    message: oid,
    committedDate,
    author: null,
    parents: { nodes: parent === "" ? [] : [{ oid: parent }] },
    associatedPullRequests,
  });
  const sendHistory = (nodes: readonly { readonly oid: string }[]) =>
    github.on("POST", "/graphql", 200, {
      data: {
        r0: {
          databaseId: 42,
          branch: { target: { oid: nodes[0]?.oid, history: { pageInfo: pulls([]).pageInfo, nodes } } },
        },
      },
    });
  const read = () =>
    github.forge.landedCommits(WEB, {
      branchName: "main",
      from: null,
      after: null,
      since: "2026-01-01T00:00:00Z",
    });

  test("finds the pull request of a commit beyond the first page", async () => {
    const first = pulls(
      [1, 2, 3, 4, 5].map((number) => pull(number)),
      "next",
    );
    sendHistory([commit(SHA, "2026-02-01T00:00:00Z", first)]);
    const more = pulls([pull(6), pull(7, { baseRefName: "main" })]);
    github.on("POST", "/graphql", 200, {
      data: { r0: { databaseId: 42, commit: { associatedPullRequests: more } } },
    });
    expect((await read())?.commits.map(({ prNumber }) => prNumber)).toEqual([7]);
    expect(github.requests.at(-1)?.body).toMatchObject({ variables: { cursor0: "next", oid0: SHA } });
  });

  test("has the pull requests whose target is gone, if their merge is on the branch", async () => {
    const gone = { baseRefName: "master", baseRef: null };
    sendHistory([
      commit(NEWER, "2026-02-02T00:00:00Z", pulls([pull(2, gone)]), SHA),
      commit(SHA, "2026-02-01T00:00:00Z", pulls([pull(1, { ...gone, mergeCommit: { oid: SHA } })])),
    ]);
    expect((await read())?.commits.map(({ prNumber }) => prNumber)).toEqual([null, 1]);
  });

  test("does not end at a commit with an old date", async () => {
    sendHistory([
      commit(NEWER, "2026-02-02T00:00:00Z", pulls([]), OTHER_SHA),
      commit(OTHER_SHA, "2001-01-01T00:00:00Z", pulls([]), SHA),
      commit(SHA, "2026-02-01T00:00:00Z", pulls([]), "d".repeat(40)),
      commit("d".repeat(40), "2025-12-31T00:00:00Z"),
    ]);
    expect((await read())?.commits.map(({ sha }) => sha)).toEqual([NEWER, OTHER_SHA, SHA]);
    expect(JSON.stringify(github.requests.at(-1)?.body)).not.toContain("since");
  });
});
