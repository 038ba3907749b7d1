import { afterEach, describe, expect, it } from "@jest/globals";
import { withoutBranch } from "../support/api.ts";
import type { Clone } from "../support/git.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import { protect, reportStatus } from "../support/stories/repairing.ts";
import { settled } from "../support/database/database-content.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

/** A card in progress with one commit of ada's on its branch and a draft pull request. */
async function cardWithWork(
  board: TestBoard,
  file = "hello.txt",
  text = "hello\n",
): Promise<{ number: number; clone: Clone; branchName: string; sha: string }> {
  const { number } = await board.api.card({ title: "Say hello" });
  await board.api.move(number, board.stages["In progress"]);
  const branchName = await branchOf(board, number);
  const clone = await board.clone();
  await clone.checkout(branchName);
  const sha = await clone.commit("Say hello", { [file]: text });
  await clone.push();
  await board.api.cardWhen(number, (card) => card.repositories[0]?.prState === "draft");
  return { number, clone, branchName, sha };
}

describe("a card in one repository", () => {
  // Contract: Cards: A new card without `statusId` is a draft without Git
  it("starts as a draft without Git", async () => {
    const board = await world.board();
    await settled(world);
    world.forge.requests.reset();
    const card = await board.api.card({ title: "Say hello" });
    expect(card).toMatchObject({ number: 1, statusId: board.stages.Backlog, position: 0, blocked: null });
    expect(card.repositories).toEqual([withoutBranch(`${board.owner}/web`, world.forge.cloneUrl)]);
    expect(world.forge.requests.all).toEqual([]);
    expect((await board.api.get("/v1/backlog")).body).toMatchObject([{ number: 1 }]);
  });

  it("gets a branch when it enters a stage that requires one", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const moved = await board.api.move(number, board.stages["In progress"]);
    expect(moved.status).toBe(200);
    expect(moved.body).toEqual({
      task: { number, statusId: board.stages["In progress"], blocked: null },
      promoted: [],
    });
    const clone = await board.clone();
    expect(await clone.git("rev-parse", `origin/card/${number}-say-hello`)).toBe(
      await clone.git("rev-parse", "origin/main"),
    );
    await clone.remove();
  });

  // Contract: Cards: A link has repository, branch, pull request, its state and checks state
  it("gets a draft pull request after the first push, which is recorded with its author", async () => {
    const board = await world.board();
    const { number, clone, branchName, sha } = await cardWithWork(board);
    const pulls = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls`);
    expect(pulls.body).toMatchObject([{ draft: true, title: "Say hello", head: { ref: branchName } }]);
    const pushed = await board.api.eventWhen(number, ({ kind }) => kind === "pushed");
    expect(pushed).toMatchObject({
      actor: { login: `ada-${board.owner.slice(4)}`, user: { kind: "human" } },
      repositoryFullName: `${board.owner}/web`,
      data: { branchName, after: sha, forced: false, commits: [{ sha, title: "Say hello" }] },
    });
    await clone.remove();
  });

  // Contract: Moves: A move does what the stage's rule requires
  // Contract: Moves: `promoted` lists the repositories this call merged
  // Contract: Timeline and comments: The timeline lists events and comments, oldest first, in the order recorded
  // Contract: Timeline and comments: A new branch is recorded as `branch_created`
  it("is marked ready and merged, with a timeline in order", async () => {
    const board = await world.board();
    const { number, clone, branchName, sha } = await cardWithWork(board);
    expect((await board.api.move(number, board.stages["In review"])).status).toBe(200);
    expect((await board.api.readCard(number)).repositories[0]?.prState).toBe("open");
    const merged = await board.api.move(number, board.stages.Done);
    expect(merged.status).toBe(200);
    expect(merged.body).toEqual({
      task: { number, statusId: board.stages.Done, blocked: null },
      promoted: [{ fullName: `${board.owner}/web`, targetBranch: "main", prNumber: 1 }],
    });
    await clone.checkout("main");
    expect(await clone.git("log", "-1", "--format=%P")).toContain(sha);
    expect(await clone.git("show", "HEAD:hello.txt")).toBe("hello");
    const card = await board.api.readCard(number);
    expect(card).toMatchObject({ statusId: board.stages.Done, blocked: null });
    expect(card.repositories).toMatchObject([{ branchName, prNumber: 1, prState: "merged" }]);
    await settled(world);
    const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
    expect(kinds).toEqual([
      "created",
      "branch_created",
      "status_changed",
      "pushed",
      "pull_request_opened",
      "pull_request_ready",
      "status_changed",
      "pull_request_merged",
      "status_changed",
    ]);
    const events = await board.api.timeline(number);
    const ours = events.filter(({ kind }) => kind !== "pushed");
    for (const { actor } of ours) expect(actor).toMatchObject({ login: null, user: { kind: "machine" } });
    await clone.remove();
  });

  it("can skip stages", async () => {
    const board = await world.board();
    const { number, clone } = await cardWithWork(board);
    const merged = await board.api.move(number, board.stages.Done);
    expect(merged.body.promoted).toHaveLength(1);
    await clone.remove();
  });

  // Contract: Moves: A move that merges nothing succeeds with an empty `promoted`
  it("moves without Git if it has no repository", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ repositoryIds: [] });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [] } });
  });

  it("moves back without undoing any Git", async () => {
    const board = await world.board();
    const { number, clone, branchName } = await cardWithWork(board);
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
    expect((await board.api.readCard(number)).repositories).toMatchObject([{ branchName, prState: "draft" }]);
    await clone.remove();
  });

  // Fault: D7 The branch name is taken => the next name is used
  it("gets the next branch name if a foreign branch has the first one", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    await world.forge.commit(
      `${board.owner}/web`,
      `card/${number}-say-hello`,
      { "theirs.txt": "theirs\n" },
      { from: "main" },
    );
    await board.api.move(number, board.stages["In progress"]);
    expect((await board.api.readCard(number)).repositories).toMatchObject([
      { branchName: `card/${number}-say-hello-2` },
    ]);
  });
});

describe("a refused move", () => {
  // Contract: Moves: A refused move is 409 with GitHub's message; the card stays with `blocked` set
  it("for conflicts leaves the card in its stage with the reason, and the trunk unchanged", async () => {
    const board = await world.board();
    const { number, clone } = await cardWithWork(board, "app.txt", "mine\n");
    await board.api.move(number, board.stages["In review"]);
    const trunk = await world.forge.commit(`${board.owner}/web`, "main", {
      "app.txt": "theirs\n",
      "README.md": "# Theirs\n",
    });
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      error: "Conflict",
      statusCode: 409,
      promoted: [],
      blocked: { reason: "conflicts", repository: `${board.owner}/web`, statusId: board.stages.Done },
    });
    expect(refused.body.message).toBe(refused.body.blocked?.message);
    expect(refused.body.blocked?.reasons).toMatchObject([{ details: { prNumber: 1, files: ["app.txt"] } }]);
    const card = await board.api.readCard(number);
    expect(card.statusId).toBe(board.stages["In review"]);
    expect(card.blocked).toEqual(refused.body.blocked);
    await clone.checkout("main");
    expect(await clone.git("rev-parse", "HEAD")).toBe(trunk);
    await clone.remove();
  });

  it("for conflicts has no file names if GitHub cannot list them", async () => {
    const board = await world.board();
    const { number, clone } = await cardWithWork(board, "app.txt", "mine\n");
    await world.forge.commit(`${board.owner}/web`, "main", { "app.txt": "theirs\n" });
    world.forge.control.faults.add({
      match: { path: "/repositories/*/compare/*" },
      fault: { kind: "response", status: 503 },
    });
    const refused = await board.api.move(number, board.stages.Done);
    world.forge.control.reset();
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "conflicts" } } });
    expect(refused.body.blocked?.reasons[0]?.details).toEqual({ prNumber: 1 });
    await clone.remove();
  });

  // Contract: Moves: `blocked` returns to `null` when the card can move
  it("for conflicts is unblocked automatically by a push that resolves them", async () => {
    const board = await world.board();
    const { number, clone, branchName } = await cardWithWork(board, "app.txt", "mine\n");
    await world.forge.commit(`${board.owner}/web`, "main", { "app.txt": "theirs\n" });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    await clone.git("fetch", "-q", "origin");
    await clone.git("checkout", "-q", branchName);
    await clone.git("merge", "-q", "-X", "ours", "origin/main", "-m", "Take main in");
    await clone.push();
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    await clone.remove();
  });

  it.each([
    ["failure", "checks_failing"],
    ["pending", "checks_pending"],
  ])("for a commit status `%s` is unblocked when the status is `success`", async (state, reason) => {
    const board = await world.board();
    const { number, clone, sha } = await cardWithWork(board);
    const report = (now: string) => reportStatus(board, sha, now);
    await report(state);
    await board.api.cardWhen(number, (card) => card.repositories[0]?.checksState !== null);
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason } } });
    expect(refused.body.message).toContain("ci");
    const other = state === "failure" ? "pending" : "failure";
    await report(other);
    await board.api.cardWhen(number, ({ blocked }) => blocked?.reason !== reason);
    expect((await board.api.readCard(number)).blocked).toMatchObject({ repository: `${board.owner}/web` });
    await report("success");
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    await clone.remove();
  });

  // Contract: Moves: A refused move is 409 with GitHub's message; the card stays with `blocked` set
  it("for a branch without commits has the reason `nothing_to_merge`", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "nothing_to_merge" } } });
    expect((await board.api.readCard(number)).statusId).toBe(board.stages["In progress"]);
  });

  // Contract: Moves: A refused move is 409 with GitHub's message; the card stays with `blocked` set
  // Fault: C6
  it("for a missing review names what is missing", async () => {
    const board = await world.board();
    const { number, clone } = await cardWithWork(board);
    const reviews = { required_approving_review_count: 1 };
    const protectedBy = await protect(board, { required_pull_request_reviews: reviews });
    expect(protectedBy.status).toBe(200);
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused.status).toBe(409);
    expect(refused.body.blocked?.reason).toBe("review_required");
    expect(refused.body.message).toBe("Pull request #1 needs an approving review. Ask for one.");
    const approved = await board.person("grace", "POST", `/repos/${board.owner}/web/pulls/1/reviews`, {
      event: "APPROVE",
    });
    expect(approved.status).toBe(200);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    await clone.remove();
  });

  it("is recorded in the timeline", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In review"]);
    const refused = (await board.api.timeline(number)).at(-1);
    expect(refused).toMatchObject({
      kind: "promotion_refused",
      data: { reason: "nothing_to_merge", statusId: board.stages["In review"] },
    });
  });

  it("into the stage of a new card leaves the card in the backlog", async () => {
    const board = await world.board();
    const created = await board.api.post("/v1/cards", { title: "x", statusId: board.stages["In review"] });
    expect(created).toMatchObject({
      status: 201,
      body: { statusId: board.stages.Backlog, blocked: { reason: "nothing_to_merge" } },
    });
  });
});

describe("what people do on GitHub", () => {
  // Contract: Timeline and comments: An event from GitHub has the user's `login`
  it("is recorded with their login", async () => {
    const board = await world.board();
    const { number, clone } = await cardWithWork(board);
    const pull = `/repos/${board.owner}/web/pulls/1`;
    await board.person("grace", "PATCH", pull, { state: "closed" });
    await board.api.cardWhen(number, (card) => card.repositories[0]?.prState === "closed");
    const closedMove = await board.api.move(number, board.stages.Done);
    expect(closedMove).toMatchObject({ status: 409, body: { blocked: { reason: "pull_request_closed" } } });
    await board.person("grace", "PATCH", pull, { state: "open" });
    await board.api.cardWhen(
      number,
      (card) => card.repositories[0]?.prState === "draft" && card.blocked === null,
    );
    await board.api.move(number, board.stages["In review"]);
    const merged = await board.person("grace", "PUT", `${pull}/merge`, {});
    expect(merged.status).toBe(200);
    await board.api.cardWhen(number, (card) => card.repositories[0]?.prState === "merged");
    const theirs = (await board.api.timeline(number)).filter(({ actor }) => actor.login?.startsWith("grace"));
    expect(theirs.map(({ kind }) => kind)).toEqual([
      "pull_request_closed",
      "pull_request_reopened",
      "pull_request_merged",
    ]);
    expect((await board.api.readCard(number)).statusId).toBe(board.stages["In review"]);
    await clone.remove();
  });

  it("is not repeated: a move of a card whose pull request was merged there merges nothing", async () => {
    const board = await world.board();
    const { number, clone } = await cardWithWork(board);
    await board.api.move(number, board.stages["In review"]);
    await board.person("grace", "PUT", `/repos/${board.owner}/web/pulls/1/merge`, {});
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [] } });
    await clone.remove();
  });

  // Fault: D5 The branch is force-pushed => recorded as forced; merged only after inspection
  // Fault: D6
  it("includes forced pushes and deleted branches", async () => {
    const board = await world.board();
    const { number, clone, branchName } = await cardWithWork(board);
    await clone.git("commit", "-q", "--amend", "-m", "Say hello better");
    await clone.push("--force", "origin", "HEAD");
    await board.api.eventWhen(number, ({ kind, data }) => kind === "pushed" && data["forced"] === true);
    await clone.push("origin", "--delete", branchName);
    await board.api.eventWhen(number, ({ kind }) => kind === "branch_deleted");
    const refused = await board.api.move(number, board.stages["In review"]);
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "branch_missing" } } });
    await clone.remove();
  });
});
