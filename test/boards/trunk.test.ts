import { beforeEach, describe, expect, it } from "@jest/globals";
import { openCard } from "../support/stories/open-card.ts";
import { complete, makeRelease } from "../support/stories/releases.ts";
import { readTrunk, trunkWhenLanded } from "../support/stories/trunk.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeEach(async () => {
  board = await world.board();
});

const fullName = () => `${board.owner}/web`;

describe("the trunk report", () => {
  // Contract: Trunk: `delivered` lists cards that reached the end of the flow in the window
  it("has a card that Trunkline delivered", async () => {
    const { number } = await openCard(world, board);
    await board.api.move(number, board.stages.Done);
    const { landings, delivered, numbers } = await trunkWhenLanded(board.api, 2);
    expect(landings).toMatchObject([
      {
        fullName: fullName(),
        branchName: "main",
        prNumber: 1,
        card: { number, title: "Say hello" },
        via: "service",
      },
      { title: "Initial commit", prNumber: null, card: null, via: "outside" },
    ]);
    expect(delivered).toMatchObject([
      {
        number,
        title: "Say hello",
        repositories: [
          {
            fullName: fullName(),
            targetBranch: "main",
            prNumber: 1,
            sha: landings[0]?.sha,
            mergedBy: { login: null },
          },
        ],
      },
    ]);
    expect(numbers).toEqual({
      landed: 2,
      owed: 0,
      refusals: 0,
      reverts: 0,
      leadTimeDays: expect.any(Number),
    });
    expect(delivered[0]?.deliveredAt).toBe(
      (await board.api.timeline(number)).findLast(({ kind }) => kind === "status_changed")?.at,
    );
  });

  // Contract: Trunk: Pushes and merges outside Trunkline are included
  it("has work made outside Trunkline: pushes and pull requests merged on GitHub", async () => {
    const { number } = await openCard(world, board);
    await board.person("ada", "PUT", `/repos/${fullName()}/pulls/1/merge`, { merge_method: "squash" });
    const clone = await board.clone("grace");
    const sha = await clone.commit("Fix at once", { "fix.txt": "fix\n" });
    await clone.push("origin", "HEAD:main");
    await clone.remove();
    const { landings, delivered } = await trunkWhenLanded(board.api, 3);
    expect(
      landings.map(({ sha, prNumber, card, via }) => ({ sha, prNumber, card: card?.number, via })),
    ).toEqual([
      { sha, prNumber: null, card: undefined, via: "outside" },
      { sha: landings[1]?.sha, prNumber: 1, card: number, via: "outside" },
      { sha: landings[2]?.sha, prNumber: null, card: undefined, via: "outside" },
    ]);
    expect(delivered).toEqual([]);
  });

  // Contract: Trunk: `numbers` counts landings, promised cards (`owed`), refusals and reverts
  it("counts a card that was moved back as not delivered, and each refusal", async () => {
    const { number } = await openCard(world, board);
    await board.api.move(number, board.stages.Done);
    await board.api.move(number, board.stages["In review"]);
    expect((await readTrunk(board.api)).delivered).toEqual([]);
    await board.api.move(number, board.stages.Done);
    expect((await readTrunk(board.api)).delivered).toHaveLength(1);
    const other = await board.api.card({ title: "Nothing yet" });
    await board.api.move(other.number, board.stages.Done);
    await board.api.move(other.number, board.stages.Done);
    expect((await readTrunk(board.api)).numbers).toMatchObject({ refusals: 2 });
    const path = "/v1/trunk/refusals";
    const refusal = { reason: "nothing_to_merge", statusId: board.stages.Done };
    const shown = { number: other.number, title: "Nothing yet", refusal };
    expect((await board.api.get(path)).body).toMatchObject([shown, shown]);
    const first = await board.api.get(`${path}?limit=1`);
    const [, next = ""] = /<([^>]+)>/.exec(first.headers.get("link") ?? "") ?? [];
    expect((await board.api.get(next)).body).toMatchObject([shown]);
    expect((await board.api.get(`${path}?from=2020-01-01&to=2020-01-31`)).body).toEqual([]);
  });

  // Contract: Trunk: `promised` lists a release's cards that have not shipped
  it("has the cards that open releases promised", async () => {
    const { number } = await openCard(world, board);
    const owed = await board.api.card({ title: "Later" });
    const releaseId = await makeRelease(board.api, "Spring", [number, owed.number]);
    await board.api.move(number, board.stages.Done);
    const { promised, numbers, releases } = await readTrunk(board.api);
    expect(promised).toEqual([
      {
        number: owed.number,
        title: "Later",
        releaseId,
        releaseName: "Spring",
        statusId: board.stages.Backlog,
      },
    ]);
    expect(numbers.owed).toBe(1);
    expect(releases).toEqual([]);
  });

  // Contract: Trunk: `releases` lists releases completed in the window, with cards
  it("has the releases completed in the window with their cards", async () => {
    const { number } = await openCard(world, board);
    const owed = await board.api.card({ title: "Later" });
    await board.api.move(number, board.stages.Done);
    const releaseId = await makeRelease(board.api, "Spring", [number, owed.number]);
    const versions = [{ repositoryId: board.repositories["web"], tagName: "v1.0" }];
    expect((await complete(board.api, releaseId, versions)).status).toBe(200);
    const { releases, promised } = await readTrunk(board.api);
    expect(releases).toMatchObject([
      {
        id: releaseId,
        name: "Spring",
        tags: [{ fullName: fullName(), tagName: "v1.0" }],
        cards: [
          { number, title: "Say hello" },
          { number: owed.number, title: "Later" },
        ],
      },
    ]);
    expect(promised).toMatchObject([{ number: owed.number, releaseName: "Spring" }]);
    const past = await readTrunk(board.api, "?from=2020-01-01&to=2020-01-31");
    expect(past).toMatchObject({ releases: [], promised: [], landings: [], delivered: [] });
  });

  it("makes no call to GitHub", async () => {
    const clone = await board.clone();
    await clone.commit("Push", { "push.txt": "push\n" });
    await clone.push("origin", "HEAD:main");
    await clone.remove();
    await trunkWhenLanded(board.api, 2);
    world.forge.control.calls.reset();
    await readTrunk(board.api);
    expect(world.forge.control.calls.read().total).toBe(0);
  });

  // Contract: Trunk: An invalid or reversed window, or more than 92 days, is 400
  it.each([
    ["?from=yesterday", "`from` is a date, as YYYY-MM-DD"],
    ["?from=2026-01-01T00:00:00.000Z", "`from` is a date, as YYYY-MM-DD"],
    ["?to=2026-13-01", "`to` is a date, as YYYY-MM-DD"],
    ["?from=2026-02-01&to=2026-01-31", "the window ends before it starts"],
    ["?from=2026-01-01&to=2026-12-31", "ask for 92 days or fewer at a time"],
  ])("refuses %s", async (query, message) => {
    expect(await board.api.get(`/v1/trunk${query}`)).toMatchObject({ status: 400, body: { message } });
  });

  it("is 404 for a project of another board", async () => {
    const other = await world.board();
    expect((await board.api.get(`/v1/trunk?projectId=${other.projectId}`)).status).toBe(404);
  });
});
