import { afterEach, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { itemsOf } from "../support/inbox.ts";
import { expectConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { makeRelease, promote } from "../support/stories/releases.ts";
import { merge, resumeMovesAfter } from "../support/stories/repairing.ts";
import { twoTargets } from "../support/stories/two-targets.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { eventually } from "../support/api.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const REVIEW_REQUIRED = "At least 1 approving review is required by reviewers with write access.";

const world = useWorld();
afterEach(() => world.forge.control.reset());

/** A card with commits in two repositories; `api` is merged first. */
async function cardInTwoRepositories(): Promise<{ board: TestBoard; number: number }> {
  const board = await world.board({ repositories: ["api", "web"] });
  const { number } = await openCard(world, board, ["api", "web"]);
  return { board, number };
}

const mergeCall = (board: TestBoard, name: string, endpoint: "merge" | "merge-async") => {
  const { id } = world.forge.repository(`${board.owner}/${name}`);
  return { method: "PUT", path: `/repositories/${id}/pulls/*/${endpoint}` };
};

/** Makes GitHub refuse every merge in a repository; reads do not show it beforehand. */
function refuseMerges(board: TestBoard, name: string): void {
  const { faults } = world.forge.control;
  const notFound = { kind: "response", status: 404, body: { message: "Not Found" } } as const;
  const refusal = { kind: "response", status: 405, body: { message: REVIEW_REQUIRED } } as const;
  faults.add({ match: mergeCall(board, name, "merge-async"), fault: notFound });
  faults.add({ match: mergeCall(board, name, "merge"), fault: refusal });
}

const mergeOf = ({ owner }: TestBoard, name: string, targetBranch = "main", prNumber: number | null = 1) => ({
  fullName: `${owner}/${name}`,
  targetBranch,
  prNumber,
});

describe("the response to a move", () => {
  // Contract: Moves: `promoted` lists the repositories this call merged
  it("lists what the call merged in `promoted` and what was merged before in `alreadyMerged`", async () => {
    const { board, number } = await cardInTwoRepositories();
    refuseMerges(board, "web");
    expect(await board.api.move(number, board.stages.Done)).toMatchObject({
      status: 409,
      body: { promoted: [mergeOf(board, "api")] },
    });
    expect(await board.api.move(number, board.stages.Done)).toMatchObject({
      status: 409,
      body: {
        promoted: [],
        alreadyMerged: [mergeOf(board, "api")],
        blocked: { repository: `${board.owner}/web` },
      },
    });
    world.forge.control.reset();
    expect(await board.api.move(number, board.stages.Done)).toMatchObject({
      status: 200,
      body: { promoted: [mergeOf(board, "web")], alreadyMerged: [mergeOf(board, "api")] },
    });
    await expectConsistent({ forge: world.forge, db: board.db }, board);
  });

  it("lists in `promoted` what an earlier attempt with the same key merged", async () => {
    const { board, number } = await cardInTwoRepositories();
    const key = `test-${randomUUID()}`;
    const match = mergeCall(board, "web", "merge-async");
    world.forge.control.faults.add({ match, fault: { kind: "reset" } });
    world.forge.control.faults.add({ match: mergeCall(board, "web", "merge"), fault: { kind: "reset" } });
    expect((await board.api.move(number, board.stages.Done, 0, { key })).status).toBe(503);
    world.forge.control.reset();
    refuseMerges(board, "web");
    await resumeMovesAfter(world, board);
    // A read of the pull request does not show the refusal, so a webhook about the merge may clear `blocked`.
    await board.api.eventWhen(number, ({ kind }) => kind === "promotion_refused");
    expect(await board.api.move(number, board.stages.Done, 0, { key })).toMatchObject({
      status: 409,
      body: { promoted: [mergeOf(board, "api")], blocked: { reason: "review_required" } },
    });
    world.forge.control.reset();
    expect(await board.api.move(number, board.stages.Done, 0, { key })).toMatchObject({
      status: 200,
      body: { promoted: [mergeOf(board, "api"), mergeOf(board, "web")] },
    });
  });

  it("lists in `promoted` what the resumed move merged before the retry", async () => {
    const { board, number } = await cardInTwoRepositories();
    const key = `test-${randomUUID()}`;
    world.forge.control.faults.add({
      match: mergeCall(board, "web", "merge-async"),
      fault: { kind: "reset" },
    });
    expect((await board.api.move(number, board.stages.Done, 0, { key })).status).toBe(503);
    world.forge.control.reset();
    await resumeMovesAfter(world, board);
    // A job may still be running the move.
    const retried = await eventually(
      () => board.api.move(number, board.stages.Done, 0, { key }),
      ({ status }) => status !== 409,
    );
    expect(retried).toMatchObject({
      status: 200,
      body: { promoted: [mergeOf(board, "api"), mergeOf(board, "web")] },
    });
  });

  it("lists in `alreadyMerged` what a person merged or another branch contained", async () => {
    const { board, staging } = await twoTargets(world);
    const { number } = await cardWithCommit(board);
    expect((await merge(board, 1)).status).toBe(200);
    const staged = await board.api.move(number, staging);
    expect(staged.body).toMatchObject({ promoted: [], alreadyMerged: [mergeOf(board, "web", "develop")] });
    const clone = await board.clone();
    await clone.checkout("main");
    await clone.git("merge", "-q", "origin/develop");
    await clone.push();
    await clone.remove();
    const done = await board.api.move(number, board.stages.Done);
    expect([done.status, done.body.promoted]).toEqual([200, []]);
    expect(done.body.alreadyMerged).toEqual([mergeOf(board, "web", "main", null)]);
  });

  it("lists in `alreadyMerged` what another card's merge contained, attributed to the caller of that merge", async () => {
    const { board, staging } = await twoTargets(world);
    const { number } = await cardWithCommit(board);
    expect((await board.api.move(number, staging)).status).toBe(200);
    refuseMerges(board, "web");
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    world.forge.control.reset();
    const carrier = await board.as({ role: "maintainer" });
    const { number: carrying } = await cardWithCommit(board);
    expect((await carrier.move(carrying, board.stages.Done)).status).toBe(200);
    const merged = await board.api.eventWhen(
      number,
      ({ kind, data }) => kind === "pull_request_merged" && data["targetBranch"] === "main",
    );
    const own = await board.api.eventWhen(carrying, ({ kind }) => kind === "pull_request_merged");
    expect(own.actor).toMatchObject({ login: null });
    expect(merged.actor).toEqual(own.actor);
    expect(await itemsOf(board.api, "pr_merged_outside")).toEqual([]);
    const done = await board.api.move(number, board.stages.Done);
    expect(done).toMatchObject({
      status: 200,
      body: { promoted: [], alreadyMerged: [{ targetBranch: "main" }] },
    });
    await expectConsistent({ forge: world.forge, db: board.db }, board);
  });

  it("has no `alreadyMerged` when nothing was merged before", async () => {
    const { board, number } = await cardInTwoRepositories();
    refuseMerges(board, "web");
    const key = `test-${randomUUID()}`;
    for (const options of [{ key }, { key }]) {
      const { body } = await board.api.move(number, board.stages.Done, 0, options);
      expect(Object.keys(body)).toEqual(["message", "error", "statusCode", "blocked", "promoted"]);
    }
    const other = await world.board();
    const worked = await cardWithCommit(other, "In progress");
    const { body } = await other.api.move(worked.number, other.stages["In review"]);
    expect(Object.keys(body)).toEqual(["task", "promoted"]);
  });

  it("has both lists for each card of a release promotion", async () => {
    const { board, number } = await cardInTwoRepositories();
    const release = await makeRelease(board.api, "1.0", [number]);
    refuseMerges(board, "web");
    const refusal = { number, repository: `${board.owner}/web`, reason: "review_required" };
    expect((await promote(board.api, release, { statusId: board.stages.Done })).body).toMatchObject({
      refused: [{ ...refusal, promoted: [mergeOf(board, "api")] }],
    });
    world.forge.control.reset();
    expect((await promote(board.api, release, { statusId: board.stages.Done })).body).toMatchObject({
      promoted: [{ number, promoted: [mergeOf(board, "web")], alreadyMerged: [mergeOf(board, "api")] }],
    });
  });
});
