import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { makeRepository, type ForgeRepository } from "./forge-repository.ts";

let world: TestForge;
let repository: ForgeRepository;
let sha: string;

beforeAll(async () => {
  world = await startTestForge();
});
afterAll(() => world.stop());
beforeEach(async () => {
  repository = await makeRepository(world);
  sha = await repository.commit("work", { "app.txt": "two\n" });
  await world.forgetReceived();
});

const report = (body: object) => repository.call("POST", `/statuses/${sha}`, body);
const combined = () => repository.call("GET", `/commits/${sha}/status`);

test("a commit without reports is pending and has no statuses", async () => {
  expect((await combined()).body).toMatchObject({ state: "pending", total_count: 0 });
});

test("the newest status of each context counts; all are listed, newest first", async () => {
  await report({ state: "failure", context: "ci" });
  expect((await combined()).at("state")).toBe("failure");
  await report({
    state: "success",
    context: "ci",
    description: "Fine",
    target_url: "https://ci.example.com/1",
  });
  expect((await combined()).body).toMatchObject({
    state: "success",
    statuses: [{ context: "ci", description: "Fine" }],
  });
  await report({ state: "pending", context: "lint" });
  expect((await combined()).at("state")).toBe("pending");
  const all = (await repository.call("GET", `/commits/${sha}/statuses`)).body as { state: string }[];
  expect(all.map((each) => each.state)).toEqual(["pending", "success", "failure"]);
});

test("a status has the branches of its commit", async () => {
  await report({ state: "success", context: "ci" });
  await world.forge.waitUntilIdle();
  expect(world.received.map((each) => each.payload)).toMatchObject([
    {
      sha,
      state: "success",
      context: "ci",
      name: repository.fullName,
      branches: [{ name: "work", commit: { sha } }],
    },
  ]);
});

test("a status of an unknown commit or with an unknown state is refused", async () => {
  expect((await report({ state: "splendid" })).status).toBe(422);
  const unknown = await repository.call("POST", `/statuses/${"1".repeat(40)}`, { state: "success" });
  expect(unknown.at("message")).toBe(`No commit found for SHA: ${"1".repeat(40)}`);
});

test("a check run changes from started to completed, and so does its suite", async () => {
  const number = await repository.open("work");
  await world.forgetReceived();
  const run = await repository.call("POST", "/check-runs", {
    name: "unit",
    head_sha: sha,
    status: "in_progress",
  });
  const other = await repository.call("POST", "/check-runs", { name: "lint", head_sha: sha });
  await repository.call("PATCH", `/check-runs/${other.number("id")}`, { conclusion: "success" });
  const done = await repository.call("PATCH", `/check-runs/${run.number("id")}`, {
    status: "completed",
    conclusion: "failure",
    output: {
      title: "1 failed",
      summary: "See below",
      annotations: [
        {
          path: "app.txt",
          start_line: 1,
          end_line: 1,
          annotation_level: "failure",
          message: "Wrong",
          title: "Not two",
        },
      ],
    },
  });
  expect(done.body).toMatchObject({
    status: "completed",
    conclusion: "failure",
    output: { title: "1 failed", annotations_count: 1 },
    pull_requests: [{ number }],
  });
  const { body } = await repository.call("GET", `/check-runs/${run.number("id")}/annotations`);
  expect(body).toMatchObject([
    { path: "app.txt", start_line: 1, annotation_level: "failure", message: "Wrong" },
  ]);
  const events = (await world.events()).filter((each) => each.startsWith("check"));
  expect(events).toEqual([
    "check_run.created",
    "check_run.created",
    "check_run.completed",
    "check_run.completed",
    "check_suite.completed",
  ]);
  expect(world.received.at(-1)?.payload).toMatchObject({
    check_suite: { head_sha: sha, conclusion: "failure" },
  });
  expect((await repository.pull(number)).at("mergeable_state")).toBe("unstable");
});

const runs = async (query: string) =>
  (await repository.call("GET", `/commits/work/check-runs${query}`)).body as { total_count: number };

test("the newest run of a name counts, unless all are requested", async () => {
  for (const conclusion of ["failure", "success"])
    await repository.call("POST", "/check-runs", { name: "unit", head_sha: sha, conclusion });
  expect(await runs("")).toMatchObject({ total_count: 1, check_runs: [{ conclusion: "success" }] });
  expect(await runs("?filter=all")).toMatchObject({ total_count: 2 });
});

test("a completed run needs a conclusion", async () => {
  const response = await repository.call("POST", "/check-runs", {
    name: "unit",
    head_sha: sha,
    status: "completed",
  });
  expect(response.status).toBe(422);
});
