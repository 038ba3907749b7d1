import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { makeRepository, tokenOf, type ForgeRepository } from "./forge-repository.ts";

let world: TestForge;
let repository: ForgeRepository;

beforeAll(async () => {
  world = await startTestForge();
});
afterAll(() => world.stop());
beforeEach(async () => {
  repository = await makeRepository(world, { files: { "app.txt": "one\n", "keep.txt": "kept\n" } });
});

/** A pull request of two commits, whose base has a later commit. */
async function diverged(): Promise<{ number: number; head: string; base: string }> {
  await repository.commit("work", { "app.txt": "two\n" }, "First\n\nWhy it came first.");
  const head = await repository.commit("work", { "more.txt": "more\n" }, "Second");
  const base = await repository.commit("main", { "elsewhere.txt": "x\n" }, "Elsewhere");
  return { number: await repository.open("work"), head, base };
}

const merge = (number: number, body: object = {}, token?: string) =>
  repository.call("PUT", `/pulls/${number}/merge`, body, token);
const show = (format: string, commit = "main") => repository.git("log", "-1", `--format=${format}`, commit);

describe("a merge creates", () => {
  test("a merge commit with both parents and GitHub's message", async () => {
    const { number, head, base } = await diverged();
    const response = await merge(number, {}, world.installationToken());
    expect(response.body).toMatchObject({ merged: true, message: "Pull Request successfully merged" });
    expect(await repository.git("rev-parse", "main")).toBe(response.at("sha"));
    expect(await show("%P")).toBe(`${base} ${head}`);
    expect(await show("%an / %cn / %B")).toBe(
      `trunkline[bot] / GitHub / Merge pull request #${number} from acme/work\n\nLand work\n`,
    );
    expect(await repository.git("ls-tree", "--name-only", "main")).toBe(
      "app.txt\nelsewhere.txt\nkeep.txt\nmore.txt",
    );
    expect((await repository.pull(number)).body).toMatchObject({
      merged: true,
      merged_by: { login: "trunkline[bot]" },
      merge_commit_sha: response.at("sha"),
    });
    expect((await repository.call("GET", `/pulls/${number}/merge`)).status).toBe(204);
  });

  test("a squash: one commit with all changes and its co-authors", async () => {
    const { number, base } = await diverged();
    const by = { name: "Someone", email: "someone@example.com" };
    const content = Buffer.from("theirs\n").toString("base64");
    await repository.call("PUT", "/contents/theirs.txt", {
      message: "Third",
      content,
      branch: "work",
      author: by,
    });
    await merge(number, { merge_method: "squash", commit_title: "All of it (#1)" });
    expect(await show("%P")).toBe(base);
    expect(await show("%an / %B")).toBe(
      "Ada Lovelace / All of it (#1)\n\n* First\n\nWhy it came first.\n\n* Second\n\n* Third\n\nCo-authored-by: Someone <someone@example.com>\n",
    );
    expect(await repository.git("show", "main:theirs.txt")).toBe("theirs");
  });

  test("a rebase: the same commits on top of the base", async () => {
    const { number, head, base } = await diverged();
    await merge(number, { merge_method: "rebase" });
    expect(await repository.git("log", "--format=%s", `${base}..main`)).toBe("Second\nFirst");
    expect(await repository.git("merge-base", base, "main")).toBe(base);
    expect(await repository.git("diff", "--stat", head, "main")).toContain("elsewhere.txt");
    expect((await repository.pull(number)).at("merge_commit_sha")).toBe(await repository.tip("main"));
  });

  test("a rebase without the commits that the base has, like git", async () => {
    const { number } = await diverged();
    await repository.commit("main", { "app.txt": "two\n" }, "The same as First");
    const before = await repository.tip("main");
    await merge(number, { merge_method: "rebase" });
    expect(await repository.git("log", "--format=%s", `${before}..main`)).toBe("Second");
  });

  test("no head branch if it is to be deleted; pull requests into it get another base", async () => {
    await repository.call("PATCH", "", { delete_branch_on_merge: true });
    const { number } = await diverged();
    await repository.call("POST", "/git/refs", { ref: "refs/heads/upon", sha: await repository.tip("work") });
    await repository.commit("upon", { "upon.txt": "x\n" });
    const upon = await repository.open("upon", { base: "work" });
    await merge(number);
    expect((await repository.call("GET", "/git/ref/heads/work")).status).toBe(404);
    expect((await repository.pull(upon)).body).toMatchObject({ state: "open", base: { ref: "main" } });
  });
});

const refusal = async (number: number, body: object = {}, token?: string) => {
  const response = await merge(number, body, token);
  return [response.status, response.at("message")];
};

const protect = (rules: object) =>
  repository.call("PUT", "/branches/main/protection", {
    required_status_checks: null,
    enforce_admins: true,
    required_pull_request_reviews: null,
    restrictions: null,
    ...rules,
  });

describe("a merge is refused because of", () => {
  test("a conflict, found by git and shown as dirty", async () => {
    const { number } = await diverged();
    await repository.commit("main", { "app.txt": "three\n" });
    expect(await refusal(number)).toEqual([405, "Pull Request is not mergeable"]);
    expect((await repository.pull(number)).body).toMatchObject({
      mergeable: false,
      mergeable_state: "dirty",
    });
  });

  test("a head other than the pinned one", async () => {
    const { number, base } = await diverged();
    const message = "Head branch was modified. Review and try the merge again.";
    expect(await refusal(number, { sha: base })).toEqual([409, message]);
  });

  test("a draft, closed or merged pull request", async () => {
    await repository.commit("drafted", { "d.txt": "x\n" });
    const draft = await repository.open("drafted", { draft: true });
    expect(await refusal(draft)).toEqual([405, "Pull Request is still a draft"]);
    const { number } = await diverged();
    await merge(number);
    expect(await refusal(number)).toEqual([405, "Pull Request is not mergeable"]);
  });

  test("a merge method that the repository does not allow", async () => {
    await repository.call("PATCH", "", { allow_merge_commit: false, allow_rebase_merge: false });
    const { number } = await diverged();
    expect(await refusal(number)).toEqual([405, "Merge commits are not allowed on this repository."]);
    expect(await refusal(number, { merge_method: "rebase" })).toEqual([
      405,
      "Rebase merges are not allowed on this repository.",
    ]);
    expect((await merge(number, { merge_method: "squash" })).status).toBe(200);
  });

  describe("protection", () => {
    test("checks: expected, in progress, failing, then none", async () => {
      const { number, head } = await diverged();
      await protect({ required_status_checks: { strict: false, contexts: ["ci", "lint"] } });
      const report = (context: string, state: string) =>
        repository.call("POST", `/statuses/${head}`, { context, state });
      expect(await refusal(number)).toEqual([405, "2 of 2 required status checks are expected."]);
      await report("lint", "success");
      expect(await refusal(number)).toEqual([405, 'Required status check "ci" is expected.']);
      await report("ci", "pending");
      expect(await refusal(number)).toEqual([405, 'Required status check "ci" is in progress.']);
      await report("ci", "failure");
      expect(await refusal(number)).toEqual([405, 'Required status check "ci" is failing.']);
      expect((await repository.pull(number)).at("mergeable_state")).toBe("blocked");
      await report("ci", "success");
      expect((await merge(number)).status).toBe(200);
    });

    test("checks that require an up-to-date head, until the branch is updated", async () => {
      const { number } = await diverged();
      await protect({ required_status_checks: { strict: true, contexts: [] } });
      expect((await repository.pull(number)).at("mergeable_state")).toBe("behind");
      expect((await merge(number)).status).toBe(405);
      expect((await repository.call("PUT", `/pulls/${number}/update-branch`, {})).status).toBe(202);
      expect(await show("%B", "work")).toBe("Merge branch 'main' into work\n");
      expect((await merge(number)).status).toBe(200);
    });

    test("reviews: missing, changes requested, given", async () => {
      const { number } = await diverged();
      await protect({ required_pull_request_reviews: { required_approving_review_count: 1 } });
      const review = (event: string) =>
        repository.call("POST", `/pulls/${number}/reviews`, { event, body: "So" }, tokenOf(world, "grace"));
      const wanted = "At least 1 approving review is required by reviewers with write access.";
      expect(await refusal(number)).toEqual([405, wanted]);
      await review("REQUEST_CHANGES");
      expect(await refusal(number)).toEqual([405, "Changes have been requested."]);
      await review("APPROVE");
      expect((await merge(number)).status).toBe(200);
    });

    test("a list of users who may push", async () => {
      const { number } = await diverged();
      await protect({ restrictions: { users: ["ada"], teams: [], apps: [] } });
      const [status, message] = await refusal(number, {}, world.installationToken());
      expect(status).toBe(405);
      expect(message).toBe("You're not authorized to push to this branch.");
      expect((await merge(number)).status).toBe(200);
    });
  });
});

const start = (number: number, body: object = {}) =>
  repository.call("PUT", `/pulls/${number}/merge-async`, body);

const read = (number: number, uuid: string) => repository.call("GET", `/pulls/${number}/merge-async/${uuid}`);

describe("an asynchronous merge", () => {
  test("is accepted, polled and finished", async () => {
    const { number, head } = await diverged();
    world.forge.settings.asyncMergeDelayMs = 150;
    const first = await start(number, { sha: head, merge_method: "merge", commit_title: "Land" });
    expect([first.status, first.at("status")]).toEqual([202, "pending"]);
    const again = await start(number, { sha: head });
    expect([again.status, again.at("details.message")]).toEqual([
      409,
      "A merge request already exists for this pull request.",
    ]);
    expect(again.at("details.uuid")).toBe(first.at("details.uuid"));
    world.forge.settings.asyncMergeDelayMs = 0;
    await world.forge.waitUntilIdle();
    const done = await read(number, first.at("details.uuid"));
    expect(done.body).toMatchObject({ status: "merged", details: { sha: await repository.tip("main") } });
    expect(await show("%s")).toBe("Land");
    expect((await start(number)).body).toMatchObject({ status: "merged" });
  });

  test("with a conflict fails with a message", async () => {
    const { number } = await diverged();
    await repository.commit("main", { "app.txt": "three\n" });
    const started = await start(number);
    await world.forge.waitUntilIdle();
    expect((await read(number, started.at("details.uuid"))).body).toEqual({
      status: "failed",
      details: { message: "Merge conflict: the pull request could not be merged." },
    });
  });

  test("of a head that moved meanwhile fails", async () => {
    const { number } = await diverged();
    world.forge.settings.asyncMergeDelayMs = 150;
    const started = await start(number);
    const content = Buffer.from("x").toString("base64");
    await repository.call("PUT", "/contents/late.txt", { message: "Late", content, branch: "work" });
    world.forge.settings.asyncMergeDelayMs = 0;
    await world.forge.waitUntilIdle();
    expect((await read(number, started.at("details.uuid"))).at("status")).toBe("failed");
  });

  test("of a closed pull request or a draft is refused immediately, and another id is not found", async () => {
    await repository.commit("work", { "d.txt": "x\n" });
    const number = await repository.open("work", { draft: true });
    expect((await start(number)).body).toMatchObject({ status: "failed" });
    await repository.call("PATCH", `/pulls/${number}`, { state: "closed" });
    const closed = await start(number);
    expect([closed.status, closed.at("details.message")]).toEqual([400, "Pull request is closed."]);
    expect((await read(number, "00000000-0000-4000-8000-000000000000")).status).toBe(404);
  });

  test("is not available if it is switched off", async () => {
    const { number } = await diverged();
    world.forge.settings.hasAsyncMerge = false;
    expect((await start(number)).status).toBe(404);
    world.forge.settings.hasAsyncMerge = true;
  });
});

test("mergeability is unknown at first if configured", async () => {
  const { number } = await diverged();
  world.forge.settings.mergeabilityDelay = 2;
  const seen = [];
  for (let index = 0; index < 3; index += 1) seen.push((await repository.pull(number)).at("mergeable"));
  world.forge.settings.mergeabilityDelay = 0;
  expect(seen).toEqual(["null", "null", "true"]);
});

test("the test merge can be fetched before the merge", async () => {
  const { number, head, base } = await diverged();
  const sha = (await repository.pull(number)).at("merge_commit_sha");
  expect(await show("%H %P", `refs/pull/${number}/merge`)).toBe(`${sha} ${base} ${head}`);
});

test("two concurrent merges into one branch succeed", async () => {
  await repository.commit("a", { "a.txt": "x\n" });
  await repository.commit("b", { "b.txt": "x\n" });
  const numbers = [await repository.open("a"), await repository.open("b")];
  const responses = await Promise.all(numbers.map((number) => merge(number)));
  expect(responses.map((each) => each.status)).toEqual([200, 200]);
  expect(await repository.git("ls-tree", "--name-only", "main")).toBe("a.txt\napp.txt\nb.txt\nkeep.txt");
});
