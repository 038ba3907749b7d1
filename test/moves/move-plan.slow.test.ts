import { afterEach, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { databaseContent, settled } from "../support/database/database-content.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { putFlow, readFlow, withStage } from "../support/flows.ts";
import { protect, reportStatus } from "../support/stories/repairing.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { branchOf, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

interface Plan {
  readonly wouldMove: boolean;
  readonly certainty: string;
  readonly steps: readonly Record<string, unknown>[];
  readonly reasons: readonly { readonly reason: string; readonly repository: string }[];
  readonly requiredRole: string;
  readonly heldRole: string;
}

const planOf = (board: TestBoard, number: number, statusId: string, api = board.api) =>
  api.get<Plan & { message: string }>(`/v1/cards/${number}/move-plan?statusId=${statusId}`);

describe("GET /v1/cards/{number}/move-plan", () => {
  it("lists the branch to create and writes nothing to the database or GitHub", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    await world.forge.waitUntilIdle();
    const before = await databaseContent(world.service);
    world.forge.control.calls.reset();
    const plan = await planOf(board, number, board.stages["In progress"]);
    expect(plan).toMatchObject({
      status: 200,
      body: {
        wouldMove: true,
        certainty: "likely",
        steps: [
          {
            action: "create_branch",
            fullName: `${board.owner}/web`,
            branchName: `card/${number}-say-hello`,
            targetBranch: "main",
            prNumber: null,
          },
        ],
        reasons: [],
        requiredRole: "member",
        heldRole: "maintainer",
      },
    });
    await planOf(board, number, board.stages["In review"]);
    await planOf(board, number, board.stages.Done);
    expect(world.forge.control.calls.read().writes).toBe(0);
    expect(await databaseContent(world.service)).toEqual(before);
  });

  it("refuses an unknown stage and names the call that lists every stage, with the backlog", async () => {
    const board = await world.board();
    const { number, statusId } = await board.api.card({ title: "Say hello" });
    const { status, body } = await planOf(board, number, UNKNOWN_ID);
    expect([status, body.message]).toEqual([
      400,
      "This card's flow has no stage with this id. GET /v1/projects/{projectId}/flow lists the stages.",
    ]);
    const flow = await board.api.get<{ stages: { id: string }[] }>(`/v1/projects/${board.projectId}/flow`);
    expect(flow.body.stages.map(({ id }) => id)).toContain(statusId);
  });

  it("lists the steps of the move", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number, branchName } = await openCard(world, board, ["web", "api"]);
    world.forge.control.calls.reset();
    const plan = await planOf(board, number, board.stages.Done);
    expect(world.forge.control.calls.read()).toMatchObject({ total: 1, writes: 0 });
    expect(plan.body).toMatchObject({ wouldMove: true, certainty: "likely", reasons: [] });
    const moved = await board.api.move(number, board.stages.Done);
    expect(plan.body.steps).toEqual(
      moved.body.promoted.map((promotion) => ({ action: "merge", branchName, ...promotion })),
    );
  });

  it("lists the pull request to open before a merge", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    await board.api.move(number, board.stages["To do"]);
    const branch = await branchOf(board, number);
    await writeFile(board, "web", branch, "hello.txt", "hello\n");
    const { body } = await planOf(board, number, board.stages.Done);
    expect(body).toMatchObject({ wouldMove: true, certainty: "unknown", reasons: [] });
    expect(body.steps.map(({ action, prNumber }) => [action, prNumber])).toEqual([
      ["open_pull_request", null],
      ["merge", null],
    ]);
  });

  it("lists all merge blockers of each repository and does not block the card", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number, heads } = await openCard(world, board, ["web", "api"]);
    await world.forge.commit(`${board.owner}/web`, "main", { "hello.txt": "theirs\n" });
    await reportStatus(board, heads["api"], "failure", "api");
    const { body } = await planOf(board, number, board.stages.Done);
    expect(body).toMatchObject({ wouldMove: false, certainty: "certain", steps: [] });
    expect(body.reasons.map(({ reason, repository }) => `${reason} ${repository}`)).toEqual([
      `checks_failing ${board.owner}/api`,
      `conflicts ${board.owner}/web`,
    ]);
    expect((await board.api.readCard(number)).blocked).toBeNull();
  });

  it("has `certainty: unknown` while GitHub computes the mergeability", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.faults.add({ fault: { kind: "mergeability-unknown" } });
    const { body } = await planOf(board, number, board.stages.Done);
    expect(body).toMatchObject({ wouldMove: true, certainty: "unknown", reasons: [] });
  });

  it("is certain of a missing review", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const one = await openCard(world, board, ["web"]);
    const several = await openCard(world, board, ["web", "api"]);
    const reviews = { required_approving_review_count: 1 };
    const rules = { enforce_admins: false, required_pull_request_reviews: reviews };
    expect((await protect(board, rules)).status).toBe(200);
    const single = await planOf(board, one.number, board.stages.Done);
    expect(single.body).toMatchObject({
      wouldMove: false,
      certainty: "certain",
      steps: [],
      reasons: [{ reason: "review_required" }],
    });
    const both = await planOf(board, several.number, board.stages.Done);
    expect(both.body).toMatchObject({
      wouldMove: false,
      certainty: "certain",
      steps: [],
      reasons: [{ reason: "review_required", repository: `${board.owner}/web` }],
    });
  });

  it("asks GitHub once for all stages of the flow, and for calls within a second", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await writeFile(board, "web", await branchOf(board, number), "more.txt", "more\n");
    await settled(world);
    world.forge.control.calls.reset();
    const stages = Object.values(board.stages);
    const plans = await Promise.all(
      Array.from({ length: 100 }, (_, at) => planOf(board, number, stages[at % stages.length] ?? "")),
    );
    expect(plans.map(({ status }) => status)).toEqual(plans.map(() => 200));
    expect(world.forge.control.calls.read().total).toBe(1);
  });

  it("makes no call to GitHub for a stage without Git or the card's own stage", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.calls.reset();
    for (const stage of [board.stages["To do"], board.stages["In review"]]) {
      const { body } = await planOf(board, number, stage);
      expect(body).toMatchObject({ wouldMove: true, certainty: "certain", steps: [], reasons: [] });
    }
    expect(world.forge.control.calls.read().total).toBe(0);
  });

  // Contract: Moves: `minRole` applies to moves into a column and new cards in it
  it("has the required role and the caller's role", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await putFlow(board, withStage(await readFlow(board), "Done", { minRole: "maintainer" }));
    const member = await board.as({ role: "member" });
    expect((await planOf(board, number, board.stages.Done, member)).body).toMatchObject({
      wouldMove: false,
      certainty: "certain",
      requiredRole: "maintainer",
      heldRole: "member",
    });
    const viewer = await board.as({ role: "viewer", scopes: ["read"] });
    expect((await planOf(board, number, board.stages["To do"], viewer)).body).toMatchObject({
      wouldMove: false,
      requiredRole: "member",
      heldRole: "viewer",
    });
  });

  it("returns 400 without a stage or with one of another flow, and 404 for a card of another board", async () => {
    const board = await world.board();
    const other = await world.board();
    const { number } = await board.api.card();
    expect((await planOf(board, number, other.stages.Done)).status).toBe(400);
    expect((await planOf(board, number, "Done")).status).toBe(400);
    expect((await board.api.get(`/v1/cards/${number}/move-plan`)).status).toBe(400);
    expect((await planOf(other, number, other.stages.Done)).status).toBe(404);
  });

  it("returns 503 with Retry-After while GitHub is unavailable", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    world.forge.control.faults.add({ fault: { kind: "response", status: 503 } });
    const { status, headers } = await planOf(board, number, board.stages["In progress"]);
    expect(status).toBe(503);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    world.forge.control.reset();
    // A failure is repeated for a second.
    await eventually(
      () => planOf(board, number, board.stages["In progress"]),
      (later) => later.status === 200,
    );
  });
});
