/** The calls that the repair jobs need in an hour without any fault. */
import { expect, it } from "@jest/globals";
import type { JobHelpers } from "graphile-worker";
import { createTasks } from "../../src/jobs/tasks.ts";
import { updateRefs } from "../../sandbox/forge/git/refs.ts";
import { settled } from "../support/database/database-content.ts";
import { openCard } from "../support/stories/open-card.ts";
import { pullOf } from "../support/stories/repairing.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { TIMETABLE } from "../../src/store/jobs.ts";

const OPEN = 200;
/** The number in the goal. Only reconciliation grows with it, by one call for 25 pull requests. */
const OPEN_IN_GOAL = 1_000;
/** GitHub's limit for an installation. */
const CALLS_PER_HOUR = 5_000;

const world = useWorld();

/** Copies a card with an open pull request, in the database and on the forge. */
async function copyCards(board: TestBoard): Promise<void> {
  const { number, branchName, heads } = await openCard(world, board);
  await settled(world);
  const { state, git } = world.forge.context;
  const repository = world.forge.repository(`${board.owner}/web`);
  const first = state.pullRequests.inGroup(repository.id).find((pull) => pull.headRef === branchName);
  if (!first) throw new Error("the card has no pull request");
  const copies = Array.from({ length: OPEN - 1 }, (_, at) => ({
    at: at + 1,
    headRef: `${branchName}-${at + 2}`,
  }));
  const after = heads["web"] ?? "";
  await updateRefs(
    git.repository(repository.id),
    copies.map(({ headRef }) => ({ name: `refs/heads/${headRef}`, before: null, after })),
  );
  for (const { at, headRef } of copies) {
    const ids = { id: state.newId(), issueId: state.newId() };
    state.pullRequests.save({ ...first, ...ids, number: first.number + at, headRef });
  }
  // The commit was made in Git, without a webhook.
  await board.db("card_repositories").where({ branch_name: branchName }).update({ head_sha: after });
  await board.db.raw(
    `with copied as (
       insert into cards (id, workspace_id, project_id, number, title, stage_id, rank, created_by)
       select gen_random_uuid(), workspace_id, project_id, number + n - 1, title, stage_id, rank || lpad(n::text, 6, '0') || 'V', created_by
         from cards, generate_series(2, :open) n where workspace_id = :workspaceId and number = :number
       returning id, number - :number + 1 as n),
     linked as (
       insert into card_repositories (card_id, repository_id, project_id, branch_name, head_sha, changed_at)
       select copied.id, cr.repository_id, cr.project_id, cr.branch_name || '-' || n, cr.head_sha, now() - interval '1 day'
         from copied, card_repositories cr join cards c on c.id = cr.card_id
        where c.workspace_id = :workspaceId and c.number = :number)
     insert into pull_requests (repository_id, number, card_id, node_id, target_branch, state, head_sha, changed_at)
     select p.repository_id, p.number + n - 1, copied.id, p.node_id || n, p.target_branch, p.state, p.head_sha, now() - interval '1 day'
       from copied, pull_requests p join cards c on c.id = p.card_id
      where c.workspace_id = :workspaceId and c.number = :number`,
    { open: OPEN, number, workspaceId: board.workspaceId },
  );
  const changed = { changed_at: board.db.raw("now() - interval '1 day'") };
  await board.db("card_repositories").update(changed);
  await board
    .db("pull_requests")
    .where({ number: await pullOf(board, number) })
    .update(changed);
}

/** The number of runs of each job in an hour. */
const timetable = TIMETABLE.trim()
  .split("\n")
  .map((line) => {
    const [minutes = "", , , , , task = ""] = line.split(" ");
    const every = /^\*\/(\d+)$/.exec(minutes)?.[1];
    return { task, times: every === undefined ? 1 : 60 / Number(every) };
  });

it("repair jobs need less than 2 % of GitHub's calls with a thousand open pull requests", async () => {
  const board = await world.board();
  await copyCards(board);
  // So many test merges would take minutes in the sandbox, and their results are not used here.
  world.forge.settings.mergeabilityDelay = OPEN;
  const { repairs: tasks } = createTasks(world.service.deps, {
    deliveryDays: 7,
    historyDays: 90,
    auditDays: 400,
  });
  const calls: Record<string, number> = {};
  for (const { task, times } of timetable) {
    world.forge.requests.reset();
    for (let time = 0; time < times; time++) await tasks[task]?.({}, {} as JobHelpers);
    await settled(world);
    calls[task] = world.forge.requests.count(({ by, counted }) => counted && by !== null);
  }
  expect(calls["reconcile"]).toBe(OPEN / 25);
  const others = Object.entries(calls).filter(([task]) => task !== "reconcile");
  const all = others.reduce((sum, [, count]) => sum + count, OPEN_IN_GOAL / 25);
  expect([calls, all < 0.02 * CALLS_PER_HOUR]).toEqual([calls, true]);
  const { body } = await board.api.get<unknown[]>("/v1/inbox");
  expect(body).toEqual([]);
});
