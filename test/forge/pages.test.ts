import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { makeRepository, type ForgeRepository } from "./forge-repository.ts";

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

describe("a merge queue", () => {
  let number: number;
  beforeEach(async () => {
    await repository.commit("work", { "app.txt": "two\n" });
    number = await repository.open("work");
    world.forge.webUi.setMergeQueue(repository.fullName, "main", true);
  });
  const start = (body: object = {}) => repository.call("PUT", `/pulls/${number}/merge-async`, body);

  test("merges what cannot be merged directly", async () => {
    const direct = await repository.call("PUT", `/pulls/${number}/merge`, {});
    expect([direct.status, direct.at("message")]).toEqual([
      405,
      "Repository rule violations found\n\nChanges must be made through the merge queue\n\n",
    ]);
    expect((await repository.call("GET", "/rules/branches/main")).body).toMatchObject([
      { type: "merge_queue" },
    ]);
    const started = await start();
    await world.forge.waitUntilIdle();
    const read = await repository.call("GET", `/pulls/${number}/merge-async/${started.at("details.uuid")}`);
    expect(read.at("status")).toBe("enqueued");
    expect((await repository.pull(number)).at("state")).toBe("open");
    expect((await start()).body).toMatchObject({ status: "enqueued" });
    await world.forge.webUi.mergeQueued(repository.fullName, number);
    expect((await repository.pull(number)).body).toMatchObject({ merged: true });
    const actions = (await world.events()).filter((each) => each.startsWith("pull_request."));
    expect(actions).toEqual(["pull_request.opened", "pull_request.enqueued", "pull_request.closed"]);
  });

  test("removes failing entries with a reason", async () => {
    await start();
    await world.forge.waitUntilIdle();
    await world.forge.webUi.dequeue(repository.fullName, number, "CI_FAILURE");
    await world.forge.waitUntilIdle();
    expect(world.received.at(-1)?.payload).toMatchObject({
      action: "dequeued",
      reason: "CI_FAILURE",
      number,
    });
    expect((await repository.pull(number)).at("state")).toBe("open");
  });

  test("removes an entry with a conflict", async () => {
    await start();
    await world.forge.waitUntilIdle();
    await repository.commit("main", { "app.txt": "three\n" });
    await world.forge.webUi.mergeQueued(repository.fullName, number);
    await world.forge.waitUntilIdle();
    expect(world.received.at(-1)?.payload).toMatchObject({ action: "dequeued", reason: "MERGE_CONFLICT" });
  });
});

describe("an account's owner", () => {
  test("installs the App on some repositories and adds more", async () => {
    world.forge.createOrganization("globex");
    await world.forge.createRepository("globex", "one");
    await world.forge.createRepository("globex", "two");
    world.forge.webUi.installApp("globex", ["one"], "grace");
    world.forge.webUi.setGranted("globex", ["globex/two"], true);
    world.forge.webUi.setGranted("globex", ["globex/one"], false);
    expect(await world.events()).toEqual([
      "installation.created",
      "installation_repositories.added",
      "installation_repositories.removed",
    ]);
    expect(world.received.map((each) => each.payload)).toMatchObject([
      {
        installation: { account: { login: "globex" } },
        repositories: [{ name: "one" }],
        sender: { login: "grace" },
      },
      { repositories_added: [{ full_name: "globex/two" }] },
      { repositories_removed: [{ full_name: "globex/one" }] },
    ]);
    const token = world.installationToken("globex");
    expect((await world.api("GET", "/repos/globex/one", undefined, token)).status).toBe(404);
    expect((await world.api("GET", "/repos/globex/two", undefined, token)).status).toBe(200);
  });

  test("revokes permissions and removes the App", async () => {
    world.forge.createOrganization("initech");
    await world.forge.createRepository("initech", "tps");
    world.forge.webUi.installApp("initech", "all");
    const token = world.installationToken("initech");
    world.forge.webUi.acceptPermissions("initech", { metadata: "read" });
    const refused = await world.api("GET", "/repos/initech/tps/pulls", undefined, token);
    expect(refused.at("message")).toBe("Resource not accessible by integration");
    world.forge.webUi.uninstallApp("initech");
    expect((await world.api("GET", "/repos/initech/tps", undefined, token)).status).toBe(401);
    expect((await world.events()).slice(-2)).toEqual([
      "installation.new_permissions_accepted",
      "installation.deleted",
    ]);
  });
});

test("a renamed branch stays the base of pull requests into it, and closes those from it", async () => {
  await repository.commit("old", { "old.txt": "x\n" });
  const from = await repository.open("old");
  await repository.commit("upon", { "upon.txt": "x\n" });
  const into = await repository.open("upon", { base: "old" });
  await repository.call("POST", "/branches/old/rename", { new_name: "new" });
  expect((await repository.pull(from)).body).toMatchObject({ state: "closed", merged: false });
  expect((await repository.pull(into)).body).toMatchObject({ state: "open", base: { ref: "new" } });
  await repository.call("POST", "/branches/main/rename", { new_name: "trunk" });
  expect((await repository.call("GET", "")).at("default_branch")).toBe("trunk");
});
