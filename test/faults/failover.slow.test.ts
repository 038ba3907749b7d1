import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { scheduleRepairs } from "../../src/jobs/tasks.ts";
import { eventually } from "../support/api.ts";
import { startCrashingWorld, type CrashingWorld } from "../support/processes/crashing-world.ts";
import { itemsOf } from "../support/inbox.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardReadyFor, FORGE_WRITES } from "../support/stories/forge-writes.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import type { TestBoard } from "../support/world.ts";

const LONG = 300_000;

let world: CrashingWorld;
beforeAll(async () => {
  world = await startCrashingWorld(false);
}, LONG);
afterAll(() => world?.stop(), LONG);

const writeNamed = (wanted: string) => FORGE_WRITES.find(({ doing }) => doing === wanted)!;
const [CREATE_BRANCH, OPEN_PULL, MERGE] = [
  writeNamed("creating the branch"),
  writeNamed("opening the pull request"),
  writeNamed("merging it"),
];

/** The pull requests and merges of a board's only repository. */
async function onForge(board: TestBoard): Promise<{ pulls: number; merges: number }> {
  const pulls = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls?state=all`);
  const clone = await board.clone();
  const merges = await clone.git("rev-list", "--merges", "--count", "origin/main");
  await clone.remove();
  return { pulls: (pulls.body as unknown as unknown[]).length, merges: Number(merges) };
}

// Fault: E7 PostgreSQL fails over to a stale standby => nothing is repeated on GitHub
it(
  "after a failover that loses committed writes, effects on GitHub are found and not repeated",
  async () => {
    const { postgres, db, forge } = world;
    const board = await world.board();
    const { api, stages } = board;
    const merging = await cardReadyFor(board, MERGE);
    const opening = await cardReadyFor(board, OPEN_PULL);
    const cutting = await cardReadyFor(board, CREATE_BRANCH);
    await forge.waitUntilIdle();
    await postgres.copyToStandby();

    let round = "before";
    const move = (number: number, to: string) =>
      api.move(number, to, 0, { key: `failover-${round}-${number}-${to}` });
    const answered = async (number: number, to: string): Promise<void> => {
      await eventually(
        () => move(number, to),
        ({ status }) => status === 200,
      );
    };
    await answered(merging, stages.Done);
    await answered(opening, stages["In review"]);
    await answered(cutting, stages["In progress"]);
    const created = await api.card({ title: "Never heard of again" });
    expect((await api.patch(`/v1/cards/${cutting}`, { title: "Renamed" })).status).toBe(200);
    await forge.waitUntilIdle();
    const before = await onForge(board);
    expect(before).toEqual({ pulls: 2, merges: 1 });
    await world.service().kill();
    await postgres.failOver();
    await world.restart();

    // What only the database knew is lost, idempotency keys included.
    round = "after";
    expect((await api.get(`/v1/cards/${created.number}`)).status).toBe(404);
    expect((await api.readCard(cutting)).title).toBe("Say hello");
    // What GitHub shows is found.
    await scheduleRepairs(db);
    await api.cardWhen(merging, ({ repositories }) => repositories[0]?.prState === "merged");
    await api.cardWhen(opening, ({ repositories }) => repositories[0]?.prState === "open");
    await forge.waitUntilIdle();
    // The merge's intent is lost too, so the merge is attributed to GitHub's user.
    const outside = await eventually(
      () => itemsOf(api, "pr_merged_outside"),
      ({ length }) => length > 0,
    );
    expect(outside.map(({ card }) => card?.number)).toEqual([merging]);

    await answered(merging, stages.Done);
    await answered(opening, stages["In review"]);
    await answered(cutting, stages["In progress"]);
    expect(await onForge(board)).toEqual(before);
    expect((await kindsOf(board, merging)).filter((kind) => kind === "pull_request_merged")).toHaveLength(1);
    expect((await kindsOf(board, opening)).filter((kind) => kind === "pull_request_opened")).toHaveLength(1);
    expect(await itemsOf(api, "pr_merged_outside")).toEqual([]);
    const clone = await board.clone();
    const branches = await clone.git("branch", "-r", "--list", `origin/card/${cutting}-*`);
    await clone.remove();
    const [link] = (await api.readCard(cutting)).repositories;
    expect([`origin/${link?.branchName}`]).toEqual(branches.split("\n").map((name) => name.trim()));
    await expectConsistent({ forge, db }, board);
  },
  LONG,
);
