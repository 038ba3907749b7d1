import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { settled } from "../support/database/database-content.ts";
import { aheadOfMain, cardInReview, fileOn, headsOf, mergedCard } from "../support/stories/merged-card.ts";
import {
  frozenRelease,
  makeRelease,
  pick,
  readRelease,
  setCards,
  unfreeze,
} from "../support/stories/releases.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { protect } from "../support/stories/repairing.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board({ repositories: ["web", "api"] });
});
afterEach(() => leaveConsistent(world, board));

const countTemporaryBranches = async (own: TestBoard): Promise<number> => {
  const path = `/repos/${own.owner}/web/git/matching-refs/heads/trunkline/tmp/`;
  return ((await own.person("ada", "GET", path)).body as unknown as unknown[]).length;
};

describe("POST /v1/releases/{id}/pick", () => {
  // Contract: Releases: After freezing, only `pick` adds a card
  it("adds the card's merged commits to the branch in each of its repositories once", async () => {
    const id = await frozenRelease(board.api, "1.0");
    const number = await mergedCard(world, board, {
      web: { "hello.txt": "hello\n" },
      api: { "greet.txt": "greet\n" },
    });
    const mains = await headsOf(board, "main");
    const before = await headsOf(board, "release/1-0");
    const member = await board.as({ role: "member" });
    const response = await pick(member, id, number);
    expect(response).toMatchObject({ status: 200, body: { id, taskCount: 1, frozenAt: expect.any(String) } });
    expect(await fileOn(board, "web", "release/1-0", "hello.txt")).toBe("hello\n");
    expect(await fileOn(board, "api", "release/1-0", "greet.txt")).toBe("greet\n");
    const [message, ...others] = await aheadOfMain(board, "web", "release/1-0");
    expect(message).toContain(`(cherry picked from commit ${mains[0]})`);
    expect(others).toEqual([]);
    const after = await headsOf(board, "release/1-0");
    expect(after).not.toEqual(before);
    const { cards, repositories } = await readRelease(board.api, id);
    expect(cards).toMatchObject([{ number, pickedAt: expect.any(String) }]);
    expect(repositories.map(({ headSha }) => headSha)).toEqual([after[1], after[0]]);
    const picks = (await board.api.timeline(number)).filter(({ kind }) => kind === "release_picked");
    expect(picks).toMatchObject([
      {
        actor: { user: { name: "member agent" }, login: null },
        data: { releaseId: id, releaseName: "1.0", commits: [mains[1], mains[0]] },
      },
    ]);
    expect((await pick(board.api, id, number)).status).toBe(200);
    expect(await headsOf(board, "release/1-0")).toEqual(after);
    expect((await board.api.timeline(number)).filter(({ kind }) => kind === "release_picked")).toHaveLength(
      1,
    );
    expect(await countTemporaryBranches(board)).toBe(0);
    const unfrozen = await unfreeze(board.api, id);
    const { body: preview } = await board.api.get(`/v1/releases/${id}/preview`);
    expect(unfrozen.body).toMatchObject({ message: preview["unfreezeRefusal"] });
    expect([unfrozen.status, unfrozen.text]).toEqual([409, expect.stringContaining("picked or pushed")]);
  });

  it("adds a card without Git or whose commits are in the branch, without a new commit", async () => {
    const number = await mergedCard(world, board, { web: { "early.txt": "early\n" } });
    const { number: plain } = await board.api.card({ repositoryIds: [] });
    const id = await frozenRelease(board.api, "1.1");
    const before = await headsOf(board, "release/1-1");
    expect((await pick(board.api, id, number)).status).toBe(200);
    expect((await pick(board.api, id, plain)).status).toBe(200);
    expect(await headsOf(board, "release/1-1")).toEqual(before);
    expect((await readRelease(board.api, id)).cards.map((card) => card.number)).toEqual([number, plain]);
    expect((await unfreeze(board.api, id)).status).toBe(200);
    expect((await readRelease(board.api, id)).cards).toMatchObject([{ pickedAt: null }, { pickedAt: null }]);
  });

  it("returns 409 until the card is merged in all repositories", async () => {
    const id = await frozenRelease(board.api, "1.2");
    const number = await cardInReview(world, board, { web: { "soon.txt": "soon\n" } });
    const early = await pick(board.api, id, number);
    expect(early).toMatchObject({
      status: 409,
      body: {
        message: expect.stringMatching(
          /^Pull request #\d+ of card \d+ is not merged yet in .*\/web\. Merge its work, /,
        ),
        repository: `${board.owner}/web`,
      },
    });
    const { number: draft } = await board.api.card();
    expect((await pick(board.api, id, draft)).status).toBe(409);
    expect((await readRelease(board.api, id)).cards).toEqual([]);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    expect((await pick(board.api, id, number)).status).toBe(200);
  });

  // Fault: D15 A pick conflicts, is empty or large => refused whole, skipped, or applied in order
  it("returns 409 with GitHub's message and the files of a conflict, and picks nothing in any repository", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const id = await frozenRelease(own.api, "2.0");
    await world.forge.commit(`${own.owner}/web`, "release/2-0", { "app.txt": "eins\n" });
    const number = await mergedCard(world, own, {
      api: { "fine.txt": "fine\n" },
      web: { "app.txt": "uno\n" },
    });
    const before = await headsOf(own, "release/2-0");
    const refused = await pick(own.api, id, number);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        message: `${own.owner}/web: Failed to merge: "Merge conflict" (app.txt)`,
        repository: `${own.owner}/web`,
        files: ["app.txt"],
      },
    });
    expect(await headsOf(own, "release/2-0")).toEqual(before);
    expect(await readRelease(own.api, id)).toMatchObject({ taskCount: 0, frozenAt: expect.any(String) });
    expect(await countTemporaryBranches(own)).toBe(0);
    // After the conflict is resolved on the branch, the pick succeeds.
    await world.forge.commit(`${own.owner}/web`, "release/2-0", { "app.txt": "one\n" });
    expect((await pick(own.api, id, number)).status).toBe(200);
    expect(await fileOn(own, "web", "release/2-0", "app.txt")).toBe("uno\n");
  });

  it("is signed by GitHub if the release branch requires signatures", async () => {
    const own = await world.board();
    const id = await frozenRelease(own.api, "2.5");
    const number = await mergedCard(world, own, { web: { "signed.txt": "signed\n" } });
    const branch = `/repos/${own.owner}/web/branches/${encodeURIComponent("release/2-5")}`;
    await protect(own, {}, "release/2-5");
    await own.person("ada", "POST", `${branch}/protection/required_signatures`);
    expect((await pick(own.api, id, number)).status).toBe(200);
    expect(await fileOn(own, "web", "release/2-5", "signed.txt")).toBe("signed\n");
    const [message] = await aheadOfMain(own, "web", "release/2-5");
    expect(message).toMatch(/^Co-authored-by: .+ <.+@.+>$/m);
    const { body } = await own.person("ada", "GET", branch);
    expect(body).toMatchObject({ commit: { commit: { verification: { verified: true } } } });
  });

  it("reverts the earlier repositories if a later one refuses", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const id = await frozenRelease(own.api, "3.0");
    const number = await mergedCard(world, own, { api: { "a.txt": "a\n" }, web: { "w.txt": "w\n" } });
    const before = await headsOf(own, "release/3-0");
    await protect(own, { restrictions: { users: [], teams: [], apps: [] } }, "release/3-0");
    const refused = await pick(own.api, id, number);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${own.owner}/web: You're not authorized to push to this branch.`,
    ]);
    expect(await headsOf(own, "release/3-0")).toEqual(before);
    expect((await readRelease(own.api, id)).cards).toEqual([]);
  });

  // Fault: D13 The release branch changes during a pick => restarted up to three times
  it("starts again if a person pushes to the branch during the pick", async () => {
    const own = await world.board();
    const id = await frozenRelease(own.api, "4.0");
    const number = await mergedCard(world, own, { web: { "w.txt": "w\n" } });
    const call = holdCalls(world, { operation: "UpdateRefs" }, "before");
    const picking = pick(own.api, id, number);
    await call.arrived();
    await world.forge.commit(`${own.owner}/web`, "release/4-0", { "version.txt": "4\n" });
    call.resume();
    expect((await picking).status).toBe(200);
    expect(await fileOn(own, "web", "release/4-0", "w.txt")).toBe("w\n");
    expect(await fileOn(own, "web", "release/4-0", "version.txt")).toBe("4\n");
  });

  it("returns 409 and changes nothing if the branch moves during each attempt", async () => {
    const own = await world.board();
    const id = await frozenRelease(own.api, "4.1");
    const number = await mergedCard(world, own, { web: { "w.txt": "w\n" } });
    const holdPick = () => holdCalls(world, { operation: "PickMerges" }, "before");
    let call = holdPick();
    const picking = pick(own.api, id, number);
    for (const time of [1, 2, 3, 4]) {
      await call.arrived();
      await world.forge.commit(`${own.owner}/web`, "release/4-1", { "version.txt": `${time}\n` });
      const previous = call;
      call = holdPick();
      previous.resume();
    }
    expect(await picking).toMatchObject({
      status: 409,
      body: {
        message: `Somebody keeps pushing to release/4-1 in ${own.owner}/web. Try again later.`,
        repository: `${own.owner}/web`,
      },
    });
    expect(await fileOn(own, "web", "release/4-1", "version.txt")).toBe("4\n");
    expect(await fileOn(own, "web", "release/4-1", "w.txt")).toBeNull();
    expect(await countTemporaryBranches(own)).toBe(0);
    call.resume();
    expect((await pick(own.api, id, number)).status).toBe(200);
  });

  it("requires a frozen release and a card that is in no other open release", async () => {
    const { number } = await board.api.card({ repositoryIds: [] });
    const open = await makeRelease(board.api, "Open");
    const early = await pick(board.api, open, number);
    expect([early.status, early.body.message]).toEqual([409, expect.stringContaining("is not frozen")]);
    await setCards(board.api, open, [number]);
    const id = await frozenRelease(board.api, "5.0");
    const taken = await pick(board.api, id, number);
    expect([taken.status, taken.body.message]).toEqual([409, expect.stringContaining("open release Open")]);
    expect(await pick(board.api, id, 4711)).toMatchObject({
      status: 404,
      body: { message: "There is no card 4711 on this board." },
    });
    for (const wrong of [0, "7"]) {
      const response = await board.api.post(`/v1/releases/${id}/pick`, { taskNumber: wrong });
      expect(response).toMatchObject({ status: 400, body: { issues: [{ path: "body.taskNumber" }] } });
    }
    const viewer = await board.as({ role: "viewer" });
    expect((await pick(viewer, id, number)).status).toBe(403);
  });

  it("makes at most five calls to GitHub for a card with one commit", async () => {
    const own = await world.board();
    const id = await frozenRelease(own.api, "6.0");
    const number = await mergedCard(world, own, { web: { "w.txt": "w\n" } });
    await settled(world);
    world.forge.control.calls.reset();
    expect((await pick(own.api, id, number)).status).toBe(200);
    expect(world.forge.control.calls.read().total).toBeLessThanOrEqual(5);
  });
});
