/** A card whose repository is unlinked and linked again gets its earlier branch back. */
import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "@jest/globals";
import type { Api } from "../support/api.ts";
import { settled } from "../support/database/database-content.ts";
import { itemWhen, readInbox } from "../support/inbox.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { headOf } from "../support/stories/merged-card.ts";
import { runDeferredJobs } from "../support/stories/deferred-jobs.ts";
import { untilRechecked } from "../support/stories/rechecked.ts";
import { setPullState, eventsOf } from "../support/stories/repairing.ts";
import { secondBoard } from "../support/stories/second-board.ts";
import { kindsOf, ofProject, putRepositories } from "../support/forge/repositories.ts";
import { branchesOf, branchHas, twoTargets } from "../support/stories/two-targets.ts";
import { deleteBranch, pushTo, cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const relink = (board: TestBoard, number: number, names: readonly string[], key?: string) =>
  board.api.patch(
    `/v1/cards/${number}`,
    { repositoryIds: names.map((name) => board.repositories[name]) },
    key === undefined ? {} : { key },
  );

/** Unlinks `web`, runs `whileUnlinked`, waits for its webhooks, and links `web` again. */
async function relinkAfter(
  board: TestBoard,
  number: number,
  whileUnlinked: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  await settled(world);
  expect((await relink(board, number, [])).status).toBe(200);
  await whileUnlinked();
  await settled(world);
  expect((await relink(board, number, ["web"])).status).toBe(200);
  await untilRechecked(world);
}

/** The card's link to its only repository. */
const linkOf = async (board: TestBoard, number: number) => (await board.api.readCard(number)).repositories[0];
const cardBranches = async (board: TestBoard): Promise<string[]> =>
  (await branchesOf(board)).filter((name) => name.startsWith("card/"));
/** Commits to the trunk, so that a new branch from it would differ from the earlier one. */
const advanceTrunk = (board: TestBoard, branch = "main") => pushTo(board, branch, `${randomUUID()}.txt`);

describe("a card that is linked to a repository again", () => {
  it.each(["In progress", "Backlog"] as const)(
    "has its earlier branch without commits again in %s",
    async (name) => {
      const board = await world.board();
      const { number } = await board.api.card({ title: "Say hello" });
      await board.api.move(number, board.stages["In progress"]);
      const branchName = `card/${number}-say-hello`;
      await board.api.move(number, board.stages[name]);
      await relinkAfter(board, number, () => advanceTrunk(board));
      expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: null });
      expect(await cardBranches(board)).toEqual([branchName]);
      const sha = await headOf(board, "web", branchName);
      expect(await eventsOf(board, number, "branch_adopted")).toMatchObject([
        { actor: { user: { kind: "machine" } }, data: { branchName, sha, prNumber: null } },
      ]);
      await board.api.move(number, board.stages["In progress"]);
      await pushTo(board, branchName, "hello.txt");
      await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
      expect((await board.api.move(number, board.stages.Done)).body.promoted).toHaveLength(1);
    },
  );

  it("has what was pushed while unlinked, with a draft pull request and without a branch suggestion", async () => {
    const board = await world.board();
    const { number, branchName } = await started(board);
    await relinkAfter(board, number, async () => {
      await pushTo(board, branchName, "hello.txt");
      await itemWhen(board.api, "branch_suggestion");
    });
    expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 1, prState: "draft" });
    expect(await readInbox(board.api)).toEqual([]);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toMatchObject([{ prNumber: 1 }]);
  });

  it("has its reopened pull request again, or the one that a person opened", async () => {
    const board = await world.board();
    const { number, branchName } = await cardWithCommit(board);
    await setPullState(board, 1, "closed");
    await relinkAfter(board, number, () => setPullState(board, 1, "open"));
    expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 1, prState: "open" });
    expect((await relink(board, number, [])).status).toBe(409);
    await setPullState(board, 1, "closed");
    await relinkAfter(board, number, () =>
      board.person("ada", "POST", `/repos/${board.owner}/web/pulls`, {
        title: "Again",
        head: branchName,
        base: "main",
      }),
    );
    expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 2, prState: "open" });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved.body.promoted).toMatchObject([{ prNumber: 2 }]);
  });

  it.each([
    ["keeps", false],
    ["deletes", true],
  ])(
    "merges its earlier branch into the later targets if the repository %s merged branches",
    async (_, isDeleting) => {
      const { board, staging } = await twoTargets(world);
      const change = { delete_branch_on_merge: isDeleting };
      await board.person("ada", "PATCH", `/repos/${board.owner}/web`, change);
      const { number, branchName, sha } = await cardWithCommit(board);
      expect((await board.api.move(number, staging)).body.promoted).toMatchObject([
        { targetBranch: "develop", prNumber: 1 },
      ]);
      await relinkAfter(board, number, () => advanceTrunk(board, "develop"));
      expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 1, prState: "merged" });
      expect(await cardBranches(board)).toEqual([branchName]);
      expect(await headOf(board, "web", branchName)).toBe(sha);
      await board.api.move(number, board.stages["In review"]);
      expect((await board.api.move(number, staging)).body.promoted).toEqual([]);
      expect((await board.api.move(number, board.stages.Done)).body.promoted).toMatchObject([
        { targetBranch: "main", prNumber: 2 },
      ]);
      expect(await branchHas(board, "main", `${number}.txt`)).toBe(true);
      expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 2, prState: "merged" });
    },
  );

  it("has its merged pull request at the end of the flow, and no new branch", async () => {
    const board = await world.board();
    const { number, branchName } = await cardWithCommit(board);
    await board.api.move(number, board.stages.Done);
    await relinkAfter(board, number, () => deleteBranch(board, branchName));
    expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 1, prState: "merged" });
    expect(await cardBranches(board)).toEqual([]);
  });

  it("can move before the jobs have run", async () => {
    const { board, staging } = await twoTargets(world);
    const { number, branchName } = await cardWithCommit(board);
    await board.api.move(number, staging);
    await settled(world);
    await relink(board, number, []);
    // No job runs until the trigger is dropped.
    const { db } = world.service.deps;
    await db.raw(`create function put_off() returns trigger language plpgsql as
      $$ begin new.run_at := now() + interval '1 hour'; return new; end $$`);
    await db.raw(`create trigger put_off before insert or update on graphile_worker._private_jobs
      for each row execute function put_off()`);
    try {
      await relink(board, number, ["web"]);
      expect((await board.api.move(number, board.stages.Done)).body.promoted).toMatchObject([
        { targetBranch: "main", prNumber: 2 },
      ]);
    } finally {
      await db.raw("drop function put_off() cascade");
      await runDeferredJobs(world);
    }
    expect(await linkOf(board, number)).toMatchObject({ branchName });
    expect(await cardBranches(board)).toEqual([branchName]);
  });

  it("gets a new branch if the earlier one was deleted", async () => {
    const board = await world.board();
    const { number, branchName } = await started(board);
    await relinkAfter(board, number, () => deleteBranch(board, branchName));
    expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: null });
    expect(await headOf(board, "web", branchName)).toBe(await headOf(board, "web", "main"));
    await pushTo(board, branchName, "hello.txt");
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });

  it("gets a branch of another name if the earlier one was deleted and its pull request is closed", async () => {
    const board = await world.board();
    const { number, branchName } = await cardWithCommit(board);
    await setPullState(board, 1, "closed");
    await relinkAfter(board, number, () => deleteBranch(board, branchName));
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.branchName !== null);
    expect(await linkOf(board, number)).toMatchObject({ branchName: `${branchName}-2` });
    await pushTo(board, `${branchName}-2`, "new.txt");
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prNumber === 2);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toMatchObject([{ prNumber: 2 }]);
  });

  it("is linked once, however often the request is repeated", async () => {
    const board = await world.board();
    const { number, branchName } = await cardWithCommit(board);
    await setPullState(board, 1, "closed");
    await settled(world);
    const unlinkKey = `unlink-${randomUUID()}`;
    const linkKey = `link-${randomUUID()}`;
    for (const [names, key] of [
      [[], unlinkKey],
      [["web"], linkKey],
    ] as const) {
      const responses = [];
      for (let times = 0; times < 3; times++) responses.push(await relink(board, number, names, key));
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
      await settled(world);
    }
    // The replay of the first request changes nothing.
    expect((await relink(board, number, [], unlinkKey)).status).toBe(200);
    await settled(world);
    expect(await linkOf(board, number)).toMatchObject({ branchName });
    const kinds = await kindsOf(board, number);
    for (const kind of ["repository_unlinked", "repository_linked", "branch_adopted"]) {
      expect([kind, kinds.filter((each) => each === kind).length]).toEqual([kind, 1]);
    }
  });
});

it("a card is unblocked when the repository with the blocker is unlinked", async () => {
  const board = await world.board({ repositories: ["web", "api"] });
  const { number } = await cardWithCommit(board);
  await setPullState(board, 1, "closed");
  await settled(world);
  expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
  await relink(board, number, ["api"]);
  await untilRechecked(world);
  expect((await board.api.readCard(number)).blocked).toMatchObject({
    reason: "nothing_to_merge",
    repository: `${board.owner}/api`,
  });
  await relink(board, number, []);
  expect(await board.api.cardWhen(number, ({ blocked }) => blocked === null)).toMatchObject({
    repositories: [],
  });
});

it("a card is unblocked when the repository with the blocker leaves the project", async () => {
  const board = await world.board();
  const { number, branchName } = await cardWithCommit(board);
  await setPullState(board, 1, "closed");
  await settled(world);
  expect((await board.api.move(number, board.stages.Done)).body.blocked).toMatchObject({
    reason: "pull_request_closed",
  });
  expect((await putRepositories(board, [])).status).toBe(200);
  await board.api.cardWhen(number, ({ blocked }) => blocked === null);
  expect((await putRepositories(board, [{ id: board.repositories["web"] }])).status).toBe(200);
  await relink(board, number, ["web"]);
  await untilRechecked(world);
  expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 1, prState: "closed" });
});

/** A card with a branch that is behind its trunk. */
async function started(board: TestBoard): Promise<{ number: number; branchName: string }> {
  const { number } = await board.api.card({ title: "Say hello" });
  await board.api.move(number, board.stages["In progress"]);
  await pushTo(board, "main", "later.txt");
  await settled(world);
  return { number, branchName: `card/${number}-say-hello` };
}

/** Gives the repository to a second board of the same account. */
async function moveToSecondBoard(
  board: TestBoard,
): Promise<{ api: Api; inProgress: string; giveBack: () => Promise<void> }> {
  const { api, projectId } = await secondBoard(world.service.deps, board);
  const [web] = await ofProject(board);
  const put = (repositories: unknown) => api.put(`/v1/projects/${projectId}/repositories`, { repositories });
  expect((await putRepositories(board, [])).status).toBe(200);
  expect((await put([{ id: web?.id, linkByDefault: true }])).status).toBe(200);
  const columns = await api.get<{ columns: { statusId: string; name: string }[] }>("/v1/board");
  const inProgress = columns.body.columns.find(({ name }) => name === "In progress")?.statusId ?? "";
  const giveBack = async (): Promise<void> => {
    expect((await put([])).status).toBe(200);
    expect((await putRepositories(board, [{ id: web?.id, linkByDefault: true }])).status).toBe(200);
  };
  return { api, inProgress, giveBack };
}

describe("the branch of an unlinked repository", () => {
  it.each([
    ["the card that adopted it", false],
    ["the card that adopted it and was deleted", true],
  ])("belongs to %s", async (_, isDeleted) => {
    const board = await world.board();
    const { number, branchName } = await started(board);
    const other = await board.api.card({ title: "Another" });
    await relink(board, number, []);
    await pushTo(board, branchName, "theirs.txt");
    const { id } = await itemWhen(board.api, "branch_suggestion");
    expect((await board.api.post(`/v1/inbox/${id}/adopt?card=${other.number}`)).status).toBe(204);
    await settled(world);
    expect(await linkOf(board, other.number)).toMatchObject({ branchName });
    if (isDeleted) await board.api.delete(`/v1/cards/${other.number}`);
    await relink(board, number, ["web"]);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.branchName !== null);
    expect(await linkOf(board, number)).toMatchObject({ branchName: `${branchName}-2` });
  });

  it("stays that of its card when a card of another board has the same number and title", async () => {
    const board = await world.board();
    const { number, branchName } = await started(board);
    const { api, inProgress, giveBack } = await moveToSecondBoard(board);
    const theirs = await api.card({ title: "Say hello" });
    expect(theirs.number).toBe(number);
    expect((await api.move(number, inProgress)).status).toBe(200);
    expect((await api.readCard(number)).repositories).toMatchObject([{ branchName: `${branchName}-2` }]);
    await giveBack();
    await relink(board, number, ["web"]);
    await untilRechecked(world);
    expect(await linkOf(board, number)).toMatchObject({ branchName });
  });

  it("belongs to the card of another board that adopted it, even after that board lost the repository", async () => {
    const board = await world.board();
    const { number, branchName } = await started(board);
    const { api, giveBack } = await moveToSecondBoard(board);
    await api.card({ title: "Something else" });
    await pushTo(board, branchName, "theirs.txt");
    const { id } = await itemWhen(api, "branch_suggestion");
    expect((await api.post(`/v1/inbox/${id}/adopt`)).status).toBe(204);
    await giveBack();
    await relink(board, number, ["web"]);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.branchName !== null);
    expect(await linkOf(board, number)).toMatchObject({ branchName: `${branchName}-2` });
    expect(await kindsOf(board, number)).not.toContain("branch_adopted");
  });

  it("stays that of its card if the response to its creation was lost", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const { faults } = world.forge.control;
    const match = { method: "POST", path: "/repositories/*/git/refs" };
    faults.add({ match, fault: { kind: "reset", effect: "after" }, times: 1 });
    faults.add({ match: { path: "/repositories/*/git/**" }, fault: { kind: "response", status: 502 } });
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(503);
    faults.clear();
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
    const sha = await headOf(board, "web", `card/${number}-say-hello`);
    await pushTo(board, "main", "later.txt");
    await settled(world);
    const { api, inProgress, giveBack } = await moveToSecondBoard(board);
    await api.card({ title: "Say hello" });
    expect((await api.move(number, inProgress)).status).toBe(200);
    expect((await api.readCard(number)).repositories).toMatchObject([
      { branchName: `card/${number}-say-hello-2` },
    ]);
    await giveBack();
    await relink(board, number, ["web"]);
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    expect(await linkOf(board, number)).toMatchObject({ branchName: `card/${number}-say-hello` });
    expect(await headOf(board, "web", `card/${number}-say-hello`)).toBe(sha);
  });
});
