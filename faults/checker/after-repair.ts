import { checksState } from "../../src/flow/checks.ts";
import { listRefs } from "../../sandbox/forge/git/refs.ts";
import { outcomesOf } from "../../sandbox/forge/queries/commit-outcomes.ts";
import { CHECKS_STATE } from "../../src/store/cards/card-columns.ts";
import { rows } from "../../src/store/db/connect.ts";
import { waitUntilIdle } from "../idle.ts";
import type { Invariant } from "./subject.ts";

/** Long enough for a machine that is busy with other seeds. */
const IDLE_TIMEOUT_SECONDS = 20;

// Invariant: I8 No move, job, delivery or temporary branch is left over
/** No unfinished work, parked delivery, failed job or temporary branch is left. */
export const nothingIsLeftOver: Invariant = async ({ world }) => {
  const { db } = world.deps;
  const { state, git } = world.forge.context;
  const found: string[] = [];
  // A scheduled job may have just started.
  const left = await waitUntilIdle(world, IDLE_TIMEOUT_SECONDS);
  if (left !== null) found.push(`unfinished work: ${left}`);
  for (const { id, name } of state.repositories.all()) {
    const refs = await listRefs(git.repository(id), "refs/heads/trunkline/");
    found.push(...refs.map((ref) => `${name} still has ${ref.name}`));
  }
  // A job that another with the same key has replaced has no key and is not retried.
  const parked = await rows<{ what: string }>(
    db,
    `select 'the delivery ' || guid || ' is parked: ' || coalesce(error, '') as what from deliveries where state = 'parked'
     union all select 'the job ' || task_identifier || ' has failed permanently: ' || coalesce(last_error, '') from graphile_worker.jobs where attempts >= max_attempts and key is not null`,
  );
  return [...found, ...parked.map(({ what }) => what)];
};

// Invariant: I12 Branches, pull requests and checks match GitHub after repair
/** The checks of a card with an open pull request match the forge. Repair compares no others. */
export const checksMatchForge: Invariant = async ({ world, known }) => {
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
      const onForge = checksState(
        outcomesOf(world.forge.context, forgeId, sha).map(({ outcome }) => outcome),
      );
      if (onForge !== state)
        found.push(
          `card ${card}: the checks of ${sha} are ${onForge} on the forge, but ${state} in Trunkline`,
        );
    }
  }
  return found;
};
