/** Changes without a webhook and without an entry in GitHub's log are found by reconciliation. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { reconcile } from "../../src/actions/reconcile/reconcile.ts";
import { allProcessed, cardWithStatuses, deliver } from "../support/forge/deliveries.ts";
import { commentsOf, editComment, forgeComments, writeComment } from "../support/stories/comments.ts";
import { openCard } from "../support/stories/open-card.ts";
import {
  compareWithForge,
  setPullState,
  loseWebhooks,
  merge,
  pullOf,
  push,
  releaseWebhooks,
  commentOnPull,
  eventsOf,
} from "../support/stories/repairing.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld({}, (tested) => expectAllConsistent(tested, impossible));
afterEach(() => releaseWebhooks(world));
/** Boards of tests whose forge shows impossible states. */
const impossible: TestBoard[] = [];

// Fault: B3
describe("a change without a webhook", () => {
  it("is found: a merge by somebody else, with GitHub's time and their name", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    loseWebhooks(world);
    const pull = await pullOf(board, number);
    expect((await merge(board, pull)).status).toBe(200);
    const shown = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls/${pull}`);
    expect((await board.api.patch(`/v1/cards/${number}`, { title: "Renamed meanwhile" })).status).toBe(200);
    await compareWithForge(world);
    expect((await board.api.readCard(number)).repositories[0]).toMatchObject({ prState: "merged" });
    const [item, ...more] = await eventsOf(board, number, "pull_request_merged");
    expect(more).toEqual([]);
    expect(item?.actor.login).toBe(`grace-${board.owner.slice(4)}`);
    expect(Date.parse(item?.at ?? "")).toBe(Date.parse(String(shown.body["merged_at"])));
    // The timeline is in the order of recording, whatever the times are.
    const [renamed, found] = (await board.api.timeline(number)).slice(-2);
    expect([renamed?.kind, found?.kind]).toEqual(["updated", "pull_request_merged"]);
    expect(Date.parse(found?.at ?? "")).toBeLessThan(Date.parse(renamed?.at ?? ""));
    const inbox = await board.api.get<{ kind: string }[]>("/v1/inbox");
    expect(inbox.body.map(({ kind }) => kind)).toContain("pr_merged_outside");
  });

  it("is found: closed, reopened, pushed, checked, converted to draft", async () => {
    const board = await world.board();
    const { number, branchName } = await openCard(world, board);
    const pull = await pullOf(board, number);
    loseWebhooks(world);
    await setPullState(board, pull, "closed");
    await compareWithForge(world);
    expect((await board.api.readCard(number)).repositories[0]?.prState).toBe("closed");
    await setPullState(board, pull, "open");
    await compareWithForge(world);
    expect((await board.api.readCard(number)).repositories[0]?.prState).toBe("open");
    const sha = await push(board, branchName);
    await board.person("ada", "POST", `/repos/${board.owner}/web/statuses/${sha}`, {
      state: "failure",
      context: "ci",
    });
    await compareWithForge(world);
    expect((await board.api.readCard(number)).repositories[0]?.checksState).toBe("failing");
    const kinds = ["pull_request_closed", "pull_request_reopened", "pushed", "checks_changed"];
    await compareWithForge(world);
    const items = await eventsOf(board, number, ...kinds);
    expect(items.map(({ kind }) => kind)).toEqual([
      "pull_request_closed",
      "pull_request_reopened",
      "pushed",
      "checks_changed",
    ]);
    expect(items[2]?.data).toMatchObject({ branchName, after: sha });
    const [health] = (await board.api.get<{ health: Record<string, unknown> }[]>("/v1/repositories")).body;
    expect(health?.health["lastReconciledAt"]).toEqual(expect.any(String));
  });

  it("is found: a first push, after which the draft pull request is opened", async () => {
    const board = await world.board();
    const { number, branchName } = await cardWithStatuses(world, board);
    loseWebhooks(world);
    await push(board, branchName);
    await compareWithForge(world);
    const card = await board.api.cardWhen(number, ({ repositories: [link] }) => link?.prNumber !== null);
    expect(card.repositories[0]?.prState).toBe("draft");
  });

  it("is found: a deleted branch", async () => {
    const board = await world.board();
    const { number, branchName, fullName } = await cardWithStatuses(world, board);
    loseWebhooks(world);
    await board.person("ada", "DELETE", `/repos/${fullName}/git/refs/heads/${branchName}`);
    await compareWithForge(world);
    await compareWithForge(world);
    expect(await eventsOf(board, number, "branch_deleted")).toHaveLength(1);
  });

  it("is found: a pull request that a person opened", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    const branchName = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
    await allProcessed(world);
    loseWebhooks(world);
    await push(board, branchName);
    const opened = await board.person("grace", "POST", `/repos/${board.owner}/web/pulls`, {
      title: "Mine",
      head: branchName,
      base: "main",
    });
    expect(opened.status).toBe(201);
    await compareWithForge(world);
    const [item, ...more] = await eventsOf(board, number, "pull_request_opened");
    expect(more).toEqual([]);
    expect(item?.actor.login).toBe(`grace-${board.owner.slice(4)}`);
  });
});

describe("a deletion of a comment without a webhook", () => {
  const remove = (board: TestBoard, id: number) =>
    board.person("ada", "DELETE", `/repos/${board.owner}/web/issues/comments/${id}`);
  const bodies = async (board: TestBoard, number: number) =>
    (await commentsOf(board.api, number)).map(({ body }) => body);

  it("is found, also for the mirror of a comment in Trunkline", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const pull = await pullOf(board, number);
    const first = await commentOnPull(board, pull, "Is this right?");
    await commentOnPull(board, pull, "It stays");
    const written = (await writeComment(board.api, number, "Written here")).body;
    expect(written.mirroredTo).toBe(1);
    await allProcessed(world);
    loseWebhooks(world);
    await remove(board, first);
    const mirror = (await forgeComments(board, "web", pull)).find(({ body }) =>
      body.includes("Written here"),
    );
    await remove(board, mirror?.id ?? 0);
    await compareWithForge(world);
    expect((await bodies(board, number)).toSorted()).toEqual(["It stays", "Written here"]);
    expect(await world.service.deps.db("awaited_reactions").where({ subject: String(first) })).toEqual([]);
    const edited = await editComment(board.api, number, written.id, "Written here, and changed");
    expect(edited.body.mirroredTo).toBe(0);
    expect((await forgeComments(board, "web", pull)).map(({ body }) => body)).toEqual(["It stays"]);
  });

  it("is found among many, as far as GitHub lists them", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const pull = await pullOf(board, number);
    const said = [];
    for (let count = 0; count < 23; count++) said.push(await commentOnPull(board, pull, `Comment ${count}`));
    await allProcessed(world);
    loseWebhooks(world);
    await remove(board, said[1] ?? 0);
    await remove(board, said[20] ?? 0);
    await compareWithForge(world);
    const shown = await bodies(board, number);
    expect(shown).toHaveLength(22);
    expect(shown).not.toContain("Comment 20");
  });

  it("is not assumed for a comment that was written during the read", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const pull = await pullOf(board, number);
    const { deps } = world.service;
    const inspect: typeof deps.forge.inspect = async (...args) => {
      const responses = await deps.forge.inspect(...args);
      if (!args[0].some(({ repository }) => repository.fullName === `${board.owner}/web`)) return responses;
      await commentOnPull(board, pull, "Just now");
      await allProcessed(world);
      // Simulates a response after a minute.
      const at = new Date(Date.now() - 60_000);
      await deps.db("timeline_items").where({ body: "Just now" }).update({ at, event_at: at });
      return responses;
    };
    await reconcile({ ...deps, forge: { ...deps.forge, inspect } }, { minAgeMs: 0, pauseMs: 0 });
    expect(await bodies(board, number)).toEqual(["Just now"]);
  });
});

// Fault: B2
it("a merge is final, even if GitHub shows the pull request open again", async () => {
  const board = await world.board();
  impossible.push(board);
  const { number } = await openCard(world, board);
  const pull = await pullOf(board, number);
  await merge(board, pull);
  await board.api.cardWhen(number, ({ repositories: [link] }) => link?.prState === "merged");
  const { pullRequests } = world.forge.context.state;
  const row = pullRequests
    .inGroup(world.forge.repository(`${board.owner}/web`).id)
    .find(({ number: theirs }) => theirs === pull);
  pullRequests.update(row!.id, { state: "open", mergedAt: null });
  await compareWithForge(world);
  expect((await board.api.readCard(number)).repositories[0]?.prState).toBe("merged");
});

// Fault: B9 A payload contradicts itself => the pull request is read first
it("a payload that is both closed and open does not change the pull request", async () => {
  const board = await world.board();
  const { number, branchName, heads } = await openCard(world, board);
  const pull = await pullOf(board, number);
  const { id } = world.forge.repository(`${board.owner}/web`);
  await deliver(world, "pull_request", {
    action: "closed",
    pull_request: {
      number: pull,
      node_id: "PR_x",
      state: "open",
      merged: null,
      updated_at: "2030-01-01T00:00:00Z",
      head: { ref: branchName, sha: heads["web"], repo: { id } },
      base: { ref: "main" },
    },
    repository: { id, full_name: `${board.owner}/web`, default_branch: "main" },
  });
  await allProcessed(world);
  expect((await board.api.readCard(number)).repositories[0]?.prState).toBe("open");
  expect(await eventsOf(board, number, "pull_request_closed")).toEqual([]);
});

it("the events of one second start with the opening, and a read decides about the others", async () => {
  const board = await world.board();
  const { number, branchName, fullName, repositoryId } = await cardWithStatuses(world, board);
  loseWebhooks(world);
  const sha = await push(board, branchName);
  const opened = await board.person("grace", "POST", `/repos/${fullName}/pulls`, {
    title: "Mine",
    head: branchName,
    base: "main",
  });
  const { created_at: at, node_id, number: pull } = opened.body as Record<string, string | number>;
  const sendEvent = async (action: string, draft: boolean): Promise<number> => {
    world.forge.requests.reset();
    await deliver(world, "pull_request", {
      action,
      pull_request: {
        number: pull,
        node_id,
        draft,
        state: "open",
        merged: false,
        created_at: at,
        updated_at: at,
        head: { ref: branchName, sha, repo: { id: repositoryId } },
        base: { ref: "main" },
      },
      repository: { id: repositoryId, full_name: fullName, default_branch: "main" },
    });
    await allProcessed(world);
    return world.forge.requests.count(({ route }) => route === "POST /graphql");
  };
  const state = async () => (await board.api.readCard(number)).repositories[0]?.prState;
  const results = [];
  for (const [action, draft] of [
    ["opened", true],
    ["ready_for_review", false],
    ["opened", true],
  ] as const) {
    results.push([await sendEvent(action, draft), await state()]);
  }
  expect(results).toEqual([
    [0, "draft"],
    [0, "open"],
    [0, "open"],
  ]);
  // Either could be the last event; GitHub's state decides.
  expect([await sendEvent("converted_to_draft", true), await state()]).toEqual([1, "open"]);
  await compareWithForge(world);
});

it("one call reads all cards of an account, except recently changed ones", async () => {
  const board = await world.board();
  for (let count = 0; count < 3; count++) {
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
  }
  await allProcessed(world);
  await world.service.deps.db("organizations").whereNot({ slug: board.owner }).update({ suspended: true });
  world.forge.requests.reset();
  await reconcile(world.service.deps, { minAgeMs: 60_000, pauseMs: 0 });
  expect(world.forge.requests.all).toEqual([]);
  await reconcile(world.service.deps, { minAgeMs: 0, pauseMs: 0 });
  expect(world.forge.requests.all.map(({ route }) => route)).toEqual(["POST /graphql"]);
});
