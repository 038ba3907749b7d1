import type { RepositoryRef } from "../../forge/forge.ts";
import { rows, type Db } from "../db/connect.ts";

/** Notes that a pick is about to have its temporary branch in a repository. */
export async function notePickBranch(db: Db, actionId: string, repositoryId: string): Promise<void> {
  await db("pick_branches")
    .insert({ action_id: actionId, repository_id: repositoryId })
    .onConflict()
    .ignore();
}

/** Says that the temporary branches of these picks are gone from a repository. */
export async function forgetPickBranches(
  db: Db,
  actionIds: readonly string[],
  repositoryId: string,
): Promise<void> {
  await db("pick_branches")
    .where({ repository_id: repositoryId })
    .whereIn("action_id", [...actionIds])
    .delete();
}

/** A repository where picks that have ended may have left their branches. */
export interface PickLeftovers {
  readonly repositoryId: string;
  readonly ref: RepositoryRef;
  readonly actionIds: readonly string[];
}

/** Where picks that have ended, well or not, may have left something. Not told of repositories that may not be asked. */
export async function listPickLeftovers(db: Db): Promise<PickLeftovers[]> {
  return rows<PickLeftovers>(
    db,
    `select r.id as "repositoryId", array_agg(b.action_id) as "actionIds",
            json_build_object('installationId', o.installation_id, 'forgeId', r.forge_id, 'fullName', r.full_name) as ref
       from pick_branches b
       join release_actions a on a.id = b.action_id and a.state <> 'running'
       join repositories r on r.id = b.repository_id and r.connected
       join organizations o on o.id = r.organization_id and o.installation_id is not null and not o.suspended
      group by r.id, o.id order by r.id`,
  );
}
