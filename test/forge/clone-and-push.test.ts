import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Clone, cloneRepository } from "../support/git.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { cloneUrl, makeRepository, type ForgeRepository } from "./forge-repository.ts";

let world: TestForge;
let repository: ForgeRepository;
let clone: Clone;

beforeAll(async () => {
  world = await startTestForge();
});
afterAll(() => world.stop());
beforeEach(async () => {
  repository = await makeRepository(world, { files: { "README.md": "# Shop\n", "app.txt": "one\n" } });
  clone = await repository.clone();
  await world.forgetReceived();
});

const payloadsOf = (event: string) =>
  world.received.filter((each) => each.event === event).map((each) => each.payload);

const plain = (path: string) => fetch(`${world.forge.cloneUrl}/${path}`);

describe("a clone", () => {
  test("is refused without credentials, whether the repository exists or not", async () => {
    for (const name of [repository.fullName, "acme/nothing"]) {
      const response = await plain(`${name}.git/info/refs?service=git-upload-pack`);
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([
        401,
        'Basic realm="GitHub"',
      ]);
    }
  });

  test("succeeds with an installation's token as the password, also without .git", async () => {
    const url = cloneUrl(world, repository.fullName, world.installationToken()).replace(/\.git$/, "");
    const theirs = await cloneRepository(url, "trunkline");
    expect(await theirs.git("log", "--format=%s")).toBe("Initial commit");
    await theirs.remove();
  });

  test("is refused with the token of a user without access", async () => {
    const mallory = world.forge.createUser(`mallory-${Date.now()}`, { organizations: {} });
    const url = cloneUrl(world, repository.fullName, mallory.token);
    await expect(cloneRepository(url, "mallory")).rejects.toThrow(/not found/);
  });
});

describe("a push", () => {
  test("of a new branch sends create and push, with the new commits and their paths", async () => {
    await clone.git("checkout", "-q", "-b", "work");
    const sha = await clone.commit("Add and change", { "new.txt": "new\n", "app.txt": "two\n" });
    await clone.push();
    expect(await world.events()).toEqual(["create", "push"]);
    expect(payloadsOf("create")).toMatchObject([{ ref: "work", ref_type: "branch", master_branch: "main" }]);
    expect(payloadsOf("push")).toMatchObject([
      {
        ref: "refs/heads/work",
        before: "0".repeat(40),
        after: sha,
        created: true,
        forced: false,
        commits: [
          { id: sha, message: "Add and change", added: ["new.txt"], modified: ["app.txt"], distinct: true },
        ],
        // The email address ada@example.com belongs to the account.
        head_commit: { id: sha, author: { email: "ada@example.com", username: "ada" } },
        sender: { login: "ada" },
      },
    ]);
    expect(await repository.tip("work")).toBe(sha);
  });

  test("of a rewritten branch is forced", async () => {
    await clone.commit("One", { "app.txt": "two\n" });
    await clone.push();
    await clone.git("commit", "-q", "--amend", "-m", "Other");
    await clone.push("--force", "origin", "HEAD");
    await world.forge.waitUntilIdle();
    expect(payloadsOf("push")).toMatchObject([
      { forced: false },
      { forced: true, commits: [{ message: "Other" }] },
    ]);
  });

  test("of a tag sends an event, and of four tags none", async () => {
    await clone.git("tag", "v1");
    await clone.push("origin", "v1");
    await world.forge.waitUntilIdle();
    expect(payloadsOf("create")).toMatchObject([{ ref: "v1", ref_type: "tag" }]);
    for (const tag of ["a", "b", "c", "d"]) await clone.git("tag", tag);
    await clone.push("origin", "--tags");
    await world.forge.waitUntilIdle();
    expect(payloadsOf("create")).toHaveLength(1);
  });

  test("updates its pull request", async () => {
    await repository.commit("work", { "app.txt": "two\n" });
    const number = await repository.open("work");
    const before = await repository.tip("work");
    await clone.checkout("work");
    const after = await clone.commit("More", { "more.txt": "more\n" });
    await clone.push();
    const pull = await repository.pull(number);
    expect([pull.at("head.sha"), pull.number("commits")]).toEqual([after, 2]);
    await world.forge.waitUntilIdle();
    expect(payloadsOf("pull_request").at(-1)).toMatchObject({ action: "synchronize", number, before, after });
    expect(await repository.git("rev-parse", `refs/pull/${number}/head`)).toBe(after);
  });

  test("of all of a pull request's commits to its base merges it, by the pusher", async () => {
    await repository.commit("work", { "app.txt": "two\n" });
    const number = await repository.open("work");
    await clone.checkout("work");
    await clone.git("checkout", "-q", "main");
    await clone.git("merge", "-q", "--no-ff", "-m", "By hand", "work");
    await clone.push();
    const pull = await repository.pull(number);
    expect(pull.body).toMatchObject({ state: "closed", merged: true, merged_by: { login: "ada" } });
    expect(pull.at("merge_commit_sha")).toBe(await repository.tip("main"));
  });

  test("that deletes the branch closes its pull request", async () => {
    await repository.commit("work", { "app.txt": "two\n" });
    const number = await repository.open("work");
    await clone.push("origin", ":work");
    expect((await repository.pull(number)).body).toMatchObject({ state: "closed", merged: false });
    await world.forge.waitUntilIdle();
    expect(payloadsOf("delete")).toMatchObject([{ ref: "work", ref_type: "branch" }]);
    expect(payloadsOf("push").at(-1)).toMatchObject({ deleted: true, head_commit: null });
  });
});

const protect = (restrictions: object | null) =>
  repository.call("PUT", "/branches/main/protection", {
    required_status_checks: null,
    enforce_admins: true,
    required_pull_request_reviews: null,
    restrictions,
  });

describe("a protected branch", () => {
  test("accepts pushes only from listed users", async () => {
    await protect({ users: ["grace"], teams: [], apps: [] });
    await clone.commit("Mine", { "app.txt": "two\n" });
    await expect(clone.push()).rejects.toThrow(/GH006: Protected branch update failed for refs\/heads\/main/);
    const theirs = await repository.clone("grace");
    const sha = await theirs.commit("Hers", { "app.txt": "three\n" });
    await theirs.push();
    expect(await repository.tip("main")).toBe(sha);
    await theirs.remove();
  });

  test("cannot be rewritten or deleted, while other branches of the push move", async () => {
    await protect(null);
    await clone.git("commit", "-q", "--amend", "-m", "Rewritten");
    await expect(clone.push("--force", "origin", "HEAD:main", "HEAD:side")).rejects.toThrow(
      /Cannot force-push/,
    );
    expect(await repository.tip("side")).toBe(await clone.git("rev-parse", "HEAD"));
    expect(await repository.tip("main")).not.toBe(await repository.tip("side"));
  });
});

describe("a branch that requires signatures", () => {
  const UNSIGNED = "Commits must have verified signatures.";
  beforeEach(async () => {
    await protect(null);
    await repository.call("POST", "/branches/main/protection/required_signatures");
  });

  test("takes an App's commit only if the App names no author", async () => {
    const main = await repository.tip("main");
    const tree = (await repository.call("GET", `/git/commits/${main}`)).at("tree.sha");
    const author = { name: "Ada", email: "ada@x.test" };
    const token = world.installationToken();
    const asApp = (method: string, path: string, body: object) => repository.call(method, path, body, token);
    const moveTo = async (commit: object) => {
      const body = { message: "Next", tree, parents: [main], ...commit };
      const made = await asApp("POST", "/git/commits", body);
      const sha = made.at("sha");
      const moved = await asApp("PATCH", "/git/refs/heads/main", { sha });
      return [made.at("verification.verified"), moved.status, moved.status === 422 && moved.at("message")];
    };
    expect(await moveTo({ author })).toEqual(["false", 422, UNSIGNED]);
    expect(await moveTo({ committer: author })).toEqual(["false", 422, UNSIGNED]);
    expect(await moveTo({})).toEqual(["true", 200, false]);
  });

  test("takes no unsigned push, and pull requests with unsigned commits only squashed", async () => {
    await clone.commit("Mine", { "app.txt": "two\n" });
    await expect(clone.push()).rejects.toThrow(UNSIGNED);
    await repository.commit("work", { "app.txt": "two\n" });
    const merge = (number: number, merge_method: string) =>
      repository.call("PUT", `/pulls/${number}/merge`, { merge_method });
    const number = await repository.open("work");
    for (const method of ["merge", "rebase"]) {
      const refused = await merge(number, method);
      expect([refused.status, refused.at("message")]).toEqual([405, UNSIGNED]);
    }
    expect((await merge(number, "squash")).status).toBe(200);
  });
});
