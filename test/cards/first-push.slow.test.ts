/** The draft pull request that is opened after the first push. */
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { deliver } from "../support/forge/deliveries.ts";
import { callsOf } from "../support/forge/count-calls.ts";
import { settled } from "../support/database/database-content.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { headOf } from "../support/stories/merged-card.ts";
import { releaseWebhooks, eventsOf } from "../support/stories/repairing.ts";
import { branchOf, loginOf, pushTo } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
beforeAll(async () => {
  await world.service.deps.forge.identity();
});
afterEach(() => releaseWebhooks(world));
afterEach(() => leaveConsistent(world));

async function startedCard(): Promise<{ board: TestBoard; number: number; branch: string }> {
  const board = await world.board();
  const { number } = await board.api.card();
  await board.api.move(number, board.stages["In progress"]);
  const branch = await branchOf(board, number);
  await settled(world);
  return { board, number, branch };
}

const openPullRequest = (board: TestBoard, head: string) =>
  board.person("grace", "POST", `/repos/${board.owner}/web/pulls`, { title: "Mine", head, base: "main" });

const OPEN_PULL_REQUEST = "POST /repos/{owner}/{repo}/pulls";

describe("a first push", () => {
  it("whose author opens the pull request: it is linked and recorded as theirs", async () => {
    const { board, number, branch } = await startedCard();
    world.forge.control.webhooks.add({ match: { event: "pull_request" }, fault: { kind: "hold" } });
    const fullName = `${board.owner}/web`;
    const before = await headOf(board, "web", branch);
    const after = await world.forge.commit(fullName, branch, { "a.txt": "a\n" });
    expect((await openPullRequest(board, branch)).status).toBe(201);
    const repository = {
      id: world.forge.repository(fullName).id,
      full_name: fullName,
      default_branch: "main",
    };
    const push = { ref: `refs/heads/${branch}`, before, after, commits: [], repository };
    const calls = await callsOf(world, () => deliver(world, "push", push));
    await releaseWebhooks(world);
    expect(calls).toEqual([OPEN_PULL_REQUEST, "GET /repos/{owner}/{repo}/pulls"]);
    const [item, ...more] = await eventsOf(board, number, "pull_request_opened");
    expect([item?.actor.login, more]).toEqual([loginOf(board, "grace"), []]);
    expect((await board.api.readCard(number)).repositories[0]).toMatchObject({
      prNumber: 1,
      prState: "open",
    });
  });

  it("without commits of its own opens no pull request, the next push does", async () => {
    const { board, number, branch } = await startedCard();
    await pushTo(board, "main", "trunk.txt");
    const clone = await board.clone();
    await clone.git("push", "-q", "--force", "origin", `origin/main:refs/heads/${branch}`);
    await clone.remove();
    await settled(world);
    expect((await board.api.readCard(number)).repositories[0]?.prNumber).toBeNull();
    expect(world.logged()).not.toContain("refused a step");
    await pushTo(board, branch, "a.txt");
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  });
});
