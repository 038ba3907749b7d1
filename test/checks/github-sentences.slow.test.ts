/** What GitHub says when it refuses a merge, and what a move makes of it. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { reportStatus } from "../../sandbox/forge/actions/report-status.ts";
import { eventually } from "../support/api.ts";
import { openCard } from "../support/stories/open-card.ts";
import { settled } from "../support/database/database-content.ts";
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
});
afterEach(() => {
  world.forge.control.faults.clear();
  world.forge.control.limits.clear();
});

const MERGE = "/repositories/*/pulls/*/merge-async";
const respond = (path: string, status: number, message: string, times = 1, headers = {}) =>
  world.forge.control.faults.add({
    match: { method: path === MERGE ? "PUT" : "POST", path },
    fault: { kind: "response", status, body: { message }, headers },
    times,
  });
const merge = () => board.api.move(number, board.stages.Done);
const setRuleset = (rules: Parameters<typeof world.forge.webUi.setRuleset>[3]) =>
  world.forge.webUi.setRuleset(`${board.owner}/web`, "main", "main", rules);

describe("a validation of GitHub's own that times out", () => {
  it.each([
    [403, "unable to determine if workflow can be created or updated due to timeout"],
    [422, "timed out validating the merge, please try again"],
  ])("is repeated: %d %s", async (status, message) => {
    respond(MERGE, status, message);
    expect((await merge()).status).toBe(200);
  });

  it("is a 503 with Retry-After if it goes on, and refuses nothing", async () => {
    respond(MERGE, 422, "timed out validating the merge, please try again", 20);
    const response = await merge();
    expect([response.status, response.headers.get("retry-after")]).toEqual([
      503,
      expect.stringMatching(/^\d+$/),
    ]);
    world.forge.control.faults.clear();
    expect((await board.api.readCard(number)).blocked).toBe(null);
    expect((await eventually(merge, ({ status }) => status === 200)).status).toBe(200);
  });
});

describe("a write that was submitted too quickly", () => {
  it("is sent again when the limit has ended", async () => {
    const { api, stages, owner } = board;
    const other = await api.card();
    respond("/repositories/*/pulls", 422, "was submitted too quickly", 1, { "retry-after": "1" });
    await api.move(other.number, stages["In progress"]);
    const branch = (await api.readCard(other.number)).repositories[0]?.branchName ?? "";
    const file = { message: "Work", branch, content: "aGVsbG8K" };
    await board.person("ada", "PUT", `/repos/${owner}/web/contents/other.txt`, file);
    const pull = await eventually(
      async () => (await api.readCard(other.number)).repositories[0]?.prState,
      (state) => state === "draft",
    );
    expect(pull).toBe("draft");
  });
});

describe("a refusal in words that Trunkline does not know", () => {
  it("is at least protected if GitHub shows the pull request as blocked", async () => {
    setRuleset({
      requiredReviews: { count: 1, requiresLastPushApproval: false, requiresResolvedThreads: false },
    });
    respond(MERGE, 405, "A sentence that nobody knows");
    const { body } = await merge();
    expect(["protected", "review_required"]).toContain(Object(body).blocked.reason);
  });

  it.each([
    [
      "Waiting for Code Scanning results. Code Scanning may not be configured for the target branch.",
      "checks_pending",
      "code_scanning",
    ],
    ["CodeQL has detected 2 alerts blocking this code from being merged.", "checks_failing", "code_scanning"],
    ["All comments must be resolved.", "review_required", "conversations"],
    [
      "New changes require approval from someone other than the last pusher",
      "review_required",
      "last_push_approval",
    ],
  ])("%s has the reason %s and names the rule", async (message, reason, rule) => {
    respond(MERGE, 405, message);
    expect(await merge()).toMatchObject({
      status: 409,
      body: { blocked: { reason, message, reasons: [{ details: { rule } }] } },
    });
  });
});

describe("a required check of one App", () => {
  it("is met by a commit status, with which the App reports", async () => {
    const [app] = world.forge.context.state.apps.all();
    setRuleset({ requiredChecks: [{ context: "ci", appId: app?.id ?? 0 }] });
    const { context } = world.forge;
    const repository = world.forge.repository(`${board.owner}/web`);
    await board.api.move(number, board.stages["In review"]);
    const status = { sha, context: "ci", state: "success", description: null, targetUrl: null } as const;
    await reportStatus(context, repository, context.state.accounts.need(app?.botId ?? 0), status);
    await settled(world);
    const armed = await board.api.post(`/v1/cards/${number}/move`, {
      statusId: board.stages.Done,
      index: 0,
      whenReady: {},
    });
    expect(armed.status).toBe(200);
  });
});
