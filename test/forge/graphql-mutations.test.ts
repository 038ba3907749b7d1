import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { CREATE_REF, mainOf } from "../support/stories/create-branch.ts";
import { errorOf, nodeIdOf, openOne } from "../support/forge/pull-requests.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";

let world: TestForge;
beforeAll(async () => {
  world = await startTestForge();
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.forgetReceived();
});

const web = () => world.forge.repository("acme/web");

describe("drafts", () => {
  const READY = `mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id, clientMutationId: "7" }) { clientMutationId pullRequest { isDraft } } }`;
  const DRAFT = `mutation ($id: ID!) { convertPullRequestToDraft(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`;

  test("become ready and drafts again, with one event each", async () => {
    const id = await nodeIdOf(world, (await openOne(world, true)).number);
    const token = world.installationToken();
    const ready = await world.graphql(READY, { id }, token);
    expect(ready.body).toEqual({
      data: { markPullRequestReadyForReview: { clientMutationId: "7", pullRequest: { isDraft: false } } },
    });
    await world.graphql(READY, { id }, token);
    await world.graphql(DRAFT, { id }, token);
    expect(await world.events()).toEqual([
      "pull_request.opened",
      "pull_request.ready_for_review",
      "pull_request.converted_to_draft",
    ]);
    expect(world.received[1]?.payload).toMatchObject({
      sender: { login: "trunkline[bot]" },
      pull_request: { draft: false },
    });
  });

  test("stay drafts for an installation without write access to contents", async () => {
    const id = await nodeIdOf(world, (await openOne(world, true)).number);
    const { installations } = world.forge.context.state;
    const [installation] = installations.all();
    installations.update(installation!.id, { permissions: { metadata: "read", pull_requests: "write" } });
    const refused = await world.graphql(READY, { id }, world.installationToken());
    installations.update(installation!.id, { permissions: installation!.permissions });
    expect(errorOf(refused)).toEqual([200, "FORBIDDEN", "Resource not accessible by integration"]);
  });
});

describe("refs", () => {
  const UPDATE = `mutation ($id: ID!, $updates: [RefUpdate!]!) { updateRefs(input: { repositoryId: $id, refUpdates: $updates }) { clientMutationId } }`;
  const zeros = "0".repeat(40);

  test("are created once", async () => {
    const variables = { ...(await mainOf(world)), name: "refs/heads/once" };
    expect((await world.graphql(CREATE_REF, variables)).at("data.createRef.ref.name")).toBe("once");
    expect(errorOf(await world.graphql(CREATE_REF, variables))).toEqual([
      200,
      "UNPROCESSABLE",
      'A ref named "refs/heads/once" already exists in the repository.',
    ]);
  });

  test("move together from their expected commits, or not at all", async () => {
    const { id, oid } = await mainOf(world);
    const next = await world.forge.commit("acme/web", "source", { "next.txt": "next\n" });
    await world.graphql(CREATE_REF, { id, oid, name: "refs/heads/one" });
    const move = { name: "refs/heads/one", beforeOid: oid, afterOid: next };
    const created = { name: "refs/heads/two", beforeOid: zeros, afterOid: next };
    expect((await world.graphql(UPDATE, { id, updates: [move, created] })).body).not.toHaveProperty("errors");
    const drop = { name: "refs/heads/two", beforeOid: oid, afterOid: zeros };
    const late = await world.graphql(UPDATE, {
      id,
      updates: [{ ...move, beforeOid: next, afterOid: oid, force: true }, drop],
    });
    expect(errorOf(late)).toEqual([200, "UNPROCESSABLE", "Reference update failed"]);
    const read = `{ repository(owner: "acme", name: "web") { one: ref(qualifiedName: "one") { target { oid } } two: ref(qualifiedName: "two") { target { oid } } } }`;
    expect((await world.graphql(read)).body).toEqual({
      data: { repository: { one: { target: { oid: next } }, two: { target: { oid: next } } } },
    });
  });

  test("do not move back without force", async () => {
    const { id, oid } = await mainOf(world);
    const newer = await world.forge.commit("acme/web", "ahead", { "ahead.txt": "ahead\n" });
    const back = { name: "refs/heads/ahead", beforeOid: newer, afterOid: oid };
    expect(errorOf(await world.graphql(UPDATE, { id, updates: [back] }))[2]).toBe(
      "Update is not a fast forward",
    );
    expect(
      (await world.graphql(UPDATE, { id, updates: [{ ...back, force: true }] })).body,
    ).not.toHaveProperty("errors");
  });
});

describe("merging", () => {
  const MERGE = `mutation ($id: ID!, $head: GitObjectID) { mergePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head, mergeMethod: SQUASH }) {
    pullRequest { state merged mergedBy { login } mergeCommit { oid messageHeadline parents(first: 2) { totalCount } } } } }`;

  test("pins the head", async () => {
    const pull = await openOne(world);
    const id = await nodeIdOf(world, pull.number);
    const other = await world.graphql(MERGE, { id, head: "1".repeat(40) });
    expect(errorOf(other)).toEqual([
      200,
      "UNPROCESSABLE",
      "Head branch was modified. Review and try the merge again.",
    ]);
    const merged = await world.graphql(MERGE, { id, head: pull.headSha });
    expect(merged.body).toMatchObject({
      data: {
        mergePullRequest: {
          pullRequest: {
            state: "MERGED",
            merged: true,
            mergedBy: { login: "ada" },
            mergeCommit: {
              messageHeadline: `Add ${pull.headRef} (#${pull.number})`,
              parents: { totalCount: 1 },
            },
          },
        },
      },
    });
    expect(await world.events()).toEqual(["pull_request.opened", "pull_request.closed", "push"]);
  });

  test("is reverted by another pull request", async () => {
    const pull = await openOne(world);
    const id = await nodeIdOf(world, pull.number);
    await world.graphql(MERGE, { id });
    const response = await world.graphql(
      `mutation ($id: ID!) { revertPullRequest(input: { pullRequestId: $id }) { revertPullRequest { title body headRefName changedFiles deletions commits(last: 1) { nodes { commit { message } } } } } }`,
      { id },
    );
    expect(response.body).toMatchObject({
      data: {
        revertPullRequest: {
          revertPullRequest: {
            title: `Revert "${pull.title}"`,
            body: `Reverts acme/web#${pull.number}`,
            headRefName: `revert-${pull.number}-${pull.headRef}`,
            changedFiles: 1,
            deletions: 1,
            commits: { nodes: [{ commit: { message: expect.stringContaining("This reverts commit") } }] },
          },
        },
      },
    });
  });

  test("automatically is refused if there is nothing to wait for", async () => {
    const enable = `mutation ($id: ID!) { enablePullRequestAutoMerge(input: { pullRequestId: $id }) { pullRequest { id } } }`;
    const id = await nodeIdOf(world, (await openOne(world)).number);
    const words = async () => errorOf(await world.graphql(enable, { id }))[2];
    expect(await words()).toBe("Pull request Auto merge is not allowed for this repository");
    world.forge.context.state.repositories.update(web().id, { allowAutoMerge: true });
    expect(await words()).toBe("Pull request Protected branch rules not configured for this branch");
  });

  test("automatically happens after the pending checks have passed", async () => {
    const pull = await openOne(world);
    const id = await nodeIdOf(world, pull.number);
    const path = "/repos/acme/web/branches/main/protection";
    const rules = { required_status_checks: { strict: false, contexts: ["ci"] }, enforce_admins: null };
    await world.api("PUT", path, { ...rules, required_pull_request_reviews: null, restrictions: null });
    world.forge.context.state.repositories.update(web().id, { allowAutoMerge: true });
    const enable = `mutation ($id: ID!) { enablePullRequestAutoMerge(input: { pullRequestId: $id, mergeMethod: SQUASH }) { pullRequest { autoMergeRequest { mergeMethod } } } }`;
    const enabled = await world.graphql(enable, { id });
    expect(enabled.at("data.enablePullRequestAutoMerge.pullRequest.autoMergeRequest.mergeMethod")).toBe(
      "SQUASH",
    );
    await world.api("POST", `/repos/acme/web/statuses/${pull.headSha}`, { state: "success", context: "ci" });
    await world.forge.waitUntilIdle();
    await world.api("DELETE", path);
    expect((await world.api("GET", `/repos/acme/web/pulls/${pull.number}`)).at("merged")).toBe("true");
  });

  test("a branch into another", async () => {
    const { id } = await mainOf(world);
    await world.forge.commit("acme/web", "feature", { "feature.txt": "feature\n" });
    const merge = `mutation ($id: ID!, $head: String!) { mergeBranch(input: { repositoryId: $id, base: "main", head: $head }) { mergeCommit { message parents(first: 2) { totalCount } } } }`;
    const response = await world.graphql(merge, { id, head: "feature" });
    expect(response.body).toEqual({
      data: {
        mergeBranch: { mergeCommit: { message: "Merge feature into main", parents: { totalCount: 2 } } },
      },
    });
    expect(errorOf(await world.graphql(merge, { id, head: "nope" }))).toEqual([
      200,
      "UNPROCESSABLE",
      'Failed to merge: "Head does not exist"',
    ]);
  });
});

describe("commenting", () => {
  test("has the App's name and can be read", async () => {
    const id = await nodeIdOf(world, (await openOne(world)).number);
    const response = await world.graphql(
      `mutation ($id: ID!) { addComment(input: { subjectId: $id, body: "Looks good" }) { commentEdge { node { body author { login } } } subject { ... on PullRequest { comments(first: 5) { totalCount } } } } }`,
      { id },
    );
    expect(response.body).toEqual({
      data: {
        addComment: {
          commentEdge: { node: { body: "Looks good", author: { login: "ada" } } },
          subject: { comments: { totalCount: 1 } },
        },
      },
    });
    expect(await world.events()).toContain("issue_comment.created");
  });
});
