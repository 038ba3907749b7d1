import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "@jest/globals";
import { resumeOrphans } from "../support/resume-orphans.ts";
import { syncInstallation } from "../../src/actions/installations/sync-installation.ts";
import { acceptPermissions } from "../../sandbox/forge/actions/change-installation.ts";
import { insertOperation } from "../../src/store/ops/operations.ts";
import { findPlace, placeCard } from "../../src/store/cards/placing.ts";
import { recordEvents } from "../../src/store/events/timeline.ts";
import { eventually } from "../support/api.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { settled } from "../support/database/database-content.ts";
import { putFlow, readFlow, withStage } from "../support/flows.ts";
import { readInbox } from "../support/inbox.ts";
import { brokenIn, brokenWhen, onForge } from "../support/forge/installations.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { openCard } from "../support/stories/open-card.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { branchHas } from "../support/stories/two-targets.ts";
import { branchOf, cardWithCommit, loginOf, pushTo } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { transaction } from "../../src/store/db/transaction.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const web = (board: TestBoard): string => `${board.owner}/web`;
const pullOf = (board: TestBoard, number = 1) => {
  const { state } = world.forge.context;
  const pull = state.pullRequests
    .inGroup(world.forge.repository(web(board)).id)
    .find((each) => each.number === number);
  if (!pull) throw new Error(`no pull request ${number}`);
  return pull;
};

/** Runs `act` after GitHub's response to the move's inspection, before the move's next call. */
function afterInspection(act: () => void): void {
  const stop = world.forge.control.observe({
    onResponse: (call) => {
      if (!call.body.includes("query Inspect")) return;
      stop();
      act();
    },
  });
}

const callsTo = (wanted: RegExp): number => {
  const { routes } = world.forge.control.calls.read();
  return Object.entries(routes)
    .filter(([route]) => wanted.test(route))
    .reduce((sum, [, count]) => sum + count, 0);
};

const mergeRequests = (): number => callsTo(/^PUT .*\/merge(-async)?$/);

/** Lets a person change something on GitHub between the inspection and the next REST call. */
function betweenInspectionAndMerge(act: () => Promise<unknown>): { readonly done: () => Promise<unknown> } {
  const call = holdCalls(world, { method: "GET", path: "/repositories/*/pulls/*" }, "before");
  let acting: Promise<unknown> = Promise.reject(new Error("the move did not inspect anything"));
  acting.catch(() => undefined);
  afterInspection(() => {
    acting = act().finally(call.resume);
  });
  return { done: () => acting };
}

/** Closes or reopens the card's pull request, as a person. */
const setState = (board: TestBoard, state: "open" | "closed") =>
  board.person("ada", "PATCH", `/repos/${web(board)}/pulls/1`, { state });

/** Repeats the move to Done until it succeeds. */
const moveToDone = (board: TestBoard, number: number) =>
  eventually(
    () => board.api.move(number, board.stages.Done),
    ({ status }) => status === 200,
  );

describe("a move after its repository changed", () => {
  // Fault: D4
  it.each([
    [
      "does not allow the flow's merge method",
      { allow_merge_commit: false },
      "protected",
      "Merge commits are not allowed on this repository.",
    ],
    ["is archived", { archived: true }, "not_permitted", "Repository was archived so is read-only."],
  ])(
    "is refused with GitHub's message after at most one merge request if the repository %s",
    async (_, change, reason, message) => {
      const board = await world.board();
      const { number } = await openCard(world, board);
      await board.person("ada", "PATCH", `/repos/${web(board)}`, change);
      await world.forge.waitUntilIdle();
      world.forge.control.calls.reset();
      const refused = await board.api.move(number, board.stages.Done);
      expect(refused).toMatchObject({
        status: 409,
        body: { message, promoted: [], blocked: { reason, message } },
      });
      expect(mergeRequests()).toBeLessThanOrEqual(1);
      const card = await board.api.readCard(number);
      expect(card).toMatchObject({ statusId: board.stages["In review"], blocked: { message } });
      await board.person("ada", "PATCH", `/repos/${web(board)}`, {
        archived: false,
        allow_merge_commit: true,
      });
      expect(await moveToDone(board, number)).toMatchObject({ body: { task: { blocked: null } } });
    },
  );

  // Fault: C21 A repository lacks drafts or asynchronous merges => detected once, then avoided
  it("opens pull requests as ready where drafts are not available, until somebody opens a draft there", async () => {
    const board = await world.board();
    const { id } = world.forge.repository(web(board));
    world.forge.context.state.repositories.update(id, { allowDrafts: false });
    for (const [calls, prState] of [
      [2, "open"],
      [1, "open"],
      [1, "draft"],
    ] as const) {
      if (prState === "draft") {
        world.forge.context.state.repositories.update(id, { allowDrafts: true });
        await pushTo(board, "theirs", "theirs.txt");
        const draft = { title: "Theirs", head: "theirs", base: "main", draft: true };
        await board.person("ada", "POST", `/repos/${web(board)}/pulls`, draft);
        await allProcessed(world);
      }
      const { number } = await board.api.card();
      await board.api.move(number, board.stages["In progress"]);
      const branchName = await branchOf(board, number);
      world.forge.control.calls.reset();
      await pushTo(board, branchName, `${number}.txt`);
      await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === prState);
      const { routes } = world.forge.control.calls.read();
      expect(routes["POST /repos/{owner}/{repo}/pulls"]).toBe(calls);
    }
  });

  // Fault: D9 The target branch is missing or renamed => refused until it exists, or followed
  it("is refused if the flow's target branch is missing, and succeeds after it is created", async () => {
    const board = await world.board();
    const flow = await readFlow(board);
    const changed = withStage(flow, "Done", { rule: { type: "merge", into: "develop" } });
    expect((await putFlow(board, changed)).status).toBe(200);
    const { number } = await board.api.card();
    const key = `no-base-${randomUUID()}`;
    const refused = await board.api.move(number, board.stages["In progress"], 0, { key });
    expect(refused).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("develop"), blocked: { reason: "branch_missing" } },
    });
    const base = await world.forge.commit(web(board), "develop", { "develop.txt": "develop\n" });
    expect((await board.api.move(number, board.stages["In progress"], 0, { key })).status).toBe(200);
    const clone = await board.clone();
    const branch = await branchOf(board, number);
    expect(await clone.git("rev-parse", `origin/${branch}`)).toBe(base);
    await clone.remove();
  });

  it("is refused in an empty repository until the first commit", async () => {
    const board = await world.board();
    const repository = await world.forge.createRepository(board.owner, "new", { files: null });
    const { db } = world.service.deps;
    await db("repositories")
      .where({ id: board.repositories["web"] })
      .update({ forge_id: repository.id, full_name: `${board.owner}/new` });
    const { number } = await board.api.card();
    const key = `empty-${randomUUID()}`;
    const refused = await board.api.move(number, board.stages["In progress"], 0, { key });
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "branch_missing" } } });
    await world.forge.commit(`${board.owner}/new`, "main", { "README.md": "# New\n" });
    expect((await board.api.move(number, board.stages["In progress"], 0, { key })).status).toBe(200);
  });
});

describe("a change between the inspection and the merge", () => {
  // Fault: D12 Protection or a merge queue is enabled => refused, or queued
  it("a branch protection is enabled: the move is refused with GitHub's message", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.webUi.setMergeQueue(web(board), "main", false);
    const [protection] = world.forge.context.state.protections.inGroup(world.forge.repository(web(board)).id);
    afterInspection(() =>
      world.forge.context.state.protections.update(protection?.id ?? 0, {
        requiredReviews: { count: 1 } as never,
      }),
    );
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        message: "At least 1 approving review is required by reviewers with write access.",
        blocked: { reason: "review_required" },
      },
    });
  });

  // Fault: D12
  it("a merge queue is enabled: the card waits in it", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    afterInspection(() => world.forge.webUi.setMergeQueue(web(board), "main", true));
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    await world.forge.webUi.mergeQueued(web(board), 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  });

  // Fault: D11
  it("the pull request is closed: the move is refused and nothing is merged", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const closing = betweenInspectionAndMerge(() => setState(board, "closed"));
    const refused = await board.api.move(number, board.stages.Done);
    expect(await closing.done()).toMatchObject({ status: 200 });
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "pull_request_closed" } } });
    expect(await branchHas(board, "main", "hello.txt")).toBe(false);
  });

  it("the pull request is closed and reopened: Trunkline merges it once", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const reopening = betweenInspectionAndMerge(async () => {
      await setState(board, "closed");
      return setState(board, "open");
    });
    const moved = await board.api.move(number, board.stages.Done);
    expect(await reopening.done()).toMatchObject({ status: 200 });
    expect(moved).toMatchObject({ status: 200, body: { promoted: [{ prNumber: 1 }] } });
    await settled(world);
    const kinds = (await kindsOf(board, number)).filter((kind) => /closed|reopened|merged/.test(kind));
    expect(kinds.toSorted()).toEqual(["pull_request_closed", "pull_request_merged", "pull_request_reopened"]);
    expect((await board.api.readCard(number)).repositories).toMatchObject([{ prState: "merged" }]);
    expect((await readInbox(board.api, board.projectId)).map(({ kind }) => kind)).toEqual([]);
  });

  it.each(["before", "after"] as const)(
    "a closed pull request is reopened, with the webhook %s the refusal: the card is unblocked automatically",
    async (received) => {
      const board = await world.board();
      const { number } = await openCard(world, board);
      await setState(board, "closed");
      await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "closed");
      const { webhooks } = world.forge.control;
      const look = holdCalls(world, { operation: "Inspect" });
      const moving = board.api.move(number, board.stages.Done);
      await look.arrived();
      if (received === "after") webhooks.add({ fault: { kind: "hold" } });
      expect(await setState(board, "open")).toMatchObject({ status: 200 });
      await settled(world);
      look.resume();
      expect(await moving).toMatchObject({
        status: 409,
        body: { blocked: { reason: "pull_request_closed" } },
      });
      expect(await branchHas(board, "main", "hello.txt")).toBe(false);
      webhooks.clear();
      await webhooks.release();
      await board.api.cardWhen(number, ({ blocked }) => blocked === null);
      expect((await board.api.move(number, board.stages.Done)).body.promoted).toMatchObject([
        { prNumber: 1 },
      ]);
      expect((await readInbox(board.api, board.projectId)).map(({ kind }) => kind)).toEqual([]);
    },
  );

  // Fault: D11 Someone merges or closes the pull request => the card advances, or is refused
  it("the pull request is merged by a person: the card advances and nothing is merged twice", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const merge = betweenInspectionAndMerge(() =>
      board.person("ada", "PUT", `/repos/${web(board)}/pulls/1/merge`, {}),
    );
    const moved = await board.api.move(number, board.stages.Done);
    expect(await merge.done()).toMatchObject({ status: 200 });
    expect(moved).toMatchObject({
      status: 200,
      body: { task: { statusId: board.stages.Done }, promoted: [] },
    });
    await world.forge.waitUntilIdle();
    const merges = await eventually(
      async () => (await board.api.timeline(number)).filter(({ kind }) => kind === "pull_request_merged"),
      ({ length }) => length > 0,
    );
    expect(merges).toMatchObject([{ actor: { login: loginOf(board, "ada") } }]);
    expect((await readInbox(board.api, board.projectId)).map(({ kind }) => kind)).toEqual([]);
    const clone = await board.clone();
    expect((await clone.git("log", "--merges", "--format=%s", "origin/main")).split("\n")).toHaveLength(1);
    await clone.remove();
  });

  // Fault: D11
  it("the pull request is merged by a person while GitHub carries out Trunkline's merge: the merge is theirs", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.settings.asyncMergeDelayMs = 1_000;
    const poll = holdCalls(world, { method: "GET", path: "/repositories/*/pulls/*/merge-async/*" });
    const moving = board.api.move(number, board.stages.Done);
    await poll.arrived();
    const merged = await board.person("ada", "PUT", `/repos/${web(board)}/pulls/1/merge`, {});
    world.forge.settings.asyncMergeDelayMs = 0;
    poll.resume();
    expect(merged).toMatchObject({ status: 200 });
    expect(await moving).toMatchObject({
      status: 200,
      body: { task: { statusId: board.stages.Done }, promoted: [], alreadyMerged: [{ prNumber: 1 }] },
    });
    await settled(world);
    const merges = (await board.api.timeline(number)).filter(({ kind }) => kind === "pull_request_merged");
    expect(merges).toMatchObject([{ actor: { login: loginOf(board, "ada") } }]);
  });

  // Fault: D11
  it("the pull request is merged by a person after GitHub accepted Trunkline's merge: the merge is theirs", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.settings.asyncMergeDelayMs = 60_000;
    const message = "You have exceeded a secondary rate limit.";
    world.forge.control.faults.add({
      match: { method: "GET", path: "/repositories/*/pulls/*/merge-async/*" },
      fault: { kind: "response", status: 403, body: { message }, headers: { "retry-after": "1" } },
      times: 1,
    });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({ status: 202, body: { queued: [{ prNumber: 1 }] } });
    const merged = await board.person("ada", "PUT", `/repos/${web(board)}/pulls/1/merge`, {});
    world.forge.settings.asyncMergeDelayMs = 0;
    expect(merged).toMatchObject({ status: 200 });
    const { actor } = await board.api.eventWhen(number, ({ kind }) => kind === "pull_request_merged");
    expect(actor).toMatchObject({ login: loginOf(board, "ada") });
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  });

  // Fault: A3
  it("GitHub does not show who merged: the retry finds the merge and makes no other", async () => {
    const board = await world.board();
    const { number } = await cardWithCommit(board, "In progress");
    const match = { method: "GET", path: "/repositories/*/pulls/*" };
    world.forge.control.faults.add({ match, fault: { kind: "response", status: 502 } });
    const before = mergeRequests();
    const key = randomUUID();
    const toDone = () => board.api.move(number, board.stages.Done, 0, { key });
    expect((await toDone()).status).toBe(503);
    world.forge.control.faults.clear();
    const moved = await eventually(toDone, ({ status }) => status === 200);
    expect(moved.body.promoted).toMatchObject([{ prNumber: 1 }]);
    expect(mergeRequests() - before).toBe(1);
    const merges = (await board.api.timeline(number)).filter(({ kind }) => kind === "pull_request_merged");
    expect(merges).toMatchObject([{ actor: { login: null } }]);
  });

  // Fault: D9
  it("the default branch is renamed: the work is merged into it under its new name", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const rename = betweenInspectionAndMerge(() =>
      board.person("ada", "POST", `/repos/${web(board)}/branches/main/rename`, { new_name: "trunk" }),
    );
    const moved = await board.api.move(number, board.stages.Done);
    expect(await rename.done()).toMatchObject({ status: 201 });
    expect(moved).toMatchObject({
      status: 200,
      body: { promoted: [{ targetBranch: "trunk", prNumber: 1 }] },
    });
    expect(await branchHas(board, "trunk", "hello.txt")).toBe(true);
  });

  // Fault: C7
  // Fault: D5
  it("a commit is pushed: the move is refused and the new head is not merged", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const forced = await world.forge.commit(web(board), "unrelated", { "unseen.txt": "unseen\n" });
    afterInspection(() => {
      world.forge.context.state.pullRequests.update(pullOf(board).id, { headSha: forced });
    });
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "head_moved" } } });
    expect(await branchHas(board, "main", "hello.txt")).toBe(false);
    expect(await branchHas(board, "main", "unseen.txt")).toBe(false);
  });

  // Fault: D10 The pull request's base changes => merged where the flow says
  it("the base of the pull request changes: the work is merged into the flow's target only", async () => {
    const board = await world.board();
    await world.forge.commit(web(board), "develop", { "develop.txt": "develop\n" });
    const { number } = await openCard(world, board);
    const change = betweenInspectionAndMerge(() =>
      board.person("ada", "PATCH", `/repos/${web(board)}/pulls/1`, { base: "develop" }),
    );
    const moved = await board.api.move(number, board.stages.Done);
    expect(await change.done()).toMatchObject({ status: 200 });
    expect(moved).toMatchObject({
      status: 200,
      body: { promoted: [{ fullName: web(board), targetBranch: "main", prNumber: 2 }] },
    });
    expect(await branchHas(board, "main", "hello.txt")).toBe(true);
    expect(await branchHas(board, "develop", "hello.txt")).toBe(false);
  });

  it("the base of a draft changes: the change is found when the draft is marked ready", async () => {
    const board = await world.board();
    await world.forge.commit(web(board), "develop", { "develop.txt": "develop\n" });
    const { number } = await openCard(world, board);
    world.forge.context.state.pullRequests.update(pullOf(board).id, { draft: true });
    afterInspection(() => {
      world.forge.context.state.pullRequests.update(pullOf(board).id, { baseRef: "develop" });
    });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved.body.promoted).toMatchObject([{ targetBranch: "main", prNumber: 2 }]);
    expect(await branchHas(board, "develop", "hello.txt")).toBe(false);
  });

  // Fault: D1 The repository or account is renamed => Trunkline follows its id
  // Fault: D2 Another repository takes the old name => nothing is written to it
  it("the repository is renamed and another gets its name: nothing is written to the other one", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await board.person("ada", "PATCH", `/repos/${web(board)}`, { name: "site" });
    await world.forge.createRepository(board.owner, "web", { files: { "README.md": "# Another\n" } });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved.status).toBe(200);
    const site = await board.clone("ada", "site");
    expect(await site.git("show", "origin/main:hello.txt")).toBe("hello");
    await site.remove();
    const other = await board.clone("ada", "web");
    expect(await other.git("log", "--format=%s", "--all")).toBe("Initial commit");
    await other.remove();
    expect(moved.body.promoted[0]?.prNumber).toBe(1);
  });
});

describe("a move during a change of access", () => {
  it("replaces a revoked token and succeeds", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { state } = world.forge.context;
    const owner = state.accounts.inGroup(board.owner.toLowerCase())[0]?.id ?? 0;
    const installation = state.installations.inGroup(owner)[0]?.id ?? 0;
    afterInspection(() => world.forge.control.revokeTokens(installation));
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    expect((await kindsOf(board, number)).filter((kind) => kind === "pull_request_merged")).toHaveLength(1);
  });

  // Fault: C12
  it("returns 503 if GitHub accepts no token, after at most two new tokens, and adds an inbox item", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { installation } = onForge(world, board);
    const match = { installationId: installation.id };
    const refuse = () => world.forge.control.faults.add({ match, fault: { kind: "response", status: 401 } });
    await world.forge.waitUntilIdle();
    world.forge.control.calls.reset();
    afterInspection(refuse);
    const key = `never-taken-${randomUUID()}`;
    const unfinished = await board.api.move(number, board.stages.Done, 0, { key });
    expect(unfinished.status).toBe(503);
    expect(Number(unfinished.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await brokenIn(board)).toHaveLength(1);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    for (let tries = 0; tries < 5; tries++) await board.api.move(number, board.stages.Done);
    expect([1, 2]).toContain(callsTo(/access_tokens$/));
    world.forge.control.faults.clear();
    await syncInstallation(world.service.deps, installation.id);
    await brokenWhen(board, 0);
    expect((await moveToDone(board, number)).body.promoted).toHaveLength(1);
  });

  // Fault: C13 The installation is suspended or loses permissions => refused until restored
  it("is refused with an inbox item after permissions are revoked, until they are accepted again", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { context, by, installation } = onForge(world, board);
    const fewer = { ...installation.permissions, contents: "read" as const };
    afterInspection(() => void context.state.installations.update(installation.id, { permissions: fewer }));
    const key = `fewer-${randomUUID()}`;
    const refused = await board.api.move(number, board.stages.Done, 0, { key });
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "not_permitted" } } });
    const [item] = await brokenWhen(board, 1);
    expect(item?.detail).toContain("contents: write");
    acceptPermissions(
      context,
      context.state.installations.need(installation.id),
      by,
      installation.permissions,
    );
    await brokenWhen(board, 0);
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await board.api.move(number, board.stages.Done, 0, { key })).status).toBe(200);
  });

  it("is refused while the installation is suspended", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    afterInspection(() => world.forge.webUi.setSuspended(board.owner, true, `ada-${board.owner.slice(4)}`));
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({
      status: 409,
      body: { blocked: { reason: "not_permitted", message: "This installation has been suspended" } },
    });
    world.forge.webUi.setSuspended(board.owner, false, `ada-${board.owner.slice(4)}`);
    await moveToDone(board, number);
  });
});

it("a resumed move ends without a refusal if another call moved the card into the stage before", async () => {
  const board = await world.board();
  const { "In progress": from, "In review": to } = board.stages;
  const { id, number } = await board.api.card({ statusId: from });
  const { deps } = world.service;
  const created = await deps
    .db<{ id: string; created_by: string }>("cards")
    .where({ id })
    .first("created_by");
  const actorId = created?.created_by ?? "";
  await transaction(deps.db, async (trx) => {
    const place = await findPlace(trx, id, to, 0);
    await placeCard(trx, id, to, place);
    const actor = { userId: actorId, login: null };
    const data = { from, to, above: place.above };
    await recordEvents(trx, [{ cardId: id, kind: "status_changed", actor, data }]);
    const started = {
      workspaceId: board.workspaceId,
      kind: "move",
      cardId: id,
      stageId: to,
      actorId,
    } as const;
    await insertOperation(trx, {
      ...started,
      isHuman: false,
      id: randomUUID(),
      holder: randomUUID(),
      requestId: randomUUID(),
      input: { index: 0, headShas: null, whenReady: null },
    });
  });
  await resumeOrphans(deps, board.workspaceId);
  const running = () => deps.db("operations").where({ card_id: id, state: "running" });
  await eventually(running, ({ length }) => length === 0);
  expect(await board.api.readCard(number)).toMatchObject({ statusId: to, blocked: null });
  expect(await kindsOf(board, number)).not.toContain("promotion_refused");
});
