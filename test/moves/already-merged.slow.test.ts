import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { resumeOrphanedMoves } from "../../src/actions/moves/resume-move.ts";
import { itemsOf } from "../support/inbox.ts";
import { expectConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { makeRelease, promote } from "../support/stories/releases.ts";
import { merge } from "../support/stories/repairing.ts";
import { twoTargets } from "../support/stories/two-targets.ts";
import { workedCard } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

const WORDS = "At least 1 approving review is required by reviewers with write access.";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => world.forge.control.reset());
afterAll(() => world.stop());

/** A card with work in two repositories, of which `api` is merged first. */
async function inTwo(): Promise<{ board: TestBoard; number: number }> {
  const board = await world.board({ repositories: ["api", "web"] });
  const { number } = await openCard(world, board, ["api", "web"]);
  return { board, number };
}

const merging = (board: TestBoard, name: string, fullName: string) => {
  const { id } = world.forge.repository(`${board.owner}/${name}`);
  return { method: "PUT", path: `/repositories/${id}/pulls/*/${fullName}` };
};

/** From now on a repository refuses to merge, which nothing shows beforehand. */
function refuses(board: TestBoard, name: string): void {
  const { faults } = world.forge.control;
  const gone = { kind: "answer", status: 404, body: { message: "Not Found" } } as const;
  const no = { kind: "answer", status: 405, body: { message: WORDS } } as const;
  faults.add({ match: merging(board, name, "merge-async"), fault: gone });
  faults.add({ match: merging(board, name, "merge"), fault: no });
}

const pullIn = ({ owner }: TestBoard, name: string, targetBranch = "main", prNumber: number | null = 1) => ({
  fullName: `${owner}/${name}`,
  targetBranch,
  prNumber,
});

/** The process that carried a move out is gone, and time has passed. */
async function swept(board: TestBoard): Promise<void> {
  const updated_at = board.db.raw("now() - interval '6 minutes'");
  await board.db("operations").where({ workspace_id: board.workspaceId }).update({ updated_at });
  await resumeOrphanedMoves(world.service.deps);
}

describe("the answer to a move tells of every repository whose work is in the target", () => {
  // Contract: Moves: `promoted` lists the repositories this call merged
  it("apart from what this call merged, in a refusal and in the success after it", async () => {
    const { board, number } = await inTwo();
    refuses(board, "web");
    expect(await board.api.move(number, board.stages.Done)).toMatchObject({
      status: 409,
      body: { promoted: [pullIn(board, "api")] },
    });
    expect(await board.api.move(number, board.stages.Done)).toMatchObject({
      status: 409,
      body: {
        promoted: [],
        alreadyMerged: [pullIn(board, "api")],
        blocked: { repository: `${board.owner}/web` },
      },
    });
    world.forge.control.reset();
    expect(await board.api.move(number, board.stages.Done)).toMatchObject({
      status: 200,
      body: { promoted: [pullIn(board, "web")], alreadyMerged: [pullIn(board, "api")] },
    });
    await expectConsistent({ forge: world.forge, db: board.db }, board);
  });

  it("as this call's own what its first try merged, when that ended without it", async () => {
    const { board, number } = await inTwo();
    const key = `test-${randomUUID()}`;
    const match = merging(board, "web", "merge-async");
    world.forge.control.faults.add({ match, fault: { kind: "reset" } });
    world.forge.control.faults.add({ match: merging(board, "web", "merge"), fault: { kind: "reset" } });
    expect((await board.api.move(number, board.stages.Done, 0, { key })).status).toBe(503);
    world.forge.control.reset();
    refuses(board, "web");
    await swept(board);
    expect(await board.api.readCard(number)).toMatchObject({ blocked: { reason: "review_required" } });
    expect(await board.api.move(number, board.stages.Done, 0, { key })).toMatchObject({
      status: 409,
      body: { promoted: [pullIn(board, "api")] },
    });
    world.forge.control.reset();
    expect(await board.api.move(number, board.stages.Done, 0, { key })).toMatchObject({
      status: 200,
      body: { promoted: [pullIn(board, "api"), pullIn(board, "web")] },
    });
  });

  it("so, too, where the sweep got it through before the retry", async () => {
    const { board, number } = await inTwo();
    const key = `test-${randomUUID()}`;
    world.forge.control.faults.add({ match: merging(board, "web", "merge-async"), fault: { kind: "reset" } });
    expect((await board.api.move(number, board.stages.Done, 0, { key })).status).toBe(503);
    world.forge.control.reset();
    await swept(board);
    expect(await board.api.move(number, board.stages.Done, 0, { key })).toMatchObject({
      status: 200,
      body: { promoted: [pullIn(board, "api"), pullIn(board, "web")] },
    });
  });

  it("where a person merged it, and where it came with another branch", async () => {
    const { board, staging } = await twoTargets(world);
    const { number } = await workedCard(board);
    expect((await merge(board, 1)).status).toBe(200);
    const staged = await board.api.move(number, staging);
    expect(staged.body).toMatchObject({ promoted: [], alreadyMerged: [pullIn(board, "web", "develop")] });
    const clone = await board.clone();
    await clone.checkout("main");
    await clone.git("merge", "-q", "origin/develop");
    await clone.push();
    await clone.remove();
    const done = await board.api.move(number, board.stages.Done);
    expect([done.status, done.body.promoted]).toEqual([200, []]);
    expect(done.body.alreadyMerged).toEqual([pullIn(board, "web", "main", null)]);
  });

  it("where it came along with another card's, whose mover's merge it is then, and nobody's from outside", async () => {
    const { board, staging } = await twoTargets(world);
    const { number } = await workedCard(board);
    expect((await board.api.move(number, staging)).status).toBe(200);
    refuses(board, "web");
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    world.forge.control.reset();
    const carrier = await board.as({ role: "maintainer" });
    const { number: carrying } = await workedCard(board);
    expect((await carrier.move(carrying, board.stages.Done)).status).toBe(200);
    const told = await board.api.eventWhen(
      number,
      ({ kind, data }) => kind === "pull_request_merged" && data["targetBranch"] === "main",
    );
    const own = await board.api.eventWhen(carrying, ({ kind }) => kind === "pull_request_merged");
    expect(own.actor).toMatchObject({ login: null });
    expect(told.actor).toEqual(own.actor);
    expect(await itemsOf(board.api, "pr_merged_outside")).toEqual([]);
    const done = await board.api.move(number, board.stages.Done);
    expect(done).toMatchObject({
      status: 200,
      body: { promoted: [], alreadyMerged: [{ targetBranch: "main" }] },
    });
    await expectConsistent({ forge: world.forge, db: board.db }, board);
  });

  it("and says nothing of it where there is none", async () => {
    const { board, number } = await inTwo();
    refuses(board, "web");
    const key = `test-${randomUUID()}`;
    for (const options of [{ key }, { key }]) {
      const { body } = await board.api.move(number, board.stages.Done, 0, options);
      expect(Object.keys(body)).toEqual(["message", "error", "statusCode", "blocked", "promoted"]);
    }
    const other = await world.board();
    const worked = await workedCard(other, "In progress");
    const { body } = await other.api.move(worked.number, other.stages["In review"]);
    expect(Object.keys(body)).toEqual(["task", "promoted"]);
  });

  it("card by card of a promotion", async () => {
    const { board, number } = await inTwo();
    const release = await makeRelease(board.api, "1.0", [number]);
    refuses(board, "web");
    const refusal = { number, repository: `${board.owner}/web`, reason: "review_required" };
    expect((await promote(board.api, release, { statusId: board.stages.Done })).body).toMatchObject({
      refused: [{ ...refusal, promoted: [pullIn(board, "api")] }],
    });
    world.forge.control.reset();
    expect((await promote(board.api, release, { statusId: board.stages.Done })).body).toMatchObject({
      promoted: [{ number, promoted: [pullIn(board, "web")], alreadyMerged: [pullIn(board, "api")] }],
    });
  });
});
