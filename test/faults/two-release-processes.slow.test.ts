/** A process at work on a release is taken for dead, and wakes once another has finished what it was at. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import type { CallMatch } from "../../sandbox/forge/control/match.ts";
import type { RunningService } from "../../src/service.ts";
import { eventually, type Api, type ApiAnswer } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { mergedCard } from "../support/stories/merged-card.ts";
import { complete, freeze, makeRelease, pick, readRelease, unfreeze } from "../support/stories/releases.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { apisOf, silenced } from "../support/processes/two-processes.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let other: RunningService;
beforeAll(async () => {
  world = await startWorld();
  other = await startSecondService(world);
});
afterEach(() => world.forge.control.reset());
afterAll(async () => {
  await other.stop();
  await world.stop();
});

interface Story {
  /** The call that the first process makes last before it falls silent: it has had its effect. */
  readonly at: CallMatch;
  /** Makes ready what is acted on. */
  readonly before?: (board: TestBoard, id: string) => Promise<unknown>;
  readonly act: (api: Api, board: TestBoard, id: string, key: string) => Promise<ApiAnswer>;
  /** Writing calls that are part of the same order: they make commits that nothing leads to. */
  readonly lateCommits?: number;
  /** What happens to the release between the end of that and the waking. */
  readonly meanwhile?: (board: TestBoard, id: string) => Promise<unknown>;
}

const REFS: CallMatch = { method: "POST", path: "/repositories/*/git/refs" };
const frozen = (board: TestBoard, id: string) => freeze(board.api, id);
const completing: Story["act"] = (api, board, id, key) => {
  const versions = ["api", "web"].map((name) => ({ repositoryId: board.repositories[name], tagName: "v1" }));
  return complete(api, id, versions, { key });
};
const completingOne: Story["act"] = (api, board, id, key) =>
  complete(api, id, [{ repositoryId: board.repositories["web"], tagName: "v1" }], { key });
const freezing: Story["act"] = (api, _, id, key) => freeze(api, id, { key });
const picking: Story["act"] = (api, _, id, key) => pick(api, id, 1, { key });
const withCard = async (board: TestBoard, id: string) => {
  await frozen(board, id);
  await mergedCard(world, board, { web: { "w.txt": "w\n" }, api: { "a.txt": "a\n" } });
};

const STORIES: Readonly<Record<string, Story>> = {
  "freezing, its first branch cut": { at: REFS, act: freezing },
  "freezing, its first branch cut, and it is unfrozen by then": {
    at: REFS,
    act: freezing,
    meanwhile: (board, id) => unfreeze(board.api, id),
  },
  "unfreezing, its first branch removed, and it is frozen again by then": {
    at: { operation: "UpdateRefs" },
    before: frozen,
    act: (api, _, id, key) => unfreeze(api, id, { key }),
    meanwhile: frozen,
  },
  "picking, the first pick worked out": {
    at: { operation: "PickMerges" },
    lateCommits: 1,
    before: withCard,
    act: picking,
  },
  "picking, the first branch moved": {
    at: { operation: "UpdateRefs" },
    before: withCard,
    act: picking,
  },
  "completing, its tags made": { at: { operation: "CreateTags" }, act: completing },
  "completing, its first release published": {
    at: { method: "POST", path: "/repositories/*/releases" },
    act: completing,
  },
  "completing one repository, its tag made": {
    at: { operation: "UpdateRefs" },
    before: frozen,
    act: completingOne,
  },
};

/** Every ref of the board's repositories and every release of its tags, as the forge has them. */
async function onForge(board: TestBoard): Promise<unknown> {
  const read = (path: string) => board.person("ada", "GET", `/repos/${board.owner}/${path}`);
  const all = ["api", "web"].map(async (name) => [
    (await read(`${name}/git/matching-refs/`)).body,
    (await read(`${name}/releases`)).body,
  ]);
  return Promise.all(all);
}

// Fault: E10
it.each(Object.keys(STORIES))(
  "%s: nothing is written by it any more, on the forge or about the release",
  async (name) => {
    const { at, lateCommits = 0, before, act, meanwhile } = STORIES[name]!;
    const board = await world.board({ repositories: ["web", "api"] });
    const id = await makeRelease(board.api, "1.4");
    await before?.(board, id);
    await world.forge.waitUntilIdle();
    const [here, there] = await apisOf(world, other, board);
    const key = `fenced-${randomUUID()}`;
    const call = holdCalls(world, at);
    const first = act(there, board, id, key);
    await call.met();
    const finished = async () => {
      await silenced(world, other);
      return act(here, board, id, key);
    };
    const done = await eventually(finished, ({ status }) => status === 200, 30_000);
    await meanwhile?.(board, id);
    await world.forge.waitUntilIdle();
    const told = [await readRelease(board.api, id), await onForge(board)];
    const { calls } = world.forge.control;
    const { writes } = calls.read();
    call.letGo();
    expect((await first).status).toBe(409);
    expect(calls.read().writes).toBe(writes + lateCommits);
    expect([await readRelease(board.api, id), await onForge(board)]).toEqual(told);
    expect((await act(here, board, id, key)).text).toBe(done.text);
    await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
  },
  60_000,
);
