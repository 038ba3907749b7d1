/** Branches of cards and releases start at the last known head of the trunk, or at GitHub's. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { followAllTrunks } from "../../src/actions/trunks/follow-trunk.ts";
import { changeRepository } from "../../sandbox/forge/actions/change-repository.ts";
import { callsOf } from "../support/forge/count-calls.ts";
import { settled } from "../support/database/database-content.ts";
import { deliver } from "../support/forge/deliveries.ts";
import { onForge, repositoryOf } from "../support/forge/installations.ts";
import { headOf, mergedCard } from "../support/stories/merged-card.ts";
import { freeze, makeRelease, readRelease } from "../support/stories/releases.ts";
import { loseWebhooks, releaseWebhooks } from "../support/stories/repairing.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  await world.service.deps.forge.identity();
});
afterEach(() => releaseWebhooks(world));
afterEach(() => leaveConsistent(world));
beforeEach(async () => {
  board = await world.board({ repositories: ["web", "api"] });
  for (const name of ["web", "api"]) await push(name, "first.txt");
});

const CREATE_BRANCH = "POST /repos/{owner}/{repo}/git/refs";

/** Moves a new card into a stage with a branch; `at` is the commit where the branch starts. */
async function startBranch(): Promise<{ at: string | null; calls: string[] }> {
  const { number } = await board.api.card();
  const calls = await callsOf(world, () => board.api.move(number, board.stages["In progress"]));
  const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  return { at: await headOf(board, "web", branch), calls };
}

const main = () => headOf(board, "web", "main");

/** A commit by ada on a trunk, with its webhook. */
async function push(repository = "web", file = "pushed.txt"): Promise<string | null> {
  const change = { message: "Push", content: "YQ==", branch: "main" };
  await board.person("ada", "PUT", `/repos/${board.owner}/${repository}/contents/${file}`, change);
  await settled(world);
  return headOf(board, repository, "main");
}

/** Delivers a push webhook. */
const deliverPush = async (before: string | null, after: string | null): Promise<void> => {
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

const setTip = (sha: string) =>
  board.db("trunks").where({ repository_id: board.repositories["web"] }).update({ tip_sha: sha });

describe("a release's branch", () => {
  const frozenAt = async (): Promise<(string | null)[]> => {
    const id = await makeRelease(board.api, "One");
    expect((await freeze(board.api, id)).status).toBe(200);
    const { repositories } = await readRelease(board.api, id);
    const [, web] = repositories.map(({ headSha }) => headSha);
    return [web ?? null, await headOf(board, "web", "release/one")];
  };

  it("has what Trunkline merged, before the webhook of the push", async () => {
    world.forge.control.webhooks.add({ fault: { kind: "hold" } });
    await mergedCard(world, board, { web: { "hello.txt": "hello\n" } });
    expect(await frozenAt()).toEqual([await main(), await main()]);
    await releaseWebhooks(world);
  });

  it("starts at the current trunk if the last known commit was force-pushed away", async () => {
    await setTip("f".repeat(40));
    expect(await frozenAt()).toEqual([await main(), await main()]);
  });
});

// Fault: D16 A trunk is force-pushed or pushes are lost => branches start at its current head
describe("a branch", () => {
  it("starts at the commit of the last push webhook, without a read", async () => {
    const at = await push();
    expect(await startBranch()).toEqual({ at, calls: [CREATE_BRANCH] });
  });

  it("starts after Trunkline's own merge, before the webhook of the push", async () => {
    world.forge.control.webhooks.add({ fault: { kind: "hold" } });
    await mergedCard(world, board, { web: { "hello.txt": "hello\n" } });
    expect(await startBranch()).toEqual({ at: await main(), calls: ["Inspect", CREATE_BRANCH] });
    await releaseWebhooks(world);
    expect(await startBranch()).toEqual({ at: await main(), calls: [CREATE_BRANCH] });
  });

  it("starts at the current trunk if the last known commit was force-pushed away", async () => {
    await setTip("f".repeat(40));
    const calls = [CREATE_BRANCH, "GET /repos/{owner}/{repo}/git/ref/{ref}", CREATE_BRANCH];
    expect(await startBranch()).toEqual({ at: await main(), calls });
  });

  it("needs a read if a push does not follow the last known commit", async () => {
    const [first, second] = [await main(), await push()];
    world.forge.control.faults.add({
      match: { operation: "LandedHistory" },
      fault: { kind: "response", status: 502 },
    });
    await deliverPush("e".repeat(40), first);
    expect(await startBranch()).toEqual({
      at: second,
      calls: expect.arrayContaining(["Inspect", CREATE_BRANCH]),
    });
    world.forge.control.faults.clear();
  });

  it("starts at the head found by reconciliation if the push was lost", async () => {
    const before = await main();
    loseWebhooks(world);
    const after = await push();
    world.forge.control.webhooks.clear();
    expect((await startBranch()).at).toBe(before);
    await followAllTrunks(world.service.deps);
    expect(await startBranch()).toEqual({ at: after, calls: [CREATE_BRANCH] });
  });

  it("needs a read if the trunk had no webhook for a long time", async () => {
    await board
      .db("trunks")
      .where({ repository_id: board.repositories["web"] })
      .update({ tip_at: board.db.raw("now() - interval '3 hours'") });
    expect((await startBranch()).calls).toEqual(["Inspect", CREATE_BRANCH]);
    await followAllTrunks(world.service.deps);
    expect((await startBranch()).calls).toEqual([CREATE_BRANCH]);
  });

  it("is not created if one of the repositories is archived", async () => {
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
