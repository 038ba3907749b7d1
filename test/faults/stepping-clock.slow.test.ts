import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { eventually, type TimelineEvent } from "../support/api.ts";
import { readClock } from "../../src/store/forge/installations.ts";
import { onForge } from "../support/forge/installations.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardReadyFor, FORGE_WRITES } from "../support/stories/forge-writes.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { shipService, type Shipped, type ShippedProcess } from "../support/processes/shipped-service.ts";
import { readTrunk } from "../support/stories/trunk.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import type { TestBoard } from "../support/world.ts";
import { startSurroundings, type Surroundings } from "./support/surroundings.ts";
import { JOBS } from "../../src/store/jobs.ts";

let surroundings: Surroundings;
let shipped: Shipped;
let service: ShippedProcess;
let dir: string;

/** Sets the difference of the service's clock. */
const step = (ms: number): Promise<void> => writeFile(join(dir, "skew"), String(ms));

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "trunkline-clock-"));
  await step(0);
  [surroundings, shipped] = await Promise.all([startSurroundings(), shipService()]);
  const clock = pathToFileURL(resolve(import.meta.dirname, "../../faults/world/skewed-clock.mjs"));
  service = await shipped.start({
    databaseUrl: surroundings.databaseUrl,
    github: surroundings.github,
    env: { NODE_OPTIONS: `--import ${clock.href}`, CLOCK_SKEW_FILE: join(dir, "skew") },
  });
  surroundings.forge.setWebhookUrl(`${service.baseUrl}${WEBHOOK_PATH}`);
});
beforeEach(() => step(0));
afterAll(async () => {
  await service?.kill();
  await surroundings?.stop();
  await shipped?.remove();
  await rm(dir, { recursive: true, force: true });
});

const HOUR = 3_600_000;
const STEPS: readonly [string, number][] = [
  ["a day back", -24 * HOUR],
  ["ten minutes back", -HOUR / 6],
  ["ten minutes ahead", HOUR / 6],
  ["a day ahead", 24 * HOUR],
];

/** The events that `act` causes have times by correct clocks. GitHub's times are whole seconds. */
async function expectTimes(board: TestBoard, number: number, begun: string): Promise<void> {
  const from = Math.floor(Date.parse(begun) / 1_000) * 1_000;
  const until = Date.parse(await readClock(board.db));
  const wrong = (await board.api.timeline(number)).filter(
    ({ at }: TimelineEvent) => Date.parse(at) < from || Date.parse(at) > until,
  );
  expect(wrong).toEqual([]);
}

// Fault: E12 A clock is wrong or jumps => PostgreSQL's and GitHub's clocks decide
describe.each(STEPS)("a clock that steps %s", (_, ms) => {
  it("during a move does not stop it, and its events have the correct time", async () => {
    const begun = await readClock(surroundings.db);
    const board = await surroundings.board(service.baseUrl);
    const merging = FORGE_WRITES.find(({ doing }) => doing === "merging it")!;
    const number = await cardReadyFor(board, merging);
    const { faults } = surroundings.forge.control;
    const unknown = faults.add({ fault: { kind: "mergeability-unknown" } });
    const key = `stepping-clock-${board.owner}`;
    const move = () => board.api.move(number, board.stages.Done, 0, { key });
    const moving = move();
    await eventually(
      () => Promise.resolve(faults.list()),
      (listed) => listed.some(({ id, hits }) => id === unknown && hits > 0),
    );
    await step(ms);
    const moved = await moving;
    faults.clear();
    expect([moved.status, moved.body.promoted?.length]).toEqual([200, 1]);
    // The key and the lock on the card use the database's clock, so no process takes over the move.
    const again = await move();
    expect([again.headers.get("idempotent-replay"), again.text]).toEqual(["true", moved.text]);
    expect(
      await surroundings
        .db("operations")
        .where({ workspace_id: board.workspaceId })
        .where("generation", ">", 1),
    ).toEqual([]);
    await surroundings.forge.waitUntilIdle();
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => kind === "pull_request_merged")).toHaveLength(1);
    await expectConsistent(surroundings, board);
    await expectTimes(board, number, begun);
  });

  it("before a new token is minted signs with GitHub's clock, and work is done once", async () => {
    const begun = await readClock(surroundings.db);
    const { forge, db } = surroundings;
    const board = await surroundings.board(service.baseUrl);
    const { number } = await cardWithCommit(board, "In progress");
    await forge.waitUntilIdle();
    await step(ms);
    forge.control.revokeTokens(onForge(surroundings, board).installation.id);
    expect((await board.api.move(number, board.stages["In review"])).status).toBe(200);
    // The effect of a lost response is searched from its first attempt, by the database's clock.
    forge.control.faults.add({
      match: { method: "POST", path: "/repositories/*/issues/*/comments" },
      fault: { kind: "response", status: 502, effect: "after" },
      times: 1,
    });
    const untold = forge.control.webhooks.add({ match: { event: "issue_comment" }, fault: { kind: "drop" } });
    const written = await board.api.post(`/v1/cards/${number}/comments`, { body: "Once" });
    expect(written).toMatchObject({ status: 201, body: { mirroredTo: 1 } });
    forge.control.webhooks.remove(untold);
    await eventually(
      () => db("comment_mirrors").whereNull("shown_revision"),
      ({ length }) => length === 0,
    );
    const comments = await board.person("ada", "GET", `/repos/${board.owner}/web/issues/1/comments`);
    expect(comments.body).toHaveLength(1);
    // Changes found by reconciliation without a time from GitHub have the database's time.
    const { number: left } = await board.api.card();
    await board.api.move(left, board.stages["In progress"]);
    await forge.waitUntilIdle();
    const lost = forge.control.webhooks.add({ fault: { kind: "drop", unlogged: true } });
    const branch = (await board.api.readCard(left)).repositories[0]?.branchName ?? "";
    await board.person("ada", "DELETE", `/repos/${board.owner}/web/git/refs/heads/${branch}`);
    await forge.waitUntilIdle();
    forge.control.webhooks.remove(lost);
    await addJob(db, JOBS.reconcile.name, { minAgeMs: 0 });
    await board.api.eventWhen(left, ({ kind }) => kind === "branch_deleted");
    await expectTimes(board, left, begun);
    await expectConsistent(surroundings, board);
    await expectTimes(board, number, begun);
  });

  it("does not change what the trunk report lists", async () => {
    const board = await surroundings.board(service.baseUrl);
    const clone = await board.clone("ada");
    await step(ms);
    for (const date of ["2082-01-01T00:00:00Z", "2001-01-01T00:00:00Z"]) {
      const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
      const as = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
      execFileSync("git", [...as, "commit", "-q", "--allow-empty", "-m", date], { cwd: clone.dir, env });
      await clone.push("origin", "main");
      const { landings } = await eventually(
        () => readTrunk(board.api),
        (report) => report.landings.some(({ title }) => title === date),
      );
      const now = Date.parse(await readClock(board.db));
      expect(landings.filter(({ at }) => Date.parse(at) > now)).toEqual([]);
    }
    await clone.remove();
  });
});
