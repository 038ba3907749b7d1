import { resumeOperation } from "../../../src/actions/resume-operation.ts";
import { listOrphans } from "../../../src/store/ops/operations.ts";
import { reconcile } from "../../../src/actions/reconcile/reconcile.ts";
import { eventually, type TimelineEvent } from "../api.ts";
import { allProcessed } from "../forge/deliveries.ts";
import type { TestBoard, TestWorld } from "../world.ts";

/** Reconciles everything immediately, recent changes included, and waits for the resulting work. */
export async function compareWithForge(world: TestWorld): Promise<void> {
  await world.forge.waitUntilIdle();
  await reconcile(world.service.deps, { minAgeMs: 0, pauseMs: 0 });
  await allProcessed(world);
}

/** Resumes the moves of a board as if they were unchanged for some minutes. */
export async function resumeMovesAfter(
  { service }: TestWorld,
  { db, workspaceId }: TestBoard,
  minutes = 6,
): Promise<void> {
  const updated_at = db.raw(`now() - interval '${minutes} minutes'`);
  await db("operations").where({ workspace_id: workspaceId }).update({ updated_at });
  const orphans = await listOrphans(service.deps.db, 1_000);
  for (const orphan of orphans)
    if (orphan.workspaceId === workspaceId) await resumeOperation(service.deps, orphan.id);
}

/** Waits until a move of the board is running. */
export const untilMoving = ({ db, workspaceId }: TestBoard): Promise<unknown[]> =>
  eventually(
    () => db("operations").where({ state: "running", workspace_id: workspaceId }),
    ({ length }) => length > 0,
  );

/** Reports a commit status, as ada. */
export const reportStatus = (
  board: TestBoard,
  sha: string | null | undefined,
  state: string,
  repository = "web",
) =>
  board.person("ada", "POST", `/repos/${board.owner}/${repository}/statuses/${sha}`, {
    state,
    context: "ci",
  });

/** Protects a branch of `web`, also against administrators; returns GitHub's response. */
export const protect = (board: TestBoard, rules: object, branch = "main") =>
  board.person("ada", "PUT", `/repos/${board.owner}/web/branches/${encodeURIComponent(branch)}/protection`, {
    required_status_checks: null,
    enforce_admins: true,
    required_pull_request_reviews: null,
    restrictions: null,
    ...rules,
  });

/** Loses all later webhooks, without an entry in GitHub's log. */
export const loseWebhooks = (world: TestWorld) =>
  world.forge.control.webhooks.add({ fault: { kind: "drop", unlogged: true } });
/** Delays all later webhooks. */
export const holdWebhooks = (world: TestWorld) =>
  world.forge.control.webhooks.add({ fault: { kind: "hold" } });

export async function releaseWebhooks(world: TestWorld, order: "kept" | "reversed" = "kept"): Promise<void> {
  world.forge.control.webhooks.clear();
  await world.forge.control.webhooks.release(order);
  await allProcessed(world);
}

/** Pushes a commit by ada to a branch. */
export async function push(
  board: TestBoard,
  branch: string,
  file = "more.txt",
  ...args: string[]
): Promise<string> {
  const clone = await board.clone();
  await clone.checkoutKnown(branch);
  const sha = await clone.commit(`Add ${file}`, { [file]: `${file}\n` });
  await clone.push(...args);
  await clone.remove();
  return sha;
}

export const pullOf = async (board: TestBoard, number: number): Promise<number> =>
  (await board.api.readCard(number)).repositories[0]?.prNumber ?? 0;
export const setPullState = (board: TestBoard, pull: number, state: "open" | "closed") =>
  board.person("grace", "PATCH", `/repos/${board.owner}/web/pulls/${pull}`, { state });
export const merge = (board: TestBoard, pull: number) =>
  board.person("grace", "PUT", `/repos/${board.owner}/web/pulls/${pull}/merge`, {});
export const eventsOf = async (
  board: TestBoard,
  number: number,
  ...kinds: string[]
): Promise<TimelineEvent[]> => (await board.api.timeline(number)).filter(({ kind }) => kinds.includes(kind));
/** Comments on a pull request as ada and returns the comment's id. */
export const commentOnPull = async (board: TestBoard, pull: number, body: string): Promise<number> =>
  Number(
    (await board.person("ada", "POST", `/repos/${board.owner}/web/issues/${pull}/comments`, { body })).body[
      "id"
    ],
  );
export const editPullComment = (board: TestBoard, commentId: number, body: string) =>
  board.person("ada", "PATCH", `/repos/${board.owner}/web/issues/comments/${commentId}`, { body });
/** Reviews a pull request as ada and returns the review's id. */
export const review = async (
  board: TestBoard,
  pull: number,
  event: "APPROVE" | "REQUEST_CHANGES" | "COMMENT",
): Promise<number> =>
  Number(
    (
      await board.person("ada", "POST", `/repos/${board.owner}/web/pulls/${pull}/reviews`, {
        event,
        body: "Read",
      })
    ).body["id"],
  );
