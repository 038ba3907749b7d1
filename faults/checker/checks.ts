import { checksState } from "../../src/flow/checks.ts";
import { outcomesOf } from "../../sandbox/forge/queries/commit-outcomes.ts";
import { rows } from "../../src/store/db/connect.ts";
import { CHECKS_STATE } from "../../src/store/cards/shown-card.ts";
import type { Invariant } from "./subject.ts";

// Invariant: I12 Branches, pull requests and checks match GitHub after repair
/** I12, of checks: what a card with an open pull request says of them is what the forge has at its commit. Others are not compared by the service. */
export const checksAreAsReported: Invariant = async ({ world, known }) => {
  const found: string[] = [];
  for (const { board } of known) {
    const heads = await rows<{ card: number; forgeId: number; sha: string; state: string | null }>(
      world.deps.db,
      `select c.number as card, r.forge_id as "forgeId", l.head_sha as sha,
              (select ${CHECKS_STATE} from check_reports k where k.repository_id = r.id and k.sha = l.head_sha) as state
         from card_repositories l join repositories r on r.id = l.repository_id
         join cards c on c.id = l.card_id and c.workspace_id = :workspaceId and c.deleted_at is null
         join stages s on s.id = c.stage_id
        where s.kind <> 'done'
          and exists (select 1 from pull_requests p where p.card_id = c.id and p.repository_id = r.id
                         and p.state in ('draft', 'open') and p.head_sha = l.head_sha)`,
      { workspaceId: board.workspaceId },
    );
    for (const { card, forgeId, sha, state } of heads) {
      const there = checksState(outcomesOf(world.forge.context, forgeId, sha).map(({ outcome }) => outcome));
      if (there !== state)
        found.push(`card ${card}: the checks of ${sha} are ${there} on the forge, and ${state} here`);
    }
  }
  return found;
};
