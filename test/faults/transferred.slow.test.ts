import { describe, expect, it } from "@jest/globals";
import { transferRepository } from "../../sandbox/forge/actions/change-repository.ts";
import { repositoryNodeId } from "../../sandbox/forge/present/repository.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { eventually } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { brokenIn, brokenWhen, onForge, repositoryOf } from "../support/forge/installations.ts";
import { expectConsistent } from "../support/invariants.ts";
import { headOf, mergedCard } from "../support/stories/merged-card.ts";
import { openCard } from "../support/stories/open-card.ts";
import { untilRechecked } from "../support/stories/rechecked.ts";
import { freeze, makeRelease, pick, readRelease, unfreeze } from "../support/stories/releases.ts";
import { kindsOf, linksOf, ofProject } from "../support/forge/repositories.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

/** Runs `act` after the forge has merged a pull request and before its response. */
function onceMerged(act: () => Promise<unknown>): void {
  const merging = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };
  const response = holdCalls(world, merging);
  const stop = world.forge.control.observe({
    onCall: (call) => {
      if (call.method !== "PUT" || !call.path.endsWith("/merge-async")) return;
      stop();
      void eventually(
        () => Promise.resolve(world.forge.context.state.pullRequests.all()),
        (pulls) => pulls.some(({ mergedAt }) => mergedAt !== null),
      )
        .then(act)
        .finally(response.resume);
    },
  });
}

const handOn = async (
  board: TestBoard,
  toLogin: string,
  options?: { readonly omitsEvent: boolean },
): Promise<void> => {
  const { context, by } = onForge(world, board);
  const [to] = context.state.accounts.inGroup(toLogin.toLowerCase());
  if (!to) throw new Error(`there is no account ${toLogin}`);
  await transferRepository(context, world.forge.repository(`${board.owner}/web`).id, by, to, options);
};

// Fault: D3 The repository is transferred during a move => nothing is merged twice
describe("a repository that is transferred between the merges of a move", () => {
  it.each([
    ["with webhooks", false],
    ["without webhooks", true],
  ])(
    "to an account without the App (%s) refuses the move, is in the inbox, and works when it is back",
    async (_, omitsEvent) => {
      const board = await world.board({ repositories: ["api", "web"] });
      const { number } = await openCard(world, board, ["api", "web"]);
      const repository = repositoryOf(world, board);
      const away = `away-${board.owner}`;
      world.forge.createOrganization(away);
      onceMerged(() => handOn(board, away, { omitsEvent }));
      const refused = await board.api.move(number, board.stages.Done);
      expect([refused.status, refused.body.promoted?.map(({ fullName }) => fullName)]).toEqual([
        409,
        [`${board.owner}/api`],
      ]);
      expect(refused.body.blocked).toMatchObject({
        reason: "not_permitted",
        repository: `${board.owner}/web`,
      });
      if (omitsEvent) await addJob(board.db, "sync-installations", {});
      const [item] = await brokenWhen(board, 1);
      expect(item?.repository).toBe(`${board.owner}/web`);
      const again = await board.api.move(number, board.stages.Done);
      expect([again.status, again.body.blocked?.repository]).toEqual([409, `${board.owner}/web`]);
      const { context, by, account } = onForge(world, board);
      await transferRepository(context, repository.id, by, account);
      await brokenWhen(board, 0);
      await board.api.cardWhen(number, ({ blocked }) => blocked === null);
      expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
      const merges = (await kindsOf(board, number)).filter((kind) => kind === "pull_request_merged");
      expect(merges).toHaveLength(2);
      await expectConsistent({ forge: world.forge, db: board.db }, board);
    },
  );

  it("to an account with the App is on another board, and the card continues without it", async () => {
    const board = await world.board({ repositories: ["api", "web"] });
    const other = await world.board({ repositories: ["docs"] });
    const { number } = await openCard(world, board, ["api", "web"]);
    onceMerged(() => handOn(board, other.owner));
    const refused = await board.api.move(number, board.stages.Done);
    expect([refused.status, refused.body.promoted?.map(({ fullName }) => fullName)]).toEqual([
      409,
      [`${board.owner}/api`],
    ]);
    await eventually(
      () => ofProject(other),
      ({ length }) => length === 2,
    );
    await allProcessed(world);
    expect(await linksOf(board, number)).toEqual(["api"]);
    expect(await brokenIn(board)).toEqual([]);
    const moved = await board.api.move(number, board.stages.Done);
    expect([moved.status, moved.body.task.blocked]).toEqual([200, null]);
    // It gets no calls and no events here any more.
    expect((await other.api.get<unknown[]>("/v1/inbox")).body).toEqual([]);
  });
});

it("a card that was refused in a repository is no longer blocked after the transfer", async () => {
  const board = await world.board();
  const other = await world.board({ repositories: ["docs"] });
  const { number } = await openCard(world, board);
  await board.person("ada", "PATCH", `/repos/${board.owner}/web/pulls/1`, { state: "closed" });
  await untilRechecked(world);
  const refused = await board.api.move(number, board.stages.Done);
  expect(refused.body.blocked).toMatchObject({ reason: "pull_request_closed" });
  await untilRechecked(world);
  await handOn(board, other.owner);
  await board.api.cardWhen(number, ({ blocked }) => blocked === null);
  expect(await linksOf(board, number)).toEqual([]);
});

/** Transfers `web` during a call's first change of a branch. Returns the later writes to `web`. */
async function handOnDuring(board: TestBoard, act: () => Promise<{ readonly status: number }>) {
  const other = await world.board({ repositories: ["docs"] });
  const web = world.forge.repository(`${board.owner}/web`);
  const held = holdCalls(world, { operation: "UpdateRefs" });
  const acting = act();
  await held.arrived();
  await handOn(board, other.owner);
  await eventually(
    () => ofProject(other),
    ({ length }) => length === 2,
  );
  await allProcessed(world);
  const written: string[] = [];
  world.forge.control.observe({
    onCall: ({ method, path, body }) => {
      const isWrite = method !== "GET" && !body.includes('"query":"query ');
      const isOfWeb = path.includes(`/${web.id}/`) || body.includes(repositoryNodeId(web));
      if (isWrite && isOfWeb) written.push(`${method} ${path} ${body.toString()}`);
    },
  });
  held.resume();
  expect((await acting).status).toBe(503);
  return written;
}

/** Waits until no action on a release is unfinished. */
const untilFinished = (board: TestBoard, releaseId: string) =>
  eventually(
    () => board.db("operations").where({ release_id: releaseId, state: "running" }).select("id"),
    ({ length }) => length === 0,
  );

// Fault: D3
describe("a repository that is transferred to an account with the App gets no more calls for a release", () => {
  it("that is unfrozen meanwhile, and is unfrozen in the others", async () => {
    const board = await world.board({ repositories: ["api", "web"] });
    const id = await makeRelease(board.api, "Gone");
    expect((await freeze(board.api, id)).status).toBe(200);
    const written = await handOnDuring(board, () => unfreeze(board.api, id));
    await untilFinished(board, id);
    expect(written).toEqual([]);
    const { frozenAt, repositories } = await readRelease(board.api, id);
    expect([frozenAt, repositories.map(({ fullName }) => fullName)]).toEqual([null, [`${board.owner}/api`]]);
    expect(await headOf(board, "api", "release/gone")).toBeNull();
    expect((await freeze(board.api, id)).status).toBe(200);
    await expectConsistent({ forge: world.forge, db: board.db }, board);
  });

  it("onto which a card is picked meanwhile, and the pick is undone in the others", async () => {
    const board = await world.board({ repositories: ["api", "web"] });
    const id = await makeRelease(board.api, "Picked");
    expect((await freeze(board.api, id)).status).toBe(200);
    const number = await mergedCard(world, board, { api: { "a.txt": "a\n" }, web: { "w.txt": "w\n" } });
    await allProcessed(world);
    const before = await headOf(board, "api", "release/picked");
    const written = await handOnDuring(board, () => pick(board.api, id, number));
    await untilFinished(board, id);
    expect(written).toEqual([]);
    expect((await readRelease(board.api, id)).cards).toEqual([]);
    expect(await headOf(board, "api", "release/picked")).toBe(before);
    const again = await pick(board.api, id, number);
    expect([again.status, again.body.message]).toEqual([
      409,
      `${board.owner}/web does not belong to the project any more. Unlink it from card ${number}, then pick the card again.`,
    ]);
    const repositoryIds = [board.repositories["api"]];
    expect((await board.api.patch(`/v1/cards/${number}`, { repositoryIds })).status).toBe(200);
    expect((await pick(board.api, id, number)).status).toBe(200);
    await expectConsistent({ forge: world.forge, db: board.db }, board);
  });
});
