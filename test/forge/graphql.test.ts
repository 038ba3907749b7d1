import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { reviewPullRequest } from "../../sandbox/forge/actions/reviews.ts";
import { accountByLogin } from "../../sandbox/forge/world.ts";
import { errorOf, nodeIdOf, openOne } from "../support/forge/pull-requests.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";

let world: TestForge;
beforeAll(async () => {
  world = await startTestForge();
});
afterAll(() => world.stop());

const web = () => world.forge.repository("acme/web");

describe("GraphQL returns", () => {
  test("a repository, its default branch and files", async () => {
    const response = await world.graphql(`{
      repository(owner: "acme", name: "web") {
        databaseId
        nameWithOwner
        defaultBranchRef { name compare(headRef: "main") { status aheadBy behindBy } }
        missing: ref(qualifiedName: "refs/heads/nope") { name }
        object(expression: "main:README.md") { __typename ... on Blob { text } }
        ref(qualifiedName: "main") { target { ... on Commit { history(first: 2) { totalCount nodes { messageHeadline } pageInfo { hasNextPage } } } } }
      }
    }`);
    expect(response.body).toMatchObject({
      data: {
        repository: {
          databaseId: web().id,
          nameWithOwner: "acme/web",
          defaultBranchRef: { name: "main", compare: { status: "IDENTICAL", aheadBy: 0, behindBy: 0 } },
          missing: null,
          object: { __typename: "Blob", text: expect.stringContaining("# web") },
          ref: { target: { history: { totalCount: 3, nodes: [{}, {}], pageInfo: { hasNextPage: true } } } },
        },
      },
    });
  });

  test("the author and co-authors of a commit, with their accounts", async () => {
    const { id, email } = accountByLogin(world.forge.context, "grace");
    const message = [
      "Work together",
      "Co-authored-by: Mallory <not@a-trailer.example>",
      `Co-authored-by: Grace <${email}>\nco-authored-by: Nobody <nobody@example.com>`,
    ].join("\n\n");
    const sha = await world.forge.commit("acme/web", "together", { "together.txt": "x\n" }, { message });
    const response = await world.graphql(`{
      repository(owner: "acme", name: "web") {
        object(oid: "${sha}") { ... on Commit { authors(first: 5) { totalCount nodes { email user { databaseId } } } } }
      }
    }`);
    const nodes = [{}, { email, user: { databaseId: id } }, { email: "nobody@example.com", user: null }];
    expect(response.body).toMatchObject({
      data: { repository: { object: { authors: { totalCount: 3, nodes } } } },
    });
  });

  test("a pull request with its checks and reviews", async () => {
    const pull = await openOne(world);
    const { state, now } = world.forge.context;
    const common = {
      repositoryId: web().id,
      sha: pull.headSha,
      creatorId: accountByLogin(world.forge.context, "ada").id,
      createdAt: now(),
    };
    state.statuses.save({
      id: state.newId(),
      ...common,
      state: "failure",
      context: "lint",
      description: "1 mistake",
      targetUrl: null,
    });
    await reviewPullRequest(world.forge.context, pull, accountByLogin(world.forge.context, "grace"), {
      body: "Fine",
      event: "APPROVE",
      commitId: pull.headSha,
    });
    const response = await world.graphql(
      `query ($n: Int!) { repository(owner: "acme", name: "web") { pullRequest(number: $n) {
        state isDraft merged mergeable mergeStateStatus reviewDecision isInMergeQueue isCrossRepository headRefName headRefOid
        author { login __typename } headRepository { databaseId } changedFiles
        latestOpinionatedReviews(first: 5) { nodes { state author { login } } }
        commits(last: 1) { totalCount nodes { commit { oid statusCheckRollup { state contexts(first: 5) {
          totalCount nodes { ... on CheckRun { name } ... on StatusContext { context state description } } } } } } }
      } } }`,
      { n: pull.number },
    );
    expect(response.body).toEqual({
      data: {
        repository: {
          pullRequest: {
            state: "OPEN",
            isDraft: false,
            merged: false,
            mergeable: "MERGEABLE",
            mergeStateStatus: "UNSTABLE",
            reviewDecision: "APPROVED",
            isInMergeQueue: false,
            isCrossRepository: false,
            headRefName: pull.headRef,
            headRefOid: pull.headSha,
            author: { login: "ada", __typename: "User" },
            headRepository: { databaseId: web().id },
            changedFiles: 1,
            latestOpinionatedReviews: { nodes: [{ state: "APPROVED", author: { login: "grace" } }] },
            commits: {
              totalCount: 1,
              nodes: [
                {
                  commit: {
                    oid: pull.headSha,
                    statusCheckRollup: {
                      state: "FAILURE",
                      contexts: {
                        totalCount: 1,
                        nodes: [{ context: "lint", state: "FAILURE", description: "1 mistake" }],
                      },
                    },
                  },
                },
              ],
            },
          },
        },
      },
    });
  });

  test("lists of pull requests, filtered, newest first, in pages", async () => {
    const [first, second] = [await openOne(world), await openOne(world, true)];
    const list = `query ($head: String, $after: String) { repository(owner: "acme", name: "web") {
      pullRequests(headRefName: $head, states: [OPEN], first: 1, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) {
        nodes { number } pageInfo { endCursor hasNextPage } } } }`;
    const one = await world.graphql(list, { head: first.headRef });
    expect(one.at("data.repository.pullRequests.nodes.0.number")).toBe(String(first.number));
    const newest = await world.graphql(list);
    expect(newest.number("data.repository.pullRequests.nodes.0.number")).toBe(second.number);
    const after = newest.at("data.repository.pullRequests.pageInfo.endCursor");
    const next = await world.graphql(list, { after });
    expect(next.number("data.repository.pullRequests.nodes.0.number")).toBe(first.number);
  });

  test("nodes by their ids, with an error for each missing one", async () => {
    const pull = await openOne(world);
    const id = await nodeIdOf(world, pull.number);
    const response = await world.graphql(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on PullRequest { number } } }`,
      { ids: [id, "PR_kgDOnope"] },
    );
    expect(response.body).toMatchObject({
      data: { nodes: [{ __typename: "PullRequest", number: pull.number }, null] },
      errors: [{ type: "NOT_FOUND", path: ["nodes", 1] }],
    });
  });
});

describe("GraphQL refuses", () => {
  test("what does not exist or is not accessible", async () => {
    await world.forge.createRepository("acme", "secret");
    world.forge.createOrganization("other");
    const { token } = world.forge.createUser("mallory", { organizations: { other: "member" } });
    const secret = await world.graphql(`{ repository(owner: "acme", name: "secret") { id } }`, {}, token);
    expect(errorOf(secret)).toEqual([
      200,
      "NOT_FOUND",
      "Could not resolve to a Repository with the name 'acme/secret'.",
    ]);
    const number = await world.graphql(
      `{ repository(owner: "acme", name: "web") { pullRequest(number: 999) { id } } }`,
    );
    expect(errorOf(number)).toEqual([
      200,
      "NOT_FOUND",
      "Could not resolve to a PullRequest with the number of 999.",
    ]);
  });

  test("an invalid query and pages that are too large", async () => {
    const unknown = await world.graphql('{ repository(owner: "acme", name: "web") { colour } }');
    expect(unknown.at("errors.0.message")).toMatch(/colour/);
    const large = await world.graphql(
      '{ repository(owner: "acme", name: "web") { pullRequests(first: 101) { totalCount } } }',
    );
    expect(errorOf(large)[1]).toBe("EXCESSIVE_PAGINATION");
    const endless = await world.graphql(
      '{ repository(owner: "acme", name: "web") { pullRequests { totalCount } } }',
    );
    expect(errorOf(endless)[1]).toBe("MISSING_PAGINATION_BOUNDARIES");
  });

  test("what an installation has no permission to read", async () => {
    const pull = await openOne(world);
    const { installations } = world.forge.context.state;
    const [installation] = installations.all();
    installations.update(installation!.id, { permissions: { metadata: "read", contents: "read" } });
    const query = `query ($n: Int!) { repository(owner: "acme", name: "web") { id pullRequest(number: $n) { id } } }`;
    const refused = await world.graphql(query, { n: pull.number }, world.installationToken());
    installations.update(installation!.id, { permissions: installation!.permissions });
    expect(errorOf(refused)).toEqual([200, "FORBIDDEN", "Resource not accessible by integration"]);
    expect(refused.body).toMatchObject({
      data: { repository: { id: expect.any(String), pullRequest: null } },
    });
  });

  test("callers without credentials", async () => {
    expect((await world.graphql("{ viewer { login } }", {}, "")).status).toBe(401);
  });
});
