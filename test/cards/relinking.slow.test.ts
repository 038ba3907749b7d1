/** A repository that is taken off a card and linked to it again: the card takes up the branch it had there. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { createWorkspace } from "../../src/actions/boards/workspaces.ts";
import { issueCredential } from "../../src/actions/credentials/credentials.ts";
import { makeApi, type Api } from "../support/api.ts";
import { settled } from "../support/database/database-content.ts";
import { itemWhen, readInbox } from "../support/inbox.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { headOf } from "../support/stories/merged-card.ts";
import { bringForward } from "../support/stories/put-off.ts";
import { rechecked } from "../support/stories/rechecked.ts";
import { edit, told } from "../support/stories/repairing.ts";
import { kindsOf, ofProject, putRepositories } from "../support/forge/repositories.ts";
import { branchesOf, branchHas, twoTargets } from "../support/stories/two-targets.ts";
import { deleteBranch, pushTo, workedCard } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

const relink = (board: TestBoard, number: number, names: readonly string[], key?: string) =>
  board.api.patch(
    `/v1/cards/${number}`,
    { repositoryIds: names.map((name) => board.repositories[name]) },
    key === undefined ? {} : { key },
  );

/** Takes `web` off a card, and links it again once `meanwhile` is done and told. */
async function unlinked(
  board: TestBoard,
  number: number,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  await settled(world);
  expect((await relink(board, number, [])).status).toBe(200);
  await meanwhile();
  await settled(world);
  expect((await relink(board, number, ["web"])).status).toBe(200);
  await rechecked(world);
}

/** What a card shows of its only repository. */
const linkOf = async (board: TestBoard, number: number) => (await board.api.readCard(number)).repositories[0];
const cardBranches = async (board: TestBoard): Promise<string[]> =>
  (await branchesOf(board)).filter((name) => name.startsWith("card/"));
/** Somebody's commit on the trunk: a branch of the same name, cut there, would not be the same. */
const goOn = (board: TestBoard, branch = "main") => pushTo(board, branch, `${randomUUID()}.txt`);

describe("a card that is linked to a repository again", () => {
  it.each(["In progress", "Backlog"] as const)(
    "has its branch there again, which nobody had worked on, also where it stands in %s by then",
    async (name) => {
      const board = await world.board();
      const { number } = await board.api.card({ title: "Say hello" });
      await board.api.move(number, board.stages["In progress"]);
      const branchName = `card/${number}-say-hello`;
      await board.api.move(number, board.stages[name]);
      await unlinked(board, number, () => goOn(board));
      expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: null });
      expect(await cardBranches(board)).toEqual([branchName]);
      const sha = await headOf(board, "web", branchName);
      expect(await told(board, number, "branch_adopted")).toMatchObject([
        { actor: { user: { kind: "machine" } }, data: { branchName, sha, prNumber: null } },
      ]);
      await board.api.move(number, board.stages["In progress"]);
      await pushTo(board, branchName, "hello.txt");
      await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
      expect((await board.api.move(number, board.stages.Done)).body.promoted).toHaveLength(1);
    },
  );

  it("has what was pushed there meanwhile: its draft opens, and nobody is asked whose the branch is any more", async () => {
    const board = await world.board();
    const { number, branchName } = await started(board);
    await unlinked(board, number, async () => {
      await pushTo(board, branchName, "hello.txt");
      await itemWhen(board.api, "branch_suggestion");
    });
    expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 1, prState: "draft" });
    expect(await readInbox(board.api)).toEqual([]);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toMatchObject([{ prNumber: 1 }]);
  });

  it("has its pull request again that somebody closed before and opened again since, and the one that somebody opened", async () => {
    const board = await world.board();
    const { number, branchName } = await workedCard(board);
    await edit(board, 1, "closed");
    await unlinked(board, number, () => edit(board, 1, "open"));
    expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 1, prState: "open" });
    expect((await relink(board, number, [])).status).toBe(409);
    await edit(board, 1, "closed");
    await unlinked(board, number, () =>
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
    "goes on to the later targets with what the first one has, where the forge %s merged branches",
    async (_, isDeleting) => {
      const { board, staging } = await twoTargets(world);
      const change = { delete_branch_on_merge: isDeleting };
      await board.person("ada", "PATCH", `/repos/${board.owner}/web`, change);
      const { number, branchName, sha } = await workedCard(board);
      expect((await board.api.move(number, staging)).body.promoted).toMatchObject([
        { targetBranch: "develop", prNumber: 1 },
      ]);
      await unlinked(board, number, () => goOn(board, "develop"));
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

  it("has at the end of the flow what it has come to, and no branch more", async () => {
    const board = await world.board();
    const { number, branchName } = await workedCard(board);
    await board.api.move(number, board.stages.Done);
    await unlinked(board, number, () => deleteBranch(board, branchName));
    expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 1, prState: "merged" });
    expect(await cardBranches(board)).toEqual([]);
  });

  it("may be moved on at once", async () => {
    const { board, staging } = await twoTargets(world);
    const { number, branchName } = await workedCard(board);
    await board.api.move(number, staging);
    await settled(world);
    await relink(board, number, []);
    // What is to be done later is done by nobody.
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
      await bringForward(world);
    }
    expect(await linkOf(board, number)).toMatchObject({ branchName });
    expect(await cardBranches(board)).toEqual([branchName]);
  });

  it("begins anew where the branch was deleted with what was on it", async () => {
    const board = await world.board();
    const { number, branchName } = await started(board);
    await unlinked(board, number, () => deleteBranch(board, branchName));
    expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: null });
    expect(await headOf(board, "web", branchName)).toBe(await headOf(board, "web", "main"));
    await pushTo(board, branchName, "hello.txt");
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });

  it("begins under another name where a closed pull request would stand for what is new", async () => {
    const board = await world.board();
    const { number, branchName } = await workedCard(board);
    await edit(board, 1, "closed");
    await unlinked(board, number, () => deleteBranch(board, branchName));
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.branchName !== null);
    expect(await linkOf(board, number)).toMatchObject({ branchName: `${branchName}-2` });
    await pushTo(board, `${branchName}-2`, "anew.txt");
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prNumber === 2);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toMatchObject([{ prNumber: 2 }]);
  });

  it("is so once, however often the request is made", async () => {
    const board = await world.board();
    const { number, branchName } = await workedCard(board);
    await edit(board, 1, "closed");
    await settled(world);
    const off = `off-${randomUUID()}`;
    const on = `on-${randomUUID()}`;
    for (const [names, key] of [
      [[], off],
      [["web"], on],
    ] as const) {
      const answers = [];
      for (let times = 0; times < 3; times++) answers.push(await relink(board, number, names, key));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      await settled(world);
    }
    // What was asked for first is answered as it was, and not done again.
    expect((await relink(board, number, [], off)).status).toBe(200);
    await settled(world);
    expect(await linkOf(board, number)).toMatchObject({ branchName });
    const kinds = await kindsOf(board, number);
    for (const kind of ["repository_unlinked", "repository_linked", "branch_adopted"]) {
      expect([kind, kinds.filter((each) => each === kind).length]).toEqual([kind, 1]);
    }
  });
});

it("a card that is taken off the repository that was in its way is free", async () => {
  const board = await world.board({ repositories: ["web", "api"] });
  const { number } = await workedCard(board);
  await edit(board, 1, "closed");
  await settled(world);
  expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
  await relink(board, number, ["api"]);
  await rechecked(world);
  expect((await board.api.readCard(number)).blocked).toMatchObject({
    reason: "nothing_to_merge",
    repository: `${board.owner}/api`,
  });
  await relink(board, number, []);
  expect(await board.api.cardWhen(number, ({ blocked }) => blocked === null)).toMatchObject({
    repositories: [],
  });
});

it("a card whose project gives up the repository that was in its way is free", async () => {
  const board = await world.board();
  const { number, branchName } = await workedCard(board);
  await edit(board, 1, "closed");
  await settled(world);
  expect((await board.api.move(number, board.stages.Done)).body.blocked).toMatchObject({
    reason: "pull_request_closed",
  });
  expect((await putRepositories(board, [])).status).toBe(200);
  await board.api.cardWhen(number, ({ blocked }) => blocked === null);
  expect((await putRepositories(board, [{ id: board.repositories["web"] }])).status).toBe(200);
  await relink(board, number, ["web"]);
  await rechecked(world);
  expect(await linkOf(board, number)).toMatchObject({ branchName, prNumber: 1, prState: "closed" });
});

/** A card with a branch, which its trunk has left behind. */
async function started(board: TestBoard): Promise<{ number: number; branchName: string }> {
  const { number } = await board.api.card({ title: "Say hello" });
  await board.api.move(number, board.stages["In progress"]);
  await pushTo(board, "main", "later.txt");
  await settled(world);
  return { number, branchName: `card/${number}-say-hello` };
}

/** A second board of the board's account, which has the repository now. */
async function nextDoor(
  board: TestBoard,
): Promise<{ api: Api; progress: string; giveBack: () => Promise<void> }> {
  const { deps, baseUrl } = world.service;
  const other = await createWorkspace(deps, { organization: board.owner, name: "Next door" });
  const { apiKey } = await issueCredential(deps, {
    name: "next door",
    boards: [{ workspaceId: other.id, role: "maintainer" }],
    scopes: ["read", "write"],
    expiresAt: null,
  });
  const api = makeApi(baseUrl, apiKey);
  const [web] = await ofProject(board);
  const put = (repositories: unknown) =>
    api.put(`/v1/projects/${other.projectId}/repositories`, { repositories });
  expect((await putRepositories(board, [])).status).toBe(200);
  expect((await put([{ id: web?.id, linkByDefault: true }])).status).toBe(200);
  const columns = await api.get<{ columns: { statusId: string; name: string }[] }>("/v1/board");
  const progress = columns.body.columns.find(({ name }) => name === "In progress")?.statusId ?? "";
  const giveBack = async (): Promise<void> => {
    expect((await put([])).status).toBe(200);
    expect((await putRepositories(board, [{ id: web?.id, linkByDefault: true }])).status).toBe(200);
  };
  return { api, progress, giveBack };
}

describe("a branch that a card left", () => {
  it.each([
    ["that has adopted it since", false],
    ["that has adopted it since, and was deleted", true],
  ])("is that of the card %s", async (_, isDeleted) => {
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

  it("is not taken up by a card next door of the same number and title, and the card has it again", async () => {
    const board = await world.board();
    const { number, branchName } = await started(board);
    const { api, progress, giveBack } = await nextDoor(board);
    const theirs = await api.card({ title: "Say hello" });
    expect(theirs.number).toBe(number);
    expect((await api.move(number, progress)).status).toBe(200);
    expect((await api.readCard(number)).repositories).toMatchObject([{ branchName: `${branchName}-2` }]);
    await giveBack();
    await relink(board, number, ["web"]);
    await rechecked(world);
    expect(await linkOf(board, number)).toMatchObject({ branchName });
  });

  it("is that of the card next door that has adopted it since, also when that has left it", async () => {
    const board = await world.board();
    const { number, branchName } = await started(board);
    const { api, giveBack } = await nextDoor(board);
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

  it("is not taken up next door where nobody heard that it was cut, either", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const { faults } = world.forge.control;
    const match = { method: "POST", path: "/repositories/*/git/refs" };
    faults.add({ match, fault: { kind: "reset", effect: "after" }, times: 1 });
    faults.add({ match: { path: "/repositories/*/git/**" }, fault: { kind: "answer", status: 502 } });
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(503);
    faults.clear();
    expect((await board.api.move(number, board.stages["To do"])).status).toBe(200);
    const sha = await headOf(board, "web", `card/${number}-say-hello`);
    await pushTo(board, "main", "later.txt");
    await settled(world);
    const { api, progress, giveBack } = await nextDoor(board);
    await api.card({ title: "Say hello" });
    expect((await api.move(number, progress)).status).toBe(200);
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
