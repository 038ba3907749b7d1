import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { systemClock } from "../../src/forge/github/clock.ts";
import { type GitHubDouble, openGitHubDouble, SHA, WEB } from "./github-double.ts";

const REFS = "/repositories/42/git/refs";
const made = { ref: "refs/heads/x", object: { sha: SHA } };

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble({ paceWrites: true, clock: systemClock });
});
afterEach(() => github.done());

const create = () => github.forge.createBranch(WEB, "x", SHA);
const inspect = () => github.forge.inspect([{ repository: WEB, branchName: null, targetBranch: null }]);

test("writes begin a second apart, and reads pass them by, by GraphQL too", async () => {
  for (let writes = 0; writes < 2; writes++) github.on("POST", REFS, 201, made);
  const repository = {
    databaseId: 42,
    nameWithOwner: "acme/web",
    defaultBranchRef: { name: "main" },
    target: { name: "main", target: { oid: SHA } },
  };
  github.on("POST", "/graphql", 200, { data: { r0: repository } });
  await create();
  let isSecondDone = false;
  const second = create().then(() => (isSecondDone = true));
  await inspect();
  expect(isSecondDone).toBe(false);
  await second;
  expect(github.minted).toBe(1);
});

test("a write that would wait too long for its turn is told so at once", async () => {
  github.done();
  github = openGitHubDouble({ clock: systemClock });
  for (let writes = 0; writes < 20; writes++) github.late("POST", REFS, 0, 201, made);
  const waiting = Array.from({ length: 20 }, create);
  await expect(create()).rejects.toMatchObject({ name: "ForgeUnavailable", retryAfter: 20 });
  await Promise.all(waiting);
  github.on("POST", "/graphql", 200, {
    data: { markPullRequestReadyForReview: { pullRequest: { isDraft: false } } },
  });
  expect(await github.forge.markReady(WEB, "PR_5")).toMatchObject({ ok: true });
});
