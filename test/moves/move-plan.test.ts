import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { leaveConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { writeFile } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

interface Plan {
  readonly wouldMove: boolean;
  readonly certainty: string;
  readonly steps: readonly Record<string, unknown>[];
  readonly reasons: readonly { readonly reason: string; readonly repository: string }[];
  readonly requiredRole: string;
  readonly heldRole: string;
}

const ask = (board: TestBoard, number: number, statusId: string, api = board.api) =>
  api.get<Plan & { message: string }>(`/v1/cards/${number}/move-plan?statusId=${statusId}`);

/** Every table's content but what says that processes and jobs are alive. */
async function everyRow(): Promise<string> {
  const { db } = world.service.deps;
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'instances' order by 1`,
  );
  const texts = rows.map(async ({ name }) => {
    const found = await db.raw<{ rows: { text: string | null }[] }>(
      "select string_agg(t::text, e'\\n' order by t::text) as text from ?? t",
      [name],
    );
    return `${name}: ${found.rows[0]?.text ?? ""}`;
  });
  return (await Promise.all(texts)).join("\n");
}

describe("a move's plan", () => {
  it("of a draft cuts its branch, and leaves no trace here or on the forge", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    await world.forge.settle();
    const before = await everyRow();
    world.forge.control.calls.reset();
    const plan = await ask(board, number, board.stages["In progress"]);
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
    await ask(board, number, board.stages["In review"]);
    await ask(board, number, board.stages.Done);
    expect(world.forge.control.calls.read().writes).toBe(0);
    expect(await everyRow()).toBe(before);
  });

  it("is what the move then does", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number, branchName } = await openCard(world, board, ["web", "api"]);
    world.forge.control.calls.reset();
    const plan = await ask(board, number, board.stages.Done);
    expect(world.forge.control.calls.read()).toMatchObject({ total: 1, writes: 0 });
    expect(plan.body).toMatchObject({ wouldMove: true, certainty: "likely", reasons: [] });
    const moved = await board.api.move(number, board.stages.Done);
    expect(plan.body.steps).toEqual(
      moved.body.promoted.map((promotion) => ({ action: "merge", branchName, ...promotion })),
    );
  });

  it("tells of a merge that comes after a pull request yet to be opened", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    await board.api.move(number, board.stages["To do"]);
    const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
    await writeFile(board, "web", branch, "hello.txt", "hello\n");
    const { body } = await ask(board, number, board.stages.Done);
    expect(body).toMatchObject({ wouldMove: true, certainty: "unknown", reasons: [] });
    expect(body.steps.map(({ action, prNumber }) => [action, prNumber])).toEqual([
      ["open_pull_request", null],
      ["merge", null],
    ]);
  });

  it("names everything in the way, for each repository, and does not block the card", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number, heads } = await openCard(world, board, ["web", "api"]);
    await world.forge.commit(`${board.owner}/web`, "main", { "hello.txt": "theirs\n" });
    await board.person("ada", "POST", `/repos/${board.owner}/api/statuses/${heads["api"]}`, {
      state: "failure",
      context: "ci",
    });
    const { body } = await ask(board, number, board.stages.Done);
    expect(body).toMatchObject({ wouldMove: false, certainty: "certain", steps: [] });
    expect(body.reasons.map(({ reason, repository }) => `${reason} ${repository}`)).toEqual([
      `checks_failing ${board.owner}/api`,
      `conflicts ${board.owner}/web`,
    ]);
    expect((await board.api.readCard(number)).blocked).toBeNull();
  });

  it("says what it does not know while the forge is still working out whether it can merge", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.faults.add({ fault: { kind: "mergeability-unknown" } });
    const { body } = await ask(board, number, board.stages.Done);
    expect(body).toMatchObject({ wouldMove: true, certainty: "unknown", reasons: [] });
  });

  it("leaves a missing review to the forge in one repository, and refuses for it in several", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const one = await openCard(world, board, ["web"]);
    const several = await openCard(world, board, ["web", "api"]);
    const protection = {
      required_status_checks: null,
      enforce_admins: false,
      required_pull_request_reviews: { required_approving_review_count: 1 },
      restrictions: null,
    };
    const path = `/repos/${board.owner}/web/branches/main/protection`;
    expect((await board.person("ada", "PUT", path, protection)).status).toBe(200);
    const single = await ask(board, one.number, board.stages.Done);
    expect(single.body).toMatchObject({
      wouldMove: false,
      certainty: "likely",
      steps: [{ action: "merge" }],
      reasons: [{ reason: "review_required" }],
    });
    const both = await ask(board, several.number, board.stages.Done);
    expect(both.body).toMatchObject({
      wouldMove: false,
      certainty: "certain",
      steps: [],
      reasons: [{ reason: "review_required", repository: `${board.owner}/web` }],
    });
  });

  it("asks nothing of the forge for a stage without Git or the stage it stands in", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.calls.reset();
    for (const stage of [board.stages["To do"], board.stages["In review"]]) {
      const { body } = await ask(board, number, stage);
      expect(body).toMatchObject({ wouldMove: true, certainty: "certain", steps: [], reasons: [] });
    }
    expect(world.forge.control.calls.read().total).toBe(0);
  });

  // Contract: Moves: A column's `minRole` applies to moves into it and new cards in it
  it("tells whose role does not do, and to viewers that a move takes a member", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const flow = await readFlow(board);
    const stages = flow.stages.map((stage) =>
      stage.name === "Done" ? { ...stage, minRole: "maintainer" } : stage,
    );
    await putFlow(board, { ...flow, stages });
    const member = await board.as({ role: "member" });
    expect((await ask(board, number, board.stages.Done, member)).body).toMatchObject({
      wouldMove: false,
      certainty: "certain",
      requiredRole: "maintainer",
      heldRole: "member",
    });
    const viewer = await board.as({ role: "viewer", scopes: ["read"] });
    expect((await ask(board, number, board.stages["To do"], viewer)).body).toMatchObject({
      wouldMove: false,
      requiredRole: "member",
      heldRole: "viewer",
    });
  });

  it("is 400 for a stage of another flow and without one, 404 for another board's card", async () => {
    const board = await world.board();
    const other = await world.board();
    const { number } = await board.api.card();
    expect((await ask(board, number, other.stages.Done)).status).toBe(400);
    expect((await ask(board, number, "Done")).status).toBe(400);
    expect((await board.api.get(`/v1/cards/${number}/move-plan`)).status).toBe(400);
    expect((await ask(other, number, other.stages.Done)).status).toBe(404);
  });

  it("is 503 with Retry-After, and no refusal, when the forge cannot be reached", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    world.forge.control.faults.add({ fault: { kind: "answer", status: 503 } });
    const { status, headers } = await ask(board, number, board.stages["In progress"]);
    expect(status).toBe(503);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    world.forge.control.reset();
    expect((await ask(board, number, board.stages["In progress"])).status).toBe(200);
  });
});
