/** A slow process is considered dead and continues after another has finished its work on a release. */
import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, expect, it } from "@jest/globals";
import type { CallMatch } from "../../sandbox/forge/control/match.ts";
import type { RunningService } from "../../src/service.ts";
import { eventually, type Api, type ApiResponse } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { mergedCard } from "../support/stories/merged-card.ts";
import { complete, freeze, makeRelease, pick, readRelease, unfreeze } from "../support/stories/releases.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { apisOf, expireHeartbeat } from "../support/processes/two-processes.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let other: RunningService;
beforeAll(async () => {
  other = await startSecondService(world);
});
afterEach(() => world.forge.control.reset());

interface Story {
  /** The last call of the first process before its pause; it has had its effect. */
  readonly at: CallMatch;
  /** Prepares the release. */
  readonly before?: (board: TestBoard, id: string) => Promise<unknown>;
  readonly act: (api: Api, board: TestBoard, id: string, key: string) => Promise<ApiResponse>;
  /** Other writes of the same call, which create unreachable commits. */
  readonly lateCommits?: number;
  /** Runs after the other process has finished and before the first continues. */
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
  "freezing, after its first branch": { at: REFS, act: freezing },
  "freezing, after its first branch and with an unfreeze meanwhile": {
    at: REFS,
    act: freezing,
    meanwhile: (board, id) => unfreeze(board.api, id),
  },
  "unfreezing, after its first branch and with a freeze meanwhile": {
    at: { operation: "UpdateRefs" },
    before: frozen,
    act: (api, _, id, key) => unfreeze(api, id, { key }),
    meanwhile: frozen,
  },
  "picking, after the first cherry-pick": {
    at: { operation: "PickMerges" },
    lateCommits: 1,
    before: withCard,
    act: picking,
  },
  "picking, after the first branch": {
    at: { operation: "UpdateRefs" },
    before: withCard,
    act: picking,
  },
  "completing, after its tags": { at: { operation: "CreateTags" }, act: completing },
  "completing, after its first published release": {
    at: { method: "POST", path: "/repositories/*/releases" },
    act: completing,
  },
  "completing one repository, after its tag": {
    at: { operation: "UpdateRefs" },
    before: frozen,
    act: completingOne,
  },
};

/** Every ref of the board's repositories and every release of its tags on the forge. */
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
  "%s: a slow process writes nothing any more, on GitHub or in the database",
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
    await call.arrived();
    const finished = async () => {
      await expireHeartbeat(world, other);
      return act(here, board, id, key);
    };
    const done = await eventually(finished, ({ status }) => status === 200);
    await meanwhile?.(board, id);
    await world.forge.waitUntilIdle();
    const expected = [await readRelease(board.api, id), await onForge(board)];
    const { calls } = world.forge.control;
    const { writes } = calls.read();
    call.resume();
    expect((await first).status).toBe(409);
    expect(calls.read().writes).toBe(writes + lateCommits);
    expect([await readRelease(board.api, id), await onForge(board)]).toEqual(expected);
    expect((await act(here, board, id, key)).text).toBe(done.text);
    await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
  },
);
