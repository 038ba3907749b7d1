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
  repository = await makeRepository(world, { files: { "app.txt": "one\n" } });
  await world.forgetReceived();
});

const actions = async () => (await world.events()).filter((each) => each.startsWith("pull_request"));

const open = (body: object) => repository.call("POST", "/pulls", body);

describe("opening a pull request", () => {
  test("without commits is refused with the names of both branches", async () => {
    const sha = await repository.tip("main");
    await repository.call("POST", "/git/refs", { ref: "refs/heads/card/1", sha });
    const response = await open({ title: "T", head: "card/1", base: "main" });
    expect([response.status, response.at("errors.0.message")]).toEqual([
      422,
      "No commits between main and card/1",
    ]);
  });

  test("from or into a missing branch is refused with the fields", async () => {
    const response = await open({ title: "T", head: "nope", base: "neither" });
    expect(response.body).toMatchObject({
      message: "Validation Failed",
      errors: [
        { resource: "PullRequest", field: "head", code: "invalid" },
        { resource: "PullRequest", field: "base", code: "invalid" },
      ],
      status: "422",
    });
  });

  test("again is refused with the existing one", async () => {
    await repository.commit("card/1", { "app.txt": "two\n" });
    await repository.open("card/1");
    const response = await open({ title: "T", head: "acme:card/1", base: "main" });
    expect(response.at("errors.0.message")).toBe("A pull request already exists for acme:card/1.");
  });

  test("as a draft is refused if drafts are not available", async () => {
    await repository.commit("work", { "app.txt": "two\n" });
    const { state } = world.forge.context;
    state.repositories.update(world.forge.repository(repository.fullName).id, { allowDrafts: false });
    const response = await open({ title: "T", head: "work", base: "main", draft: true });
    expect(response.body).toMatchObject({
      message: "Draft pull requests are not supported in this repository.",
    });
  });

  test("as the App shows its bot, also in webhooks", async () => {
    await repository.commit("work", { "app.txt": "two\n" });
    const body = { title: "T", head: "work", base: "main", draft: true };
    const response = await repository.call("POST", "/pulls", body, world.installationToken());
    expect(response.body).toMatchObject({
      state: "open",
      draft: true,
      user: { login: "trunkline[bot]", type: "Bot", id: world.forge.app.botId },
      additions: 1,
      deletions: 1,
      changed_files: 1,
    });
    await world.forge.waitUntilIdle();
    expect(world.received.at(-1)?.payload).toMatchObject({
      action: "opened",
      sender: { login: "trunkline[bot]" },
    });
  });
});

const heads = async (query: string) => {
  const { body } = await repository.call("GET", `/pulls?${query}`);
  return (body as { head: { ref: string } }[]).map((each) => each.head.ref);
};

describe("listing pull requests", () => {
  test("filters by owner:branch and ignores a branch without an owner", async () => {
    for (const branch of ["a", "b"]) {
      await repository.commit(branch, { [`${branch}.txt`]: "x\n" });
      await repository.open(branch);
    }
    expect(await heads("head=acme:a")).toEqual(["a"]);
    expect(await heads("head=a")).toEqual(["b", "a"]);
    expect(await heads("head=someone:a")).toEqual([]);
    expect(await heads("state=closed")).toEqual([]);
    expect(await heads("direction=asc&per_page=1")).toEqual(["a"]);
  });

  test("returns pages that link to each other", async () => {
    for (const branch of ["a", "b", "c"]) {
      await repository.commit(branch, { [`${branch}.txt`]: "x\n" });
      await repository.open(branch);
    }
    const { headers } = await repository.call("GET", "/pulls?per_page=1&page=2");
    const rels = [...(headers.get("link") ?? "").matchAll(/[?&]page=(\d)>; rel="(\w+)"/g)];
    expect(rels.map(([, page, rel]) => `${rel} ${page}`)).toEqual(["prev 1", "next 3", "last 3", "first 1"]);
  });
});

describe("changing a pull request", () => {
  let number: number;
  beforeEach(async () => {
    await repository.commit("work", { "app.txt": "two\n" });
    number = await repository.open("work");
  });
  const change = (body: object) => repository.call("PATCH", `/pulls/${number}`, body);

  test("sends the previous values; without changes it sends no webhook", async () => {
    await change({ title: "Land work" });
    await change({ title: "Better" });
    expect(await actions()).toEqual(["pull_request.opened", "pull_request.edited"]);
    expect(world.received.at(-1)?.payload).toMatchObject({ changes: { title: { from: "Land work" } } });
  });

  test("to another base retargets it, to a missing one does not", async () => {
    await repository.commit("release", { "other.txt": "x\n" });
    expect((await change({ base: "release" })).at("base.ref")).toBe("release");
    await world.forge.waitUntilIdle();
    expect(world.received.at(-1)?.payload).toMatchObject({
      action: "edited",
      changes: { base: { ref: { from: "main" } } },
    });
    const refused = await change({ base: "nope" });
    expect(refused.body).toMatchObject({
      errors: [{ message: "Proposed base branch 'nope' was not found", field: "base", code: "invalid" }],
    });
  });

  test("closes and reopens it, unless its branch was deleted or rewritten", async () => {
    await change({ state: "closed" });
    expect((await change({ state: "open" })).at("state")).toBe("open");
    await change({ state: "closed" });
    await repository.call("PATCH", "/git/refs/heads/work", {
      sha: await repository.tip("main"),
      force: true,
    });
    const rewritten = await change({ state: "open" });
    expect(rewritten.at("errors.0.message")).toBe(
      "state cannot be changed. The work branch was force-pushed or recreated.",
    );
    await repository.call("DELETE", "/git/refs/heads/work");
    const gone = await change({ state: "open" });
    expect(gone.at("errors.0.message")).toBe("state cannot be changed. The work branch has been deleted.");
    expect(await actions()).toEqual([
      "pull_request.opened",
      "pull_request.closed",
      "pull_request.reopened",
      "pull_request.closed",
    ]);
  });

  test("to an unknown state is ignored", async () => {
    expect((await change({ state: "reticulating" })).body).toMatchObject({ state: "open" });
  });
});

describe("reviewing a pull request", () => {
  let number: number;
  beforeEach(async () => {
    await repository.commit("work", { "app.txt": "two\n" });
    number = await repository.open("work");
  });
  const review = (body: object, login = "grace") =>
    repository.call("POST", `/pulls/${number}/reviews`, body, tokenOf(world, login));

  test("has its state in lower case in webhooks and in upper case in responses", async () => {
    expect((await review({ event: "APPROVE" })).at("state")).toBe("APPROVED");
    await world.forge.waitUntilIdle();
    expect(world.received.at(-1)?.payload).toMatchObject({
      action: "submitted",
      review: { state: "approved" },
    });
  });

  test("is refused for its author, and without a body unless it approves", async () => {
    expect((await review({ event: "APPROVE" }, "ada")).at("message")).toBe(
      "Can not approve your own pull request",
    );
    expect((await review({ event: "REQUEST_CHANGES" })).status).toBe(422);
  });

  test("is invisible until it is submitted", async () => {
    const pending = await review({ body: "Later" });
    const seen = async (login: string) =>
      (await repository.call("GET", `/pulls/${number}/reviews`, undefined, tokenOf(world, login))).body;
    expect([await seen("ada"), await seen("grace")]).toMatchObject([[], [{ state: "PENDING" }]]);
    const path = `/pulls/${number}/reviews/${pending.number("id")}/events`;
    await repository.call("POST", path, { event: "COMMENT" }, tokenOf(world, "grace"));
    expect(await seen("ada")).toMatchObject([{ state: "COMMENTED", body: "Later" }]);
  });

  test("fulfills a request, which is no longer open", async () => {
    await repository.call("POST", `/pulls/${number}/requested_reviewers`, { reviewers: ["grace"] });
    expect((await repository.pull(number)).at("requested_reviewers.0.login")).toBe("grace");
    await review({ event: "APPROVE" });
    expect((await repository.pull(number)).body).toMatchObject({ requested_reviewers: [] });
  });
});

test("a comment names its App, and an empty one is refused", async () => {
  await repository.commit("work", { "app.txt": "two\n" });
  const number = await repository.open("work");
  const say = (body: string, token?: string) =>
    repository.call("POST", `/issues/${number}/comments`, { body }, token);
  expect((await say("Hello", world.installationToken())).body).toMatchObject({
    user: { login: "trunkline[bot]" },
    performed_via_github_app: { slug: "trunkline" },
  });
  expect((await say("Hi")).body).toMatchObject({ performed_via_github_app: null });
  expect((await say(" ")).at("errors.0.message")).toBe("Body cannot be blank");
});
