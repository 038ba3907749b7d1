import { randomInt } from "node:crypto";
import type { Db } from "../src/store/db/connect.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";

/**
 * Creates a board whose cards have details: each owns a branch with an open pull request, two checks
 * and a snapshot, a third of them in two repositories; every fifth has a parent, every other one a
 * due date and a comment.
 */
export async function seedDetails(db: Db, cards: number): Promise<BenchBoard> {
  const board = await seedBoard(db, cards, "details");
  const { workspaceId, projectId, userId } = board;
  const forgeId = randomInt(1_000_000, 2_000_000_000);
  const bindings = { workspaceId, projectId, userId, forgeId };
  await db.raw(
    `insert into repositories (id, organization_id, project_id, forge_id, full_name, default_branch)
     select gen_random_uuid(), w.organization_id, :projectId, :forgeId::bigint + n, 'acme/details-' || n || '-' || :forgeId, 'main'
       from workspaces w, generate_series(1, 2) n where w.id = :workspaceId`,
    bindings,
  );
  for (const sql of DETAILS) await db.raw(sql, bindings);
  await db.raw("analyze");
  return board;
}

const BRANCHES = `
  from cards c join repositories r on r.project_id = c.project_id and (r.forge_id % 2 = :forgeId % 2 or c.number % 3 = 0)
 where c.project_id = :projectId`;
const SHA = "encode(sha256((c.number || r.full_name)::bytea), 'hex')::char(40)";

const DETAILS = [
  `insert into card_repositories (card_id, repository_id, project_id, branch_name, head_sha)
   select c.id, r.id, c.project_id, 'card/' || c.number || '-a-card-of-the-bench', ${SHA} ${BRANCHES}`,
  `insert into pull_requests (repository_id, number, card_id, node_id, target_branch, state, head_sha)
   select r.id, c.number, c.id, 'PR', 'main', 'open', ${SHA} ${BRANCHES}`,
  `insert into branch_snapshots (card_id, repository_id, target_branch, asked_at, branch_name, head_sha, target_sha,
                                 behind_by, pr_number, mergeable, review_decision, is_in_merge_queue)
   select c.id, r.id, 'main', now(), 'card/' || c.number || '-a-card-of-the-bench', ${SHA}, repeat('a', 40),
          c.number % 3, c.number, 'mergeable', 'approved', false ${BRANCHES}`,
  `insert into check_reports (repository_id, sha, source, name, forge_id, outcome, branch_names)
   select r.id, ${SHA}, 'status', 'ci-' || n, n, 'passing', array['card/' || c.number || '-a-card-of-the-bench']
     from generate_series(1, 2) n, ${BRANCHES.replace("from", "")}`,
  `insert into timeline_items (id, card_id, type, actor_id, body)
   select gen_random_uuid(), c.id, 'comment', :userId, 'A comment of the bench'
     from cards c where c.project_id = :projectId and c.number % 2 = 0`,
  `update cards c set due_date = case when c.number % 2 = 0 then date '2030-01-02' end,
                      parent_id = case when c.number % 5 = 1
                        then (select p.id from cards p where p.workspace_id = c.workspace_id and p.number = 2) end
    where c.project_id = :projectId`,
];
