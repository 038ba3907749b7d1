/** Checks of one name that belong to different workflows, events or suites. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createCheckRun } from "../../sandbox/forge/actions/report-check.ts";
import type { CheckConclusion } from "../../sandbox/forge/rows.ts";
import { eventually } from "../support/api.ts";
import { settled } from "../support/database/database-content.ts";
import { openCard } from "../support/stories/open-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let number: number;
let sha: string;
beforeEach(async () => {
  board = await world.board();
  const card = await openCard(world, board, ["web"]);
  number = card.number;
  sha = card.heads["web"] ?? "";
  await board.api.move(number, board.stages["In review"]);
});
afterEach(() => world.forge.control.faults.clear());

const run = (workflow: string, jobs: Record<string, CheckConclusion | null>, event = "push") =>
  world.forge.webUi.runWorkflow(`${board.owner}/web`, { sha, workflow, event, jobs });
const runWithoutJobs = (workflow: string, conclusion: CheckConclusion) =>
  world.forge.webUi.runWorkflow(`${board.owner}/web`, { sha, workflow, event: "push", jobs: {}, conclusion });

interface Run {
  readonly name: string;
  readonly state: string;
  readonly workflow?: { readonly name: string; readonly event: string };
}
const listed = async () => {
  const { body } = await board.api.get<{ runs: Run[] }[]>(`/v1/cards/${number}/checks`);
  return body.flatMap(({ runs }) =>
    runs.map(({ workflow, state }) => [workflow?.name, workflow?.event, state]),
  );
};
const shown = async () => (await board.api.readCard(number)).repositories[0]?.checksState;
const merge = () => board.api.move(number, board.stages.Done);
const forbidActions = () => {
  const [app] = world.forge.context.state.apps.all();
  const { actions: _actions, ...others } = app?.permissions ?? {};
  world.forge.webUi.acceptPermissions(board.owner, others);
};

describe("a red check", () => {
  it("is not hidden by a green one of the same name from another workflow", async () => {
    await run("CI", { build: "failure" });
    await run("Docs", { build: "success" });
    await settled(world);
    expect(await shown()).toBe("failing");
    expect(await listed()).toEqual([
      ["CI", "push", "failing"],
      ["Docs", "push", "passing"],
    ]);
    expect(await merge()).toMatchObject({
      status: 409,
      body: { blocked: { reasons: [{ reason: "checks_failing", details: { failing: ["build"] } }] } },
    });
  });

  it("is not hidden by a green one that another event started", async () => {
    await run("CI", { build: "failure" }, "pull_request");
    await run("CI", { build: "success" }, "push");
    expect(await merge()).toMatchObject({ status: 409, body: { blocked: { reason: "checks_failing" } } });
  });

  it("is not hidden if GitHub does not show the workflow", async () => {
    forbidActions();
    await run("CI", { build: "failure" });
    await run("Docs", { build: "success" });
    expect(await listed()).toEqual([
      [undefined, undefined, "failing"],
      [undefined, undefined, "passing"],
    ]);
    expect(await merge()).toMatchObject({ status: 409, body: { blocked: { reason: "checks_failing" } } });
  });
});

describe("a new run of a series", () => {
  it("replaces the old one, also on the board", async () => {
    await run("CI", { build: "failure", lint: "cancelled" }, "pull_request");
    await settled(world);
    await run("CI", { build: "success", lint: "success" }, "pull_request");
    expect(await eventually(shown, (state) => state === "passing")).toBe("passing");
    expect(await listed()).toEqual([
      ["CI", "pull_request", "passing"],
      ["CI", "pull_request", "passing"],
    ]);
    expect((await merge()).status).toBe(200);
  });

  it("in the same suite replaces the old one without the permission to read workflows", async () => {
    forbidActions();
    const path = `/repos/${board.owner}/web/check-runs`;
    const completed = (conclusion: string) => ({
      name: "build",
      head_sha: sha,
      status: "completed",
      conclusion,
    });
    await board.person("ada", "POST", path, completed("failure"));
    await board.person("ada", "POST", path, completed("success"));
    expect(await eventually(shown, (state) => state === "passing")).toBe("passing");
    expect((await merge()).status).toBe(200);
  });

  it("needs no further call to GitHub for each inspection if workflows are hidden", async () => {
    forbidActions();
    await run("CI", { build: "success" });
    await settled(world);
    world.forge.requests.reset();
    await board.api.get(`/v1/cards/${number}/checks`);
    expect(world.forge.requests.all.map(({ route }) => route)).toEqual(["POST /graphql"]);
  });
});

describe("a check suite without runs", () => {
  it.each([
    ["startup_failure", "checks_failing", "failing", "A workflow could not start"],
    ["failure", "checks_failing", "failing", "A workflow could not start"],
    ["action_required", "checks_pending", "pending", "A workflow waits for a person's approval"],
  ] as const)("that completed as %s refuses a merge as %s", async (conclusion, reason, state, message) => {
    await run("Docs", { docs: "success" });
    await runWithoutJobs("CI", conclusion);
    expect(await eventually(shown, (each) => each === state)).toBe(state);
    const response = await merge();
    expect(response).toMatchObject({ status: 409, body: { blocked: { reason, reasons: [{}] } } });
    const details = state === "failing" ? { failing: ["CI"] } : { pending: ["CI"] };
    expect(response.body).toMatchObject({
      blocked: { message: expect.stringContaining(message), reasons: [{ details }] },
    });
    await run("CI", { build: "success" });
    expect(await eventually(shown, (each) => each === "passing")).toBe("passing");
    expect((await merge()).status).toBe(200);
  });

  it("counts until it has runs, also without the permission to read workflows", async () => {
    forbidActions();
    const { id, appId } = await runWithoutJobs("CI", "action_required");
    expect(await eventually(shown, (each) => each === "pending")).toBe("pending");
    const { context } = world.forge;
    const repository = world.forge.repository(`${board.owner}/web`);
    const ada = context.state.accounts.all().find(({ login }) => login === "ada")!;
    const job = { name: "build", headSha: sha, appId, suiteId: id, status: "completed" } as const;
    await createCheckRun(context, repository, ada, { ...job, conclusion: "success" });
    expect(await eventually(shown, (each) => each === "passing")).toBe("passing");
    expect((await merge()).status).toBe(200);
  });

  it("does not count if its App has not reported", async () => {
    const path = `/repos/${board.owner}/web/check-suites`;
    expect((await board.person("ada", "POST", path, { head_sha: sha })).status).toBe(201);
    await settled(world);
    expect(await shown()).toBe(null);
    expect((await merge()).status).toBe(200);
  });
});

describe("checks that GitHub hides", () => {
  it("refuse a merge and name the permission, and nothing else of the card", async () => {
    await run("CI", { build: "success" });
    await settled(world);
    const [app] = world.forge.context.state.apps.all();
    const { checks: _checks, ...others } = app?.permissions ?? {};
    world.forge.webUi.acceptPermissions(board.owner, others);
    const { id } = world.forge.repository(`${board.owner}/web`);
    world.forge.context.state.repositories.update(id, { private: true });
    expect(await merge()).toMatchObject({
      status: 409,
      body: {
        blocked: {
          reasons: [
            { reason: "not_permitted", details: { permissions: ["checks: read", "statuses: read"] } },
          ],
        },
      },
    });
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    world.forge.webUi.acceptPermissions(board.owner, app?.permissions ?? {});
    expect((await merge()).status).toBe(200);
  });
});
