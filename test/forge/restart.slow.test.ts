import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { needCommit } from "../../sandbox/forge/git/commits.ts";
import { commitTree } from "../../sandbox/forge/git/merge.ts";
import { updateRef } from "../../sandbox/forge/git/refs.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { makeRepository, type ForgeRepository } from "./forge-repository.ts";

let dataDir: string;
let world: TestForge;
let repository: ForgeRepository;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "forge-restart-"));
  world = await startTestForge({ dataDir });
  repository = await makeRepository(world);
});
afterEach(async () => {
  await world.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Kills the forge and starts another with the same folder. */
async function restart(): Promise<TestForge> {
  world.forge.context.webhooks.close();
  await world.stop();
  world = await startTestForge({ dataDir });
  return world;
}

const path = (rest: string) => `${repository.path}${rest}`;

// Fault: A12
test("the App, tokens, pull requests and the log are kept, and ids continue", async () => {
  await repository.commit("work", { "a.txt": "x\n" });
  const number = await repository.open("work", { draft: true });
  await world.api("POST", path(`/issues/${number}/comments`), { body: "Hello" });
  await world.forge.waitUntilIdle();
  const before = { app: world.forge.app, users: world.forge.users, received: world.received.length };
  const pull = (await world.api("GET", path(`/pulls/${number}`))).body as { id: number };
  await restart();
  expect([world.forge.app, world.forge.users]).toEqual([before.app, before.users]);
  expect((await world.api("GET", path(`/pulls/${number}`))).body).toMatchObject({
    id: pull.id,
    draft: true,
    comments: 1,
  });
  const log = (await world.api("GET", "/app/hook/deliveries?per_page=100", undefined, world.appJwt())).body;
  expect(log).toHaveLength(before.received);
  const next = await world.api("POST", path(`/issues/${number}/comments`), { body: "Again" });
  expect(next.number("id")).toBeGreaterThan(pull.id);
});

test("an incomplete last line is ignored", async () => {
  appendFileSync(join(dataDir, "forge.jsonl"), '{"table":"repositories","row":{"id":99999,"na');
  await restart();
  expect((await world.api("GET", repository.path)).status).toBe(200);
});

test("a merge whose branch moved before the kill is complete", async () => {
  await repository.commit("work", { "a.txt": "x\n" });
  const number = await repository.open("work");
  const { state, git } = world.forge.context;
  const row = world.forge.repository(repository.fullName);
  const [pull] = state.pullRequests.inGroup(row.id);
  const baseSha = await repository.tip("main");
  const by = { name: "Ada", email: "ada@example.com", date: "2026-01-02T03:04:05Z" };
  const { tree } = await needCommit(git.repository(row.id), pull!.headSha);
  const squash = { tree, parents: [baseSha], message: "Squashed", author: by, committer: by };
  const made = await commitTree(git.repository(row.id), squash);
  state.pullRequests.update(pull!.id, { merging: { sha: made, byId: pull!.userId, baseSha } });
  await updateRef(git.repository(row.id), "refs/heads/main", made, baseSha);
  await restart();
  const { body } = await world.api("GET", path(`/pulls/${number}`));
  expect(body).toMatchObject({ merged: true, merge_commit_sha: made, merged_by: { login: "ada" } });
});

test("a merge whose branch did not move is not complete", async () => {
  await repository.commit("work", { "a.txt": "x\n" });
  const number = await repository.open("work");
  const { state } = world.forge.context;
  const [pull] = state.pullRequests.inGroup(world.forge.repository(repository.fullName).id);
  state.pullRequests.update(pull!.id, {
    merging: { sha: pull!.headSha, byId: pull!.userId, baseSha: pull!.baseSha },
  });
  await restart();
  expect((await world.api("GET", path(`/pulls/${number}`))).body).toMatchObject({ state: "open" });
  expect((await world.api("PUT", path(`/pulls/${number}/merge`), {})).status).toBe(200);
});

test("a push that git accepted before the kill updates its pull request", async () => {
  await repository.commit("work", { "a.txt": "x\n" });
  const number = await repository.open("work");
  const sha = await repository.commit("work", { "b.txt": "x\n" });
  await restart();
  expect((await world.api("GET", path(`/pulls/${number}`))).at("head.sha")).toBe(sha);
});

test("a pending asynchronous merge continues", async () => {
  await repository.commit("work", { "a.txt": "x\n" });
  const number = await repository.open("work");
  world.forge.settings.asyncMergeDelayMs = 60_000;
  const started = await world.api("PUT", path(`/pulls/${number}/merge-async`), {});
  await restart();
  await world.forge.waitUntilIdle();
  const { body } = await world.api("GET", path(`/pulls/${number}/merge-async/${started.at("details.uuid")}`));
  expect(body).toMatchObject({ status: "merged" });
});

test("unsent webhooks are sent", async () => {
  world.forge.context.webhooks.close();
  const sha = await repository.tip("main");
  await world.api("POST", path("/git/refs"), { ref: "refs/heads/late", sha });
  await restart();
  expect(await world.events()).toEqual(["create", "push"]);
});

test("a lock file of a killed git blocks nothing", async () => {
  const { id } = world.forge.repository(repository.fullName);
  const { path: folder } = world.forge.context.git.repository(id);
  const sha = await repository.tip("main");
  writeFileSync(join(folder, "refs", "heads", "main.lock"), "");
  const content = Buffer.from("x").toString("base64");
  const edit = () => world.api("PUT", path("/contents/new.txt"), { message: "New", content });
  expect((await edit()).status).toBe(409);
  await restart();
  expect((await edit()).status).toBe(201);
  expect(await world.api("GET", path("/git/ref/heads/main")).then((each) => each.at("object.sha"))).not.toBe(
    sha,
  );
});

test("snapshots for stale reads of a killed forge are deleted", async () => {
  const folder = join(dataDir, "snapshots");
  world.forge.control.setStaleReads({ seconds: 60 });
  await world.api("POST", path("/git/refs"), { ref: "refs/heads/new", sha: await repository.tip("main") });
  const [view = ""] = readdirSync(folder);
  expect(view).not.toBe("");
  await world.stop();
  // Simulates a kill: the snapshot was not removed.
  mkdirSync(join(folder, view, "1.git"), { recursive: true });
  world = await startTestForge({ dataDir });
  expect(existsSync(folder)).toBe(false);
});
