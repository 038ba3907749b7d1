import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { makeRepository, type ForgeRepository } from "./forge-repository.ts";

let world: TestForge;
let repository: ForgeRepository;
let main: string;

beforeAll(async () => {
  world = await startTestForge();
});
afterAll(() => world.stop());
beforeEach(async () => {
  repository = await makeRepository(world, { files: { "app.txt": "one\n" } });
  main = await repository.tip("main");
});

const create = (ref: string, sha: string) => repository.call("POST", "/git/refs", { ref, sha });
const NOWHERE = "1".repeat(40);

describe("creating a ref", () => {
  test.each([
    ["refs/heads/main", "main", "Reference already exists"],
    ["refs/heads/new", NOWHERE, "Object does not exist"],
    ["heads/new", "main", "Reference name must start with 'refs/'."],
    ["refs/new", "main", "Reference name must contain at least three slash-separated components."],
    ["refs/heads/a..b", "main", "refs/heads/a..b is not a valid ref name."],
    ["refs/heads/main/deeper", "main", "Reference update failed"],
  ])("%s at %s: %s", async (ref, at, message) => {
    const response = await create(ref, at === "main" ? main : at);
    expect([response.status, response.at("message")]).toEqual([422, message]);
  });

  test("in an empty repository is refused, and so is reading one", async () => {
    const empty = await makeRepository(world, { files: null });
    const made = await empty.call("POST", "/git/refs", { ref: "refs/heads/a", sha: main });
    const read = await empty.call("GET", "/git/ref/heads/main");
    expect([made.status, read.status, made.at("message")]).toEqual([409, 409, "Git Repository is empty."]);
  });

  test("with slashes, a hash sign and a percent sign in its name is found by that name", async () => {
    await create("refs/heads/card/7-50%#1", main);
    const response = await repository.call("GET", `/git/ref/heads/${encodeURIComponent("card/7-50%#1")}`);
    expect(response.at("ref")).toBe("refs/heads/card/7-50%#1");
  });
});

const remove = (branch: string) => repository.call("DELETE", `/git/refs/heads/${branch}`);

describe("moving and deleting a ref", () => {
  test("is possible forward only, unless forced", async () => {
    const ahead = await repository.commit("work", { "app.txt": "two\n" });
    const move = (sha: string, force = false) =>
      repository.call("PATCH", "/git/refs/heads/work", { sha, force });
    expect((await move(main)).at("message")).toBe("Update is not a fast forward");
    expect((await move(main, true)).at("object.sha")).toBe(main);
    expect((await move(ahead)).at("object.sha")).toBe(ahead);
    const missing = await repository.call("PATCH", "/git/refs/heads/nope", { sha: main });
    expect(missing.at("message")).toBe("Reference does not exist");
  });

  test("a second time is refused as missing; the default branch cannot be deleted", async () => {
    await create("refs/heads/work", main);
    expect((await remove("work")).status).toBe(204);
    expect((await remove("work")).at("message")).toBe("Reference does not exist");
    expect((await remove("main")).status).toBe(422);
  });

  test("concurrently moves a branch once", async () => {
    await create("refs/heads/work", main);
    const one = await repository.commit("one", { "one.txt": "x\n" });
    const two = await repository.commit("two", { "two.txt": "x\n" });
    const move = (sha: string) => repository.call("PATCH", "/git/refs/heads/work", { sha });
    const statuses = (await Promise.all([move(one), move(two)])).map((each) => each.status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 422]);
  });
});

test("a commit is created from blobs and a tree with the Git database API", async () => {
  const blob = await repository.call("POST", "/git/blobs", { content: "aGVsbG8=", encoding: "base64" });
  const tree = await repository.call("POST", "/git/trees", {
    base_tree: main,
    tree: [
      { path: "docs/hello.txt", mode: "100644", type: "blob", sha: blob.at("sha") },
      { path: "app.txt", mode: "100644", type: "blob", sha: null },
    ],
  });
  const commit = await repository.call("POST", "/git/commits", {
    message: "By hand",
    tree: tree.at("sha"),
    parents: [main],
    author: { name: "Someone", email: "someone@example.com", date: "2026-01-02T03:04:05Z" },
  });
  await create("refs/heads/made", commit.at("sha"));
  expect(await repository.git("show", "made:docs/hello.txt")).toBe("hello");
  expect(await repository.git("ls-tree", "-r", "--name-only", "made")).toBe("docs/hello.txt");
  expect(await repository.git("log", "-1", "--format=%an %aI %P", "made")).toBe(
    `Someone 2026-01-02T03:04:05+00:00 ${main}`,
  );
});

const pick = async (commit: string, onto: string) => {
  const target = await repository.call("GET", `/git/commits/${onto}`);
  const source = await repository.call("GET", `/git/commits/${commit}`);
  const sibling = await repository.call("POST", "/git/commits", {
    message: "tmp",
    tree: target.at("tree.sha"),
    parents: [source.at("parents.0.sha")],
  });
  await create("refs/heads/tmp", sibling.at("sha"));
  return repository.call("POST", "/merges", { base: "tmp", head: commit });
};

describe("a commit picked onto another branch with REST", () => {
  test("has the tree of git cherry-pick", async () => {
    await repository.commit("work", { "app.txt": "two\n" });
    const wanted = await repository.commit("work", { "fix.txt": "fix\n" });
    await repository.commit("release", { "other.txt": "x\n" });
    const merged = await pick(wanted, await repository.tip("release"));
    expect(merged.status).toBe(201);
    const tree = await repository.git("ls-tree", "-r", "--name-only", merged.at("commit.tree.sha"));
    expect(tree).toBe("app.txt\nfix.txt\nother.txt");
  });

  test("with a conflict is refused", async () => {
    const wanted = await repository.commit("work", { "app.txt": "two\n" });
    const release = await repository.commit("release", { "app.txt": "three\n" });
    const merged = await pick(wanted, release);
    expect([merged.status, merged.at("message")]).toEqual([409, "Merge conflict"]);
  });
});

describe("comparing", () => {
  test("counts both directions and lists the commits ahead", async () => {
    await repository.commit("work", { "app.txt": "two\n", "new.txt": "a\nb\n" }, "Work");
    await repository.commit("main", { "other.txt": "x\n" });
    const { body } = await repository.call("GET", "/compare/main...work");
    expect(body).toMatchObject({
      status: "diverged",
      ahead_by: 1,
      behind_by: 1,
      merge_base_commit: { sha: main },
      commits: [{ commit: { message: "Work" } }],
      files: [
        {
          filename: "app.txt",
          status: "modified",
          additions: 1,
          deletions: 1,
          patch: "@@ -1 +1 @@\n-one\n+two",
        },
        { filename: "new.txt", status: "added", additions: 2 },
      ],
    });
    expect((await repository.call("GET", "/compare/main...main")).at("status")).toBe("identical");
    expect((await repository.call("GET", "/compare/main...nope")).status).toBe(404);
  });

  test("finds the pull request of a commit", async () => {
    const sha = await repository.commit("work", { "app.txt": "two\n" });
    const number = await repository.open("work");
    await repository.call("PUT", `/pulls/${number}/merge`, {});
    const { body } = await repository.call("GET", `/commits/${sha}/pulls`);
    expect(body).toMatchObject([{ number }]);
  });
});

const put = (body: object) => repository.call("PUT", "/contents/app.txt", { message: "Edit", ...body });

describe("a file", () => {
  const content = Buffer.from("two\n").toString("base64");

  test("is edited with its current SHA only", async () => {
    expect((await put({ content })).status).toBe(422);
    expect((await put({ content, sha: NOWHERE })).status).toBe(409);
    const { sha } = (await repository.call("GET", "/contents/app.txt")).body as { sha: string };
    expect((await put({ content, sha })).status).toBe(200);
    expect(await repository.git("show", "main:app.txt")).toBe("two");
  });
});

const publish = (body: object) => repository.call("POST", "/releases", body);

describe("a release", () => {
  test("creates its tag at the target, which is ignored if the tag exists", async () => {
    const other = await repository.commit("main", { "app.txt": "two\n" });
    await publish({ tag_name: "v1", target_commitish: main, name: "One" });
    expect(await repository.git("rev-parse", "v1")).toBe(main);
    await repository.call("POST", "/git/refs", { ref: "refs/tags/v2", sha: main });
    expect((await publish({ tag_name: "v2", target_commitish: other })).status).toBe(201);
    expect(await repository.git("rev-parse", "v2")).toBe(main);
  });

  test("is unique, and found by its tag only when it is published", async () => {
    const draft = await publish({ tag_name: "v1", draft: true });
    expect((await repository.call("GET", "/releases/tags/v1")).status).toBe(404);
    await repository.call("PATCH", `/releases/${draft.number("id")}`, { draft: false });
    expect((await repository.call("GET", "/releases/tags/v1")).status).toBe(200);
    const again = await publish({ tag_name: "v1" });
    expect(again.body).toMatchObject({
      errors: [{ resource: "Release", code: "already_exists", field: "tag_name" }],
    });
  });
});

test("a deleted repository is deleted with its content", async () => {
  await repository.commit("work", { "app.txt": "two\n" });
  const number = await repository.open("work");
  const comment = await repository.call("POST", `/issues/${number}/comments`, { body: "Hello" });
  const { id } = world.forge.repository(repository.fullName);
  expect((await repository.call("DELETE", "")).status).toBe(204);
  const other = await makeRepository(world);
  for (const path of [`/repositories/${id}`, `${other.path}/issues/comments/${comment.number("id")}`])
    expect((await world.api("GET", path)).status).toBe(404);
});
