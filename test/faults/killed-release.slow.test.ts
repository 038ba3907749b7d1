import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { CallMatch } from "../../sandbox/forge/control/match.ts";
import { eventually } from "../support/api.ts";
import { onForge } from "../support/forge/installations.ts";
import { expectConsistent } from "../support/invariants.ts";
import { headOf, mergedCard } from "../support/stories/merged-card.ts";
import { push } from "../support/stories/repairing.ts";
import {
  complete,
  freeze,
  makeRelease,
  pick,
  promote,
  readRelease,
  tagOf,
} from "../support/stories/releases.ts";
import type { TestBoard } from "../support/world.ts";
import { aroundEach, killedTogether } from "./support/kill-during.ts";
import { startKillableWorld, type KillableWorld } from "./support/killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterAll(() => world.stop());

const REFS: CallMatch = { method: "POST", path: "/repositories/*/git/refs" };

async function counted(own: TestBoard, repository: string, range: string): Promise<number> {
  const clone = await own.clone("ada", repository);
  const count = await clone.git("rev-list", "--count", range);
  await clone.remove();
  return Number(count);
}

/** Waits until the head of the trunk is known. */
const untilTrunkKnown = async ({ db }: KillableWorld, board: TestBoard): Promise<void> => {
  const main = await headOf(board, "web", "main");
  await eventually(
    () => db("trunks").where({ repository_id: board.repositories["web"], tip_sha: main }).select("tip_sha"),
    ({ length }) => length === 1,
  );
};

// Fault: A5 The process is killed while freezing => branches start at the stored commits
describe("a process killed while freezing a release, where", () => {
  const points = aroundEach({
    "the first branch": { match: REFS },
    "the second branch": { match: REFS, skip: 1 },
  });
  const storyOf = killedTogether(
    () => world,
    points,
    async (held) => {
      const board = await world.board({ repositories: ["web", "api"] });
      const id = await makeRelease(board.api, "1.4");
      const mains = [await headOf(board, "api", "main"), await headOf(board, "web", "main")];
      const key = `killed-freeze-${board.owner}`;
      return { board, id, mains, held, act: () => freeze(board.api, id, { key }) };
    },
  );

  it.each(Object.keys(points))(
    "%s is created: the retry creates the missing branches at the stored commits",
    async (name) => {
      const { board, id, mains, response } = storyOf(name);
      const frozen = response();
      expect(frozen.body.frozenAt).not.toBeNull();
      const { repositories } = await readRelease(board.api, id);
      expect(repositories.map(({ headSha }) => headSha)).toEqual(mains);
      expect([await headOf(board, "api", "release/1-4"), await headOf(board, "web", "release/1-4")]).toEqual(
        mains,
      );
      const again = await freeze(board.api, id);
      expect(again.body.frozenAt).toBe(frozen.body.frozenAt);
      await expectConsistent(world, board);
    },
  );
});

const COMMITS: CallMatch = { method: "POST", path: "/repositories/*/git/commits" };
const MERGES: CallMatch = { operation: "PickMerges" };
const MOVES: CallMatch = { operation: "UpdateRefs" };
// A new service for each point, because a pick has many calls and earlier ones would time out.
describe.each(
  Object.entries(
    aroundEach({
      "the commit beside the first": { match: COMMITS },
      "the merge": { match: MERGES },
      "the picked commit": { match: COMMITS, skip: 1 },
      "the second repository's merge": { match: MERGES, skip: 1 },
      "the first move of a branch": { match: MOVES },
      "the second move of a branch": { match: MOVES, skip: 1 },
    }),
  ),
)("a process killed while picking a card, at", (point, at) => {
  const points = { [point]: at };
  const storyOf = killedTogether(
    () => world,
    points,
    async (held) => {
      const board = await world.board({ repositories: ["web", "api"] });
      const id = await makeRelease(board.api, "1.4");
      await freeze(board.api, id);
      const number = await mergedCard(world, board, { web: { "w.txt": "w\n" }, api: { "a.txt": "a\n" } });
      const key = `killed-pick-${board.owner}`;
      return { board, number, held, act: () => pick(board.api, id, number, { key }) };
    },
  );

  // Fault: A6 The process is killed during a pick => picked once; temporary branches are removed
  it.each(Object.keys(points))(
    "%s: the branches have the pick once and no temporary branch remains",
    async (name) => {
      const { board, number, response } = storyOf(name);
      expect(response().body.taskCount).toBe(1);
      for (const repository of ["web", "api"]) {
        expect(await counted(board, repository, "origin/main..origin/release/1-4")).toBe(1);
        const path = `/repos/${board.owner}/${repository}/git/matching-refs/heads/trunkline/tmp/`;
        expect((await board.person("ada", "GET", path)).body).toEqual([]);
      }
      const events = (await board.api.timeline(number)).filter(({ kind }) => kind === "release_picked");
      expect(events).toHaveLength(1);
      await expectConsistent(world, board);
    },
  );
});

/** Checks that a repository has the tag `v1` at this commit, and one release. */
async function expectOneRelease(
  board: TestBoard,
  repository: string,
  sha: string | null | undefined,
): Promise<void> {
  expect(await tagOf(board, repository, "v1")).toBe(sha);
  const { body } = await board.person("ada", "GET", `/repos/${board.owner}/${repository}/releases`);
  expect(body).toHaveLength(1);
}

const completionsOf = async (board: TestBoard, number: number) =>
  (await board.api.timeline(number)).filter(({ kind }) => kind === "release_completed");

// Fault: A4 The process is killed while completing a release => each repository is tagged once
describe("a process killed while completing a release, at", () => {
  const RELEASES: CallMatch = { method: "POST", path: "/repositories/*/releases" };
  const NAMES = ["api", "app", "web"];
  const points = aroundEach({
    "all tags": { match: { operation: "CreateTags" } },
    "the first tag by itself": { match: REFS },
    "the second tag by itself": { match: REFS, skip: 1 },
    "the first provider release": { match: RELEASES },
    "the third provider release": { match: RELEASES, skip: 2 },
  });
  const storyOf = killedTogether(
    () => world,
    points,
    async (held, name) => {
      const board = await world.board({ repositories: NAMES });
      if (name.endsWith("by itself")) {
        const { id: installationId } = onForge(world, board).installation;
        const match = { operation: "CreateTags", installationId };
        world.forge.control.faults.add({ match, fault: { kind: "response", status: 502 } });
      }
      const { number } = await board.api.card({ repositoryIds: [] });
      const id = await makeRelease(board.api, "1.4", [number]);
      const versions = NAMES.map((name) => ({ repositoryId: board.repositories[name], tagName: "v1" }));
      const shas = await Promise.all(NAMES.map((name) => headOf(board, name, "main")));
      const key = `killed-complete-${board.owner}`;
      return {
        board,
        number,
        shas,
        held,
        act: () => complete(board.api, id, versions, { key }),
        whileDead: () => world.forge.commit(`${board.owner}/web`, "main", { "later.txt": "later\n" }),
      };
    },
  );

  it.each(Object.keys(points))(
    "%s, with a push meanwhile: each repository is tagged and released once at the stored commit",
    async (name) => {
      const { board, number, shas, response } = storyOf(name);
      const completed = response();
      expect(completed.body).toMatchObject({ status: "completed", completedAt: expect.any(String) });
      expect(completed.body.tags.map(({ sha }) => sha)).toEqual(shas);
      for (const [at, repository] of NAMES.entries()) await expectOneRelease(board, repository, shas[at]);
      expect(await completionsOf(board, number)).toHaveLength(1);
      await expectConsistent(world, board);
    },
  );
});

// Fault: A4
describe("a process killed while completing a release of one repository, at", () => {
  const points = aroundEach({
    "its tag": { match: { operation: "UpdateRefs" } },
    "its provider release": { match: { method: "POST", path: "/repositories/*/releases" } },
  });
  const storyOf = killedTogether(
    () => world,
    points,
    async (held) => {
      const board = await world.board();
      const { number } = await board.api.card({ repositoryIds: [] });
      const id = await makeRelease(board.api, "1.4", [number]);
      await push(board, "main", "before.txt");
      await untilTrunkKnown(world, board);
      const versions = [{ repositoryId: board.repositories["web"], tagName: "v1" }];
      const key = `killed-one-${board.owner}`;
      return {
        board,
        number,
        held,
        trunkHead: await headOf(board, "web", "main"),
        act: () => complete(board.api, id, versions, { key }),
        whileDead: () => world.forge.commit(`${board.owner}/web`, "main", { "later.txt": "later\n" }),
      };
    },
  );

  it.each(Object.keys(points))(
    "%s, with a push meanwhile: there is one tag at its first commit and one release",
    async (name) => {
      const { board, number, trunkHead, response } = storyOf(name);
      const sha = name === "before its tag" ? await headOf(board, "web", "main") : trunkHead;
      expect(response().body).toMatchObject({ status: "completed", tags: [{ tagName: "v1", sha }] });
      await expectOneRelease(board, "web", sha);
      expect(await completionsOf(board, number)).toMatchObject([{ data: { tags: [{ sha }] } }]);
      await expectConsistent(world, board);
    },
  );
});

// Fault: A7 The process is killed during a promotion => the same call finishes the rest
describe("a process killed during a promotion", () => {
  const CARDS = 12;
  const FOURTH = { match: REFS, skip: 3 };
  const points = aroundEach({ "the fourth branch": FOURTH });
  const storyOf = killedTogether(
    () => world,
    { ...points, alone: { ...FOURTH, effect: "before" } },
    async (held, name) => {
      const board = await world.board();
      const numbers: number[] = [];
      for (let made = 0; made < CARDS; made++) {
        // Every third has no Git: its move is one transaction.
        const fields = made % 3 === 0 ? { repositoryIds: [] } : {};
        numbers.push((await board.api.card(fields)).number);
      }
      const id = await makeRelease(board.api, "1.4", numbers);
      const key = `killed-promotion-${board.owner}`;
      const body = { statusId: board.stages["In progress"] };
      const act = () => promote(board.api, id, body, { key });
      return { board, numbers, id, held, act, isLeft: name === "alone" };
    },
  );
  async function expectMovedOnce(board: TestBoard, numbers: readonly number[]): Promise<void> {
    for (const number of numbers) {
      const events = (await board.api.timeline(number)).map(({ kind }) => kind);
      expect(events.filter((kind) => kind === "status_changed")).toHaveLength(1);
    }
    await expectConsistent(world, board);
  }

  it.each(Object.keys(points))(
    "while %s is created leaves the rest to the same key, which moves no card again",
    async (name) => {
      const { board, numbers, response } = storyOf(name);
      const { body } = response();
      expect(body).toMatchObject({ refused: [], skipped: [], pending: [], operationId: null });
      expect(body.promoted.map(({ number }) => number)).toEqual(numbers);
      await expectMovedOnce(board, numbers);
    },
  );

  it("leaves a promotion that is finished without a retry", async () => {
    const { board, numbers, id } = storyOf("alone");
    await eventually(
      () => readRelease(board.api, id),
      ({ cards }) => cards.every(({ statusId }) => statusId === board.stages["In progress"]),
    );
    await expectMovedOnce(board, numbers);
  });
});
