import { afterEach, describe, expect, it } from "@jest/globals";
import { addJob } from "../../src/store/db/jobs.ts";
import { createForgeLimits } from "../../src/store/forge/forge-limits.ts";
import { eventually } from "../support/api.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { runDeferredJobs } from "../support/stories/deferred-jobs.ts";
import { resumeMovesAfter } from "../support/stories/repairing.ts";
import { branchOf, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

/** GitHub limits the board's installation for an hour. */
async function limit({ db, owner }: TestBoard): Promise<void> {
  const { id } = world.forge.control.installations().find(({ account }) => account === owner) ?? {};
  await createForgeLimits(db).record(String(id), { seconds: 3_600, byWrite: false });
}
async function hourPasses({ db }: TestBoard): Promise<void> {
  await db("forge_limits").delete();
  await runDeferredJobs(world);
}

/** The next push starts at a head that Trunkline does not know, so it must ask GitHub. */
async function pushUnnoticed(board: TestBoard, branch: string): Promise<void> {
  const drop = { match: { event: "push" }, fault: { kind: "drop" }, times: 1 } as const;
  world.forge.control.webhooks.add(drop);
  await writeFile(board, "web", branch, "lost.txt", "lost\n");
  await world.forge.waitUntilIdle();
}

interface Job {
  readonly attempts: number;
  readonly waitsMinutes: number;
}
const jobsOf = ({ db }: TestBoard, task: string): Promise<Job[]> =>
  db("graphile_worker.jobs")
    .where({ task_identifier: task })
    .whereNull("locked_at")
    .select("attempts", db.raw(`floor(extract(epoch from run_at - now()) / 60)::int as "waitsMinutes"`));

const waitingJobs = (board: TestBoard, task: string): Promise<Job[]> =>
  eventually(
    () => jobsOf(board, task),
    (jobs) => jobs.some(({ waitsMinutes }) => waitsMinutes > 50),
  );

// Fault: C4
// Fault: C5
describe("while GitHub limits an installation", () => {
  it("a webhook waits for the end of the limit and uses up no attempt", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    await world.forge.waitUntilIdle();
    await pushUnnoticed(board, await branchOf(board, number));
    await limit(board);
    await writeFile(board, "web", await branchOf(board, number), "hello.txt", "hello\n");
    expect(await waitingJobs(board, "process-lane")).toEqual([{ attempts: 0, waitsMinutes: 59 }]);
    expect(await board.db("deliveries").where({ state: "waiting" }).max("attempts")).toEqual([{ max: 0 }]);
    await hourPasses(board);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  });

  it("a job of the timetable waits for the end of the limit and uses up no attempt", async () => {
    const board = await world.board();
    await limit(board);
    await addJob(board.db, "sync-installations", {});
    expect(await waitingJobs(board, "sync-installations")).toEqual([{ attempts: 0, waitsMinutes: 59 }]);
    await hourPasses(board);
    await eventually(
      () => jobsOf(board, "sync-installations"),
      ({ length }) => length === 0,
    );
  });

  it("an unfinished move is not resumed until the limit ends", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await limit(board);
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(503);
    await resumeMovesAfter(world, board);
    const moves = board
      .db("operations")
      .where({ workspace_id: board.workspaceId })
      .select("generation", "state");
    expect(await moves).toEqual([{ generation: 1, state: "running" }]);
    await hourPasses(board);
    await resumeMovesAfter(world, board);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages["In progress"]);
  });
});
