import { describe, expect, it } from "@jest/globals";
import { refreshSnapshots } from "../../src/actions/reconcile/refresh-snapshots.ts";
import { saveSnapshots } from "../../src/store/forge/branch-snapshots.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { openCard } from "../support/stories/open-card.ts";
import { protect, setPullState } from "../support/stories/repairing.ts";
import { pushTo, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

/** What the card shows of its first repository. */
const shown = async ({ api }: TestBoard, number: number) => (await api.readCard(number)).repositories[0];

const refresh = async (): Promise<void> => {
  await allProcessed(world);
  await refreshSnapshots(world.service.deps, { pauseMs: 0 });
};

const UNKNOWN = { reviewState: null, hasConflicts: null, isBehind: null, isInMergeQueue: null };

describe("the facts of Git on a card", () => {
  it("are those of its branch and open pull request", async () => {
    const board = await world.board();
    await protect(board, { required_pull_request_reviews: { required_approving_review_count: 1 } });
    const { number, heads } = await openCard(world, board);
    expect(await shown(board, number)).toMatchObject({ headSha: heads["web"], targetBranch: "main" });
    await refresh();
    expect(await shown(board, number)).toMatchObject({
      reviewState: "review_required",
      hasConflicts: false,
      isBehind: false,
      isInMergeQueue: false,
    });
  });

  it("become unknown with a push to the target, until GitHub is asked again", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await refresh();
    await writeFile(board, "web", "main", "hello.txt", "theirs\n");
    await allProcessed(world);
    expect(await shown(board, number)).toMatchObject({ hasConflicts: null, isBehind: null });
    await refresh();
    expect(await shown(board, number)).toMatchObject({ hasConflicts: true, isBehind: true });
  });

  it("become unknown with a push to the branch", async () => {
    const board = await world.board();
    const { number, branchName } = await openCard(world, board);
    await refresh();
    const headSha = await pushTo(board, branchName, "more.txt");
    await allProcessed(world);
    expect(await shown(board, number)).toMatchObject({ headSha, ...UNKNOWN });
    await refresh();
    expect(await shown(board, number)).toMatchObject({ headSha, hasConflicts: false, isBehind: false });
  });

  it("follow a review", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await refresh();
    await board.person("grace", "POST", `/repos/${board.owner}/web/pulls/1/reviews`, {
      event: "REQUEST_CHANGES",
      body: "Please say goodbye, too",
    });
    await allProcessed(world);
    // The review changes neither tip.
    expect(await shown(board, number)).toMatchObject({ reviewState: null, hasConflicts: false });
    await refresh();
    expect(await shown(board, number)).toMatchObject({ reviewState: "changes_requested" });
  });

  it("are unknown once the pull request is closed", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await refresh();
    await setPullState(board, 1, "closed");
    await allProcessed(world);
    expect(await shown(board, number)).toMatchObject({ prState: "closed", ...UNKNOWN });
  });

  it("are those of the last question, also if an earlier one is answered later", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await refresh();
    const [row] = await board.db("branch_snapshots as s").join("cards as c", "c.id", "s.card_id").where({
      "c.number": number,
      "c.workspace_id": board.workspaceId,
    });
    const late = {
      cardId: row.card_id,
      repositoryId: row.repository_id,
      targetBranch: "main",
      branchName: row.branch_name,
      headSha: row.head_sha,
      targetSha: row.target_sha,
      aheadBy: 1,
      behindBy: 3,
      prNumber: 1,
      mergeable: "conflicting",
      reviewDecision: null,
      isInMergeQueue: false,
    } as const;
    await saveSnapshots(world.service.deps.db, [late], 60_000);
    expect(await shown(board, number)).toMatchObject({ hasConflicts: false, isBehind: false });
  });

  it("are not asked for again while they hold", async () => {
    const board = await world.board();
    await openCard(world, board);
    await refresh();
    world.forge.control.calls.reset();
    await refresh();
    expect(world.forge.control.calls.read().total).toBe(0);
  });
});
