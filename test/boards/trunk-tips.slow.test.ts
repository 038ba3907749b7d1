/** Where a card's branch is cut, and a release's: at the commit that pushes have told its trunk is at, or where the forge shows it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { followTrunks } from "../../src/actions/reconcile/follow-trunk.ts";
import { changeRepository } from "../../sandbox/forge/actions/change-repository.ts";
import { callsOf } from "../support/forge/count-calls.ts";
import { settled } from "../support/database/database-content.ts";
import { deliver } from "../support/forge/deliveries.ts";
import { onForge, repositoryOf } from "../support/forge/installations.ts";
import { headOf, mergedCard } from "../support/stories/merged-card.ts";
import { freeze, makeRelease, readRelease } from "../support/stories/releases.ts";
import { loseWebhooks, releaseWebhooks } from "../support/stories/repairing.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld();
  await world.service.deps.forge.identity();
});
afterEach(() => releaseWebhooks(world));
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());
beforeEach(async () => {
  board = await world.board({ repositories: ["web", "api"] });
  for (const name of ["web", "api"]) await push(name, "first.txt");
});

const CUT = "POST /repos/{owner}/{repo}/git/refs";

/** Moves a new card to where it gets its branch; gives where that begins and the calls it took. */
async function cut(): Promise<{ at: string | null; calls: string[] }> {
  const { number } = await board.api.card();
  const calls = await callsOf(world, () => board.api.move(number, board.stages["In progress"]));
  const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  return { at: await headOf(board, "web", branch), calls };
}

const main = () => headOf(board, "web", "main");

/** A commit of ada's on a trunk, which a webhook tells. */
async function push(repository = "web", file = "pushed.txt"): Promise<string | null> {
  const change = { message: "Push", content: "YQ==", branch: "main" };
  await board.person("ada", "PUT", `/repos/${board.owner}/${repository}/contents/${file}`, change);
  await settled(world);
  return headOf(board, repository, "main");
}

/** A push as it is told of. */
const tell = async (before: string | null, after: string | null): Promise<void> => {
  const repository = world.forge.repository(`${board.owner}/web`);
  await deliver(world, "push", {
    ref: "refs/heads/main",
    before,
    after,
    commits: [],
    repository: { id: repository.id, full_name: `${board.owner}/web`, default_branch: "main" },
    sender: { id: 1, login: "ada", type: "User" },
  });
};

const hearing = (sha: string) =>
  board.db("trunks").where({ repository_id: board.repositories["web"] }).update({ tip_sha: sha });

describe("a release's branch", () => {
  const frozenAt = async (): Promise<(string | null)[]> => {
    const id = await makeRelease(board.api, "One");
    expect((await freeze(board.api, id)).status).toBe(200);
    const { repositories } = await readRelease(board.api, id);
    const [, web] = repositories.map(({ headSha }) => headSha);
    return [web ?? null, await headOf(board, "web", "release/one")];
  };

  it("has what Trunkline has merged a moment ago, before any push tells of that", async () => {
    world.forge.control.webhooks.add({ fault: { kind: "hold" } });
    await mergedCard(world, board, { web: { "hello.txt": "hello\n" } });
    expect(await frozenAt()).toEqual([await main(), await main()]);
    await releaseWebhooks(world);
  });

  it("is cut where the trunk is now when what was told has been pushed away", async () => {
    await hearing("f".repeat(40));
    expect(await frozenAt()).toEqual([await main(), await main()]);
  });
});

// Fault: D16 A trunk is force-pushed or pushes are lost => branches start at its current head
describe("a branch", () => {
  it("is cut at what a push told, without asking", async () => {
    const at = await push();
    expect(await cut()).toEqual({ at, calls: [CUT] });
  });

  it("is cut behind what Trunkline has merged a moment ago, before any push tells of that", async () => {
    world.forge.control.webhooks.add({ fault: { kind: "hold" } });
    await mergedCard(world, board, { web: { "hello.txt": "hello\n" } });
    expect(await cut()).toEqual({ at: await main(), calls: ["Inspect", CUT] });
    await releaseWebhooks(world);
    expect(await cut()).toEqual({ at: await main(), calls: [CUT] });
  });

  it("is cut where the trunk is now when what was told has been pushed away", async () => {
    await hearing("f".repeat(40));
    const calls = [CUT, "GET /repos/{owner}/{repo}/git/ref/{ref}", CUT];
    expect(await cut()).toEqual({ at: await main(), calls });
  });

  it("is asked about where a push is told that does not follow on the last", async () => {
    const [first, second] = [await main(), await push()];
    world.forge.control.faults.add({
      match: { operation: "LandedHistory" },
      fault: { kind: "answer", status: 502 },
    });
    await tell("e".repeat(40), first);
    expect(await cut()).toEqual({ at: second, calls: expect.arrayContaining(["Inspect", CUT]) });
    world.forge.control.faults.clear();
  });

  it("is cut at what was found by comparing, where the push was lost", async () => {
    const before = await main();
    loseWebhooks(world);
    const after = await push();
    world.forge.control.webhooks.clear();
    expect((await cut()).at).toBe(before);
    await followTrunks(world.service.deps);
    expect(await cut()).toEqual({ at: after, calls: [CUT] });
  });

  it("is asked about where nothing was heard of the trunk for long", async () => {
    await board
      .db("trunks")
      .where({ repository_id: board.repositories["web"] })
      .update({ tip_at: board.db.raw("now() - interval '3 hours'") });
    expect((await cut()).calls).toEqual(["Inspect", CUT]);
    await followTrunks(world.service.deps);
    expect((await cut()).calls).toEqual([CUT]);
  });

  it("is cut nowhere when one of the repositories has been archived", async () => {
    const { context, by } = onForge(world, board);
    await changeRepository(context, repositoryOf(world, board, "web").id, by, { archived: true });
    await settled(world);
    const { number } = await board.api.card({ repositoryIds: Object.values(board.repositories) });
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(409);
    expect((await board.api.readCard(number)).repositories.map(({ branchName }) => branchName)).toEqual([
      null,
      null,
    ]);
    expect(await headOf(board, "api", `card/${number}-a-card`)).toBeNull();
  });
});
