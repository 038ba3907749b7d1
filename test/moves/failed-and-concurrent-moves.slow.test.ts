import { afterEach, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { holdCalls } from "../support/forge/held-calls.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { resumeMovesAfter } from "../support/stories/repairing.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import { settled } from "../support/database/database-content.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

/** A card with one commit and a draft pull request in each of these repositories. */
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

describe("a move while GitHub fails", () => {
  // Fault: C1
  it("returns 503 without blocking the card, and the repeated call continues it", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const key = `outage-${randomUUID()}`;
    world.forge.control.faults.add({ fault: { kind: "response", status: 503, effect: "before" } });
    const refused = await board.api.move(number, board.stages["In progress"], 0, { key });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await board.api.readCard(number)).toMatchObject({ blocked: null, statusId: board.stages.Backlog });
    world.forge.control.reset();
    const moved = await board.api.move(number, board.stages["In progress"], 0, { key });
    expect(moved.status).toBe(200);
    expect(moved.headers.get("idempotent-replay")).toBeNull();
  });

  it("finds what GitHub did before an error response and does not repeat it", async () => {
    const board = await world.board();
    const number = await cardIn(board, ["web"]);
    for (const path of ["/repositories/*/pulls/*/merge-async", "/graphql"]) {
      const method = path === "/graphql" ? "POST" : "PUT";
      const match = path === "/graphql" ? { operation: "markPullRequestReadyForReview" } : { method, path };
      world.forge.control.faults.add({
        match,
        fault: { kind: "response", status: 502, effect: "after" },
        times: 1,
      });
    }
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [{ prNumber: 1 }] } });
    expect(await mergesOn(board, "web")).toHaveLength(1);
  });
});

describe("a move that GitHub refuses with a GraphQL error", () => {
  const error = (type: string, message: string) => {
    const operation = "markPullRequestReadyForReview";
    const fault = { kind: "graphql-error", type, message, path: [operation] } as const;
    world.forge.control.faults.add({ match: { operation }, fault });
    world.forge.control.calls.reset();
  };
  const countCalls = () => world.forge.control.calls.read().operations["markPullRequestReadyForReview"];

  // Fault: C6
  it.each([
    ["UNAUTHORIZED-WRITE", "not_permitted"],
    ["BRANCH_PROTECTION_RULE_VIOLATION", "protected"],
    ["STALE_DATA", "head_moved"],
    ["SOME_TYPE_OF_THE_FUTURE", "unknown"],
  ])("is refused for %s after one call, in GitHub's words", async (type, reason) => {
    const board = await world.board();
    const number = await cardIn(board, ["web"]);
    error(type, `Words for ${type}`);
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({
      status: 409,
      body: { blocked: { reason, message: `Words for ${type}`, repository: `${board.owner}/web` } },
    });
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(countCalls()).toBe(1);
    world.forge.control.reset();
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });

  it.each(["INTERNAL", "SERVICE_UNAVAILABLE"])("returns 503 for %s", async (type) => {
    const board = await world.board();
    const number = await cardIn(board, ["web"]);
    error(type, "Something went wrong");
    const failed = await board.api.move(number, board.stages.Done);
    expect(failed.status).toBe(503);
    expect(countCalls()).toBeGreaterThan(1);
    world.forge.control.reset();
    await resumeMovesAfter(world, board, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  });
});

describe("a move that was resumed after its caller disconnected", () => {
  it("returns its result when the caller repeats the call", async () => {
    const board = await world.board();
    const number = await cardIn(board, ["web"]);
    const key = `left-${randomUUID()}`;
    const path = "/repositories/*/pulls/*/merge-async";
    const { faults } = world.forge.control;
    faults.add({
      match: { method: "PUT", path },
      fault: { kind: "response", status: 502, effect: "after" },
      times: 1,
    });
    // GitHub responds until the merge and to nothing after it.
    const stop = world.forge.control.observe({
      onCall: (call) => {
        if (call.path.endsWith("/merge-async"))
          faults.add({ fault: { kind: "response", status: 503, effect: "before" } });
      },
    });
    expect((await board.api.move(number, board.stages.Done, 0, { key })).status).toBe(503);
    stop();
    world.forge.control.reset();
    await resumeMovesAfter(world, board, 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    const answered = await board.api.move(number, board.stages.Done, 0, { key });
    expect(answered).toMatchObject({
      status: 200,
      body: { promoted: [{ fullName: `${board.owner}/web`, targetBranch: "main", prNumber: 1 }] },
    });
    // A call without that key is another request.
    expect((await board.api.move(number, board.stages.Done)).body).toMatchObject({ promoted: [] });
  });
});

describe("concurrent calls", () => {
  // Fault: E1
  it("ten moves of one card into one stage merge it once; the others get 409 with Retry-After or 200", async () => {
    const board = await world.board();
    const number = await cardIn(board, ["web"]);
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => board.api.move(number, board.stages.Done)),
    );
    const promoting = responses.filter(({ status, body }) => status === 200 && body.promoted.length > 0);
    expect(promoting).toHaveLength(1);
    for (const { status, headers } of responses.filter((response) => response.status !== 200)) {
      expect(status).toBe(409);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(await mergesOn(board, "web")).toHaveLength(1);
    const events = await board.api.timeline(number);
    expect(events.filter(({ kind }) => kind === "pull_request_merged")).toHaveLength(1);
  });

  // Fault: E3
  it("fifty moves with one key are executed once", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const key = `racing-${randomUUID()}`;
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => board.api.move(number, board.stages["In progress"], 0, { key })),
    );
    const others = responses.map(({ status }) => status).filter((status) => status !== 200);
    expect(others.length).toBeLessThan(50);
    expect(new Set([...others, 409])).toEqual(new Set([409]));
    expect(new Set(responses.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1);
    const events = await board.api.timeline(number);
    expect(events.filter(({ kind }) => kind === "branch_created")).toHaveLength(1);
  });

  // Fault: E2
  it("another move or a deletion during a move gets 409", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const call = holdCalls(world, { path: "/graphql" }, "before");
    const first = board.api.move(number, board.stages["In progress"]);
    await call.arrived();
    const second = await board.api.move(number, board.stages["To do"]);
    expect(second.status).toBe(409);
    expect(second.headers.get("retry-after")).not.toBeNull();
    expect((await board.api.delete(`/v1/cards/${number}`)).status).toBe(409);
    call.resume();
    expect((await first).status).toBe(200);
  });
});

describe("a merge in several repositories", () => {
  it("reads all of them in one call to GitHub", async () => {
    const board = await world.board({ repositories: ["web", "api", "docs"] });
    const number = await cardIn(board, ["web", "api", "docs"]);
    await board.api.move(number, board.stages["In review"]);
    await settled(world);
    world.forge.requests.reset();
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved.body.promoted.map(({ fullName }) => fullName).toSorted()).toEqual(
      ["api", "docs", "web"].map((name) => `${board.owner}/${name}`),
    );
    expect(world.forge.requests.count(({ operation }) => operation === "Inspect")).toBe(1);
  });

  it("merges in none of them when one has a blocker", async () => {
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

  it("keeps what it merged when a later repository refuses, and the next move merges only the rest", async () => {
    const board = await world.board({ repositories: ["api", "web"] });
    const number = await cardIn(board, ["api", "web"]);
    await board.api.move(number, board.stages["In review"]);
    const message = "At least 1 approving review is required by reviewers with write access.";
    const web = world.forge.repository(`${board.owner}/web`).id;
    world.forge.control.faults.add({
      match: { method: "PUT", path: `/repositories/${web}/pulls/*/merge-async` },
      fault: { kind: "response", status: 404, body: { message: "Not Found" } },
    });
    world.forge.control.faults.add({
      match: { method: "PUT", path: `/repositories/${web}/pulls/*/merge` },
      fault: { kind: "response", status: 405, body: { message } },
      times: 1,
    });
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        message,
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

describe("the calls to GitHub", () => {
  it("of each move in a card's life are the expected ones", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const calls = async (work: () => Promise<unknown>): Promise<string[]> => {
      await settled(world);
      world.forge.requests.reset();
      await work();
      await world.forge.waitUntilIdle();
      return (
        world.forge.requests.all
          // `LandedHistory` reads the landings for the trunk report after a push webhook.
          .filter(({ by, operation }) => by?.includes("[bot]") && operation !== "LandedHistory")
          .map(({ route }) => route ?? "")
      );
    };
    const created = await calls(() => board.api.move(number, board.stages["In progress"]));
    expect(created).toEqual(["POST /graphql", "POST /repos/{owner}/{repo}/git/refs"]);
    const clone = await board.clone();
    await clone.checkout(await branchOf(board, number));
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
    const mergeRoute = "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge-async";
    // Read before a merge for the target, and afterwards for who merged.
    const pullRoute = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
    // A draft is inspected, marked ready and inspected again.
    const inspections = ["POST /graphql", "POST /graphql", "POST /graphql"];
    expect(withoutPolls(merged)).toEqual([...inspections, mergeRoute, pullRoute]);
    const ready = await cardIn(board, ["web"], "ready.txt");
    await board.api.move(ready, board.stages["In review"]);
    const mergedReady = await calls(() => board.api.move(ready, board.stages.Done));
    expect(withoutPolls(mergedReady)).toEqual(["POST /graphql", pullRoute, mergeRoute, pullRoute]);
  });
});
