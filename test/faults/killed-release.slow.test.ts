import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { CallMatch } from "../../src/sandbox/forge/control/match.ts";
import { eventually, type ApiAnswer, type CallOptions } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { headOf, mergedCard } from "../support/merged-card.ts";
import { push } from "../support/repairing.ts";
import { complete, freeze, makeRelease, pick, promote, readRelease, tagOf } from "../support/releases.ts";
import type { TestBoard } from "../support/world.ts";
import { startKillableWorld, type KillableWorld } from "./killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterEach(async () => {
  const board = world.boards.at(-1);
  if (board) await expectConsistent(world, board);
});
afterAll(() => world.stop());

const REFS: CallMatch = { method: "POST", path: "/repositories/*/git/refs" };
let keys = 0;

/** Makes a call, kills the service while the forge holds back its answer to the nth such call, and makes the same call again. */
async function killDuring<Answer extends ApiAnswer>(
  act: (options: CallOptions) => Promise<Answer>,
  [match, nth, effect]: readonly [CallMatch, number, "before" | "after"],
  whileDead: () => Promise<void> = () => Promise.resolve(),
): Promise<Answer> {
  const { faults } = world.forge.control;
  if (nth > 1) faults.add({ match, fault: { kind: "none" }, times: nth - 1 });
  const hanging = faults.add({ match, fault: { kind: "hang", effect }, times: 1 });
  const key = `killed-release-${(keys += 1)}`;
  const first = act({ key }).then(
    () => "answered",
    () => "cut off",
  );
  await eventually(
    () => Promise.resolve(faults.list()),
    (listed) => listed.some(({ id, hits }) => id === hanging && hits === 1),
  );
  await world.kill();
  expect(await first).toBe("cut off");
  faults.clear();
  await whileDead();
  await world.restart();
  return eventually(
    () => act({ key }),
    ({ status }) => status === 200,
    30_000,
  );
}

const killedAt = (calls: readonly (readonly [string, CallMatch, number])[]) =>
  calls.flatMap(([name, match, nth]) =>
    (["before", "after"] as const).map((effect) => [effect, name, [match, nth, effect]] as const),
  );

async function counted(own: TestBoard, repository: string, range: string): Promise<number> {
  const clone = await own.clone("ada", repository);
  const count = await clone.git("rev-list", "--count", range);
  await clone.remove();
  return Number(count);
}

/** Waits until the trunk is known to be where it is. */
const trunkHeard = async ({ db }: KillableWorld, board: TestBoard): Promise<void> => {
  const main = await headOf(board, "web", "main");
  await eventually(
    () => db("trunks").where({ repository_id: board.repositories["web"], tip_sha: main }).select("tip_sha"),
    ({ length }) => length === 1,
  );
};

describe("killed while a release is frozen", () => {
  it.each(
    killedAt([
      ["the first branch", REFS, 1],
      ["the second branch", REFS, 2],
    ]),
  )(
    "%s %s is cut: the retry cuts what is missing where it was to be cut",
    async (_, __, at) => {
      const board = await world.board({ repositories: ["web", "api"] });
      const id = await makeRelease(board.api, "1.4");
      const mains = [await headOf(board, "api", "main"), await headOf(board, "web", "main")];
      const frozen = await killDuring((options) => freeze(board.api, id, options), at);
      expect(frozen.body.frozenAt).not.toBeNull();
      const { repositories } = await readRelease(board.api, id);
      expect(repositories.map(({ headSha }) => headSha)).toEqual(mains);
      expect([await headOf(board, "api", "release/1-4"), await headOf(board, "web", "release/1-4")]).toEqual(
        mains,
      );
      const again = await freeze(board.api, id);
      expect(again.body.frozenAt).toBe(frozen.body.frozenAt);
    },
    60_000,
  );
});

describe("killed while a card is picked", () => {
  it.each(
    killedAt([
      ["the commit beside the first", { method: "POST", path: "/repositories/*/git/commits" }, 1],
      ["the merge", { operation: "PickMerges" }, 1],
      ["the picked commit", { method: "POST", path: "/repositories/*/git/commits" }, 2],
      ["the second repository's merge", { operation: "PickMerges" }, 2],
      ["the first move of a branch", { operation: "UpdateRefs" }, 1],
      ["the second move of a branch", { operation: "UpdateRefs" }, 2],
    ]),
  )(
    "%s %s: the branches have the pick once, and nothing temporary stays",
    async (_, __, at) => {
      const board = await world.board({ repositories: ["web", "api"] });
      const id = await makeRelease(board.api, "1.4");
      await freeze(board.api, id);
      const number = await mergedCard(world, board, { web: { "w.txt": "w\n" }, api: { "a.txt": "a\n" } });
      const picked = await killDuring((options) => pick(board.api, id, number, options), at);
      expect(picked.body.taskCount).toBe(1);
      for (const repository of ["web", "api"]) {
        expect(await counted(board, repository, "origin/main..origin/release/1-4")).toBe(1);
        const path = `/repos/${board.owner}/${repository}/git/matching-refs/heads/trunkline/tmp/`;
        expect((await board.person("ada", "GET", path)).body).toEqual([]);
      }
      const told = (await board.api.timeline(number)).filter(({ kind }) => kind === "release_picked");
      expect(told).toHaveLength(1);
    },
    60_000,
  );
});

describe("killed while a release is completed", () => {
  const RELEASES: CallMatch = { method: "POST", path: "/repositories/*/releases" };
  it.each(
    killedAt([
      ["the first tag", REFS, 1],
      ["the second tag", REFS, 2],
      ["the first provider release", RELEASES, 1],
      ["the third provider release", RELEASES, 3],
    ]),
  )(
    "%s %s: each repository is tagged and released once, at the commit written down before",
    async (_, __, at) => {
      const names = ["api", "app", "web"];
      const board = await world.board({ repositories: names });
      const { number } = await board.api.card({ repositoryIds: [] });
      const id = await makeRelease(board.api, "1.4", [number]);
      const versions = names.map((name) => ({ repositoryId: board.repositories[name], tagName: "v1" }));
      const shas = await Promise.all(names.map((name) => headOf(board, name, "main")));
      const completed = await killDuring((options) => complete(board.api, id, versions, options), at);
      expect(completed.body).toMatchObject({ status: "completed", completedAt: expect.any(String) });
      expect(completed.body.tags.map(({ sha }) => sha)).toEqual(shas);
      for (const name of names) {
        const { body } = await board.person("ada", "GET", `/repos/${board.owner}/${name}/releases`);
        expect(body).toHaveLength(1);
      }
      const told = (await board.api.timeline(number)).filter(({ kind }) => kind === "release_completed");
      expect(told).toHaveLength(1);
    },
    60_000,
  );
});

describe("killed while a release of one repository is completed", () => {
  it.each(
    killedAt([
      ["its tag", { operation: "UpdateRefs" }, 1],
      ["its provider release", { method: "POST", path: "/repositories/*/releases" }, 1],
    ]),
  )(
    "%s %s, and pushed to meanwhile: there is one tag, at the commit it was made at, and one release",
    async (effect, name, at) => {
      const board = await world.board();
      const { number } = await board.api.card({ repositoryIds: [] });
      const id = await makeRelease(board.api, "1.4", [number]);
      await push(board, "main", "heard.txt");
      await trunkHeard(world, board);
      const versions = [{ repositoryId: board.repositories["web"], tagName: "v1" }];
      const heard = await headOf(board, "web", "main");
      let later: string | null = null;
      const completed = await killDuring(
        (options) => complete(board.api, id, versions, options),
        at,
        async () => {
          later = await world.forge.commit(`${board.owner}/web`, "main", { "later.txt": "later\n" });
        },
      );
      const sha = name === "its tag" && effect === "before" ? later : heard;
      expect(completed.body).toMatchObject({ status: "completed", tags: [{ tagName: "v1", sha }] });
      expect(await tagOf(board, "web", "v1")).toBe(sha);
      const { body } = await board.person("ada", "GET", `/repos/${board.owner}/web/releases`);
      expect(body).toHaveLength(1);
      const told = (await board.api.timeline(number)).filter(({ kind }) => kind === "release_completed");
      expect(told).toMatchObject([{ data: { tags: [{ sha }] } }]);
    },
    60_000,
  );
});

describe("killed half-way through a promotion", () => {
  const CARDS = 12;
  async function promotion() {
    const board = await world.board();
    const numbers: number[] = [];
    for (let made = 0; made < CARDS; made++) {
      // Every third has no Git: its move is one transaction.
      const fields = made % 3 === 0 ? { repositoryIds: [] } : {};
      numbers.push((await board.api.card(fields)).number);
    }
    return { board, numbers, id: await makeRelease(board.api, "1.4", numbers) };
  }
  async function expectMovedOnce(board: TestBoard, numbers: readonly number[]): Promise<void> {
    for (const number of numbers) {
      const told = (await board.api.timeline(number)).map(({ kind }) => kind);
      expect(told.filter((kind) => kind === "status_changed")).toHaveLength(1);
    }
  }

  it.each(killedAt([["the fourth branch", REFS, 4]]))(
    "%s %s: the same key finishes the rest and moves none again",
    async (_, __, at) => {
      const { board, numbers, id } = await promotion();
      const body = { statusId: board.stages["In progress"] };
      const answer = await killDuring((options) => promote(board.api, id, body, options), at);
      expect(answer.body).toMatchObject({ refused: [], skipped: [], pending: [], operationId: null });
      expect(answer.body.promoted.map(({ number }) => number)).toEqual(numbers);
      await expectMovedOnce(board, numbers);
    },
    90_000,
  );

  it("and nobody comes back: it is finished all the same", async () => {
    const { board, numbers, id } = await promotion();
    const { faults } = world.forge.control;
    faults.add({ match: REFS, fault: { kind: "none" }, times: 3 });
    const hanging = faults.add({ match: REFS, fault: { kind: "hang" }, times: 1 });
    const first = promote(board.api, id, { statusId: board.stages["In progress"] }).then(
      () => "answered",
      () => "cut off",
    );
    await eventually(
      () => Promise.resolve(faults.list()),
      (listed) => listed.some((fault) => fault.id === hanging && fault.hits === 1),
    );
    await world.kill();
    expect(await first).toBe("cut off");
    faults.clear();
    await world.restart();
    await eventually(
      () => readRelease(board.api, id),
      ({ cards }) => cards.every(({ statusId }) => statusId === board.stages["In progress"]),
      60_000,
    );
    await expectMovedOnce(board, numbers);
  }, 120_000);
});
