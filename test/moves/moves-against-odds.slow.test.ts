import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { resumeOrphanedMoves } from "../../src/actions/moves/resume-move.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

/** A card with one commit of ada's in each of these repositories, its draft pull requests open. */
async function cardIn(
  board: TestBoard,
  repositories: readonly string[],
  file = "hello.txt",
): Promise<number> {
  const repositoryIds = repositories.map((name) => board.repositories[name]);
  const { number } = await board.api.card({ title: "Say hello", repositoryIds });
  await board.api.move(number, board.stages["In progress"]);
  const card = await board.api.readCard(number);
  for (const { fullName, branchName } of card.repositories) {
    const clone = await board.clone("ada", fullName.split("/")[1]);
    await clone.checkout(branchName ?? "");
    await clone.commit("Say hello", { [file]: `hello from ${number}\n` });
    await clone.push();
    await clone.remove();
  }
  await board.api.cardWhen(number, (now) => now.repositories.every(({ prState }) => prState === "draft"));
  return number;
}

const mergesOn = async (board: TestBoard, repository: string): Promise<string[]> => {
  const clone = await board.clone("ada", repository);
  const merges = await clone.git("log", "--merges", "--format=%s", "origin/main");
  await clone.remove();
  return merges.split("\n").filter(Boolean);
};

describe("a forge that cannot be reached", () => {
  // Fault: C1
  it("is no refusal: 503, nothing blocked, and the same call goes on where it was", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const key = `outage-${randomUUID()}`;
    world.forge.control.faults.add({ fault: { kind: "answer", status: 503, effect: "before" } });
    const refused = await board.api.move(number, board.stages["In progress"], 0, { key });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await board.api.readCard(number)).toMatchObject({ blocked: null, statusId: board.stages.Backlog });
    world.forge.control.reset();
    const moved = await board.api.move(number, board.stages["In progress"], 0, { key });
    expect(moved.status).toBe(200);
    expect(moved.headers.get("idempotent-replay")).toBeNull();
  }, 60_000);

  it("answers an error after it did what was asked: it is found, and not done again", async () => {
    const board = await world.board();
    const number = await cardIn(board, ["web"]);
    for (const path of ["/repositories/*/pulls/*/merge-async", "/graphql"]) {
      const method = path === "/graphql" ? "POST" : "PUT";
      const match = path === "/graphql" ? { operation: "markPullRequestReadyForReview" } : { method, path };
      world.forge.control.faults.add({
        match,
        fault: { kind: "answer", status: 502, effect: "after" },
        times: 1,
      });
    }
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [{ prNumber: 1 }] } });
    expect(await mergesOn(board, "web")).toHaveLength(1);
  }, 60_000);
});

describe("a move that was finished without its caller", () => {
  it("answers him, when he comes back, with what it came to", async () => {
    const board = await world.board();
    const number = await cardIn(board, ["web"]);
    const key = `left-${randomUUID()}`;
    const path = "/repositories/*/pulls/*/merge-async";
    const { faults } = world.forge.control;
    faults.add({
      match: { method: "PUT", path },
      fault: { kind: "answer", status: 502, effect: "after" },
      times: 1,
    });
    // From the merge on nothing is answered; what comes before it is.
    const stop = world.forge.control.observe({
      onCall: (call) => {
        if (call.path.endsWith("/merge-async"))
          faults.add({ fault: { kind: "answer", status: 503, effect: "before" } });
      },
    });
    expect((await board.api.move(number, board.stages.Done, 0, { key })).status).toBe(503);
    stop();
    world.forge.control.reset();
    const updated_at = board.db.raw("now() - interval '1 minute'");
    await board.db("operations").where({ workspace_id: board.workspaceId }).update({ updated_at });
    await resumeOrphanedMoves(world.service.deps);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    const answered = await board.api.move(number, board.stages.Done, 0, { key });
    expect(answered).toMatchObject({
      status: 200,
      body: { promoted: [{ fullName: `${board.owner}/web`, targetBranch: "main", prNumber: 1 }] },
    });
    // Another request of the same is one of its own.
    expect((await board.api.move(number, board.stages.Done)).body).toMatchObject({ promoted: [] });
  }, 60_000);
});

describe("callers that race", () => {
  // Fault: E1
  it("ten calls move one card: one does it, the others are told to come again or find it done", async () => {
    const board = await world.board();
    const number = await cardIn(board, ["web"]);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => board.api.move(number, board.stages.Done)),
    );
    const promoting = answers.filter(({ status, body }) => status === 200 && body.promoted.length > 0);
    expect(promoting).toHaveLength(1);
    for (const { status, headers } of answers.filter((answer) => answer.status !== 200)) {
      expect(status).toBe(409);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(await mergesOn(board, "web")).toHaveLength(1);
    const events = await board.api.timeline(number);
    expect(events.filter(({ kind }) => kind === "pull_request_merged")).toHaveLength(1);
  });

  // Fault: E3
  it("fifty calls with one key do it once", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const key = `racing-${randomUUID()}`;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => board.api.move(number, board.stages["In progress"], 0, { key })),
    );
    const others = answers.map(({ status }) => status).filter((status) => status !== 200);
    expect(others.length).toBeLessThan(50);
    expect(new Set([...others, 409])).toEqual(new Set([409]));
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1);
    const events = await board.api.timeline(number);
    expect(events.filter(({ kind }) => kind === "branch_created")).toHaveLength(1);
  });

  // Fault: E2
  it("a move into another stage meanwhile is busy, and a delete too", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    world.forge.control.faults.add({ fault: { kind: "delay", ms: 1_000 }, match: { path: "/graphql" } });
    const first = board.api.move(number, board.stages["In progress"]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const second = await board.api.move(number, board.stages["To do"]);
    expect(second.status).toBe(409);
    expect(second.headers.get("retry-after")).not.toBeNull();
    expect((await board.api.delete(`/v1/cards/${number}`)).status).toBe(409);
    expect((await first).status).toBe(200);
  });
});

describe("a card in several repositories", () => {
  it("is asked about in one call, and merged in all of them", async () => {
    const board = await world.board({ repositories: ["web", "api", "docs"] });
    const number = await cardIn(board, ["web", "api", "docs"]);
    await board.api.move(number, board.stages["In review"]);
    await world.forge.settle();
    world.forge.requests.reset();
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved.body.promoted.map(({ fullName }) => fullName).toSorted()).toEqual(
      ["api", "docs", "web"].map((name) => `${board.owner}/${name}`),
    );
    expect(world.forge.requests.count(({ operation }) => operation === "Inspect")).toBe(1);
  });

  it("is merged in none when one of them is in the way", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const number = await cardIn(board, ["web", "api"], "app.txt");
    await world.forge.commit(`${board.owner}/web`, "main", { "app.txt": "theirs\n" });
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({
      status: 409,
      body: { promoted: [], blocked: { reason: "conflicts", repository: `${board.owner}/web` } },
    });
    expect(await mergesOn(board, "api")).toEqual([]);
  });

  it("keeps what merged when a later one refuses after all, and the next try does only what is left", async () => {
    const board = await world.board({ repositories: ["api", "web"] });
    const number = await cardIn(board, ["api", "web"]);
    await board.api.move(number, board.stages["In review"]);
    const words = "At least 1 approving review is required by reviewers with write access.";
    const web = world.forge.repository(`${board.owner}/web`).id;
    world.forge.control.faults.add({
      match: { method: "PUT", path: `/repositories/${web}/pulls/*/merge-async` },
      fault: { kind: "answer", status: 404, body: { message: "Not Found" } },
    });
    world.forge.control.faults.add({
      match: { method: "PUT", path: `/repositories/${web}/pulls/*/merge` },
      fault: { kind: "answer", status: 405, body: { message: words } },
      times: 1,
    });
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        message: words,
        promoted: [{ fullName: `${board.owner}/api` }],
        blocked: { reason: "review_required", repository: `${board.owner}/web` },
      },
    });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [{ fullName: `${board.owner}/web` }] } });
    expect(moved.body.promoted).toHaveLength(1);
    expect(await mergesOn(board, "api")).toHaveLength(1);
    expect(await mergesOn(board, "web")).toHaveLength(1);
  });
});

describe("what a move costs at the forge", () => {
  it("stays within what was planned for each step of a card's life", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const calls = async (work: () => Promise<unknown>): Promise<string[]> => {
      await world.forge.settle();
      world.forge.requests.reset();
      await work();
      await world.forge.settle();
      return (
        world.forge.requests.all
          // What landed on a trunk is read for the trunk's sake, once a push tells of it.
          .filter(({ by, operation }) => by?.includes("[bot]") && operation !== "LandedHistory")
          .map(({ route }) => route ?? "")
      );
    };
    const cut = await calls(() => board.api.move(number, board.stages["In progress"]));
    expect(cut).toEqual(["POST /graphql", "POST /repos/{owner}/{repo}/git/refs"]);
    const clone = await board.clone();
    await clone.checkout((await board.api.readCard(number)).repositories[0]?.branchName ?? "");
    await clone.commit("Say hello", { "hello.txt": "hello\n" });
    const opened = await calls(async () => {
      await clone.push();
      await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
    });
    await clone.remove();
    expect(opened).toEqual(["POST /repos/{owner}/{repo}/pulls"]);
    const merged = await calls(() => board.api.move(number, board.stages.Done));
    const withoutPolls = (routes: readonly string[]): string[] =>
      routes.filter((route) => !(route.startsWith("GET ") && route.includes("merge-async")));
    const order = "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge-async";
    expect(withoutPolls(merged)).toEqual(["POST /graphql", "POST /graphql", order]);
    const ready = await cardIn(board, ["web"], "ready.txt");
    await board.api.move(ready, board.stages["In review"]);
    const mergedReady = await calls(() => board.api.move(ready, board.stages.Done));
    expect(withoutPolls(mergedReady)).toEqual([
      "POST /graphql",
      "GET /repos/{owner}/{repo}/pulls/{pull_number}",
      order,
    ]);
  });
});
