import type { RepositoryRef } from "../forge/forge.ts";
import { rows, type Db } from "./connect.ts";

/** The repositories in which a pick has ended, well or not, within the last two days. */
export async function listPickedRepositories(db: Db): Promise<RepositoryRef[]> {
  const found = await rows<{ ref: RepositoryRef }>(
    db,
    `select json_build_object('installationId', o.installation_id, 'forgeId', r.forge_id, 'fullName', r.full_name) as ref
       from repositories r
       join organizations o on o.id = r.organization_id and o.installation_id is not null and not o.suspended
      where r.connected and r.id in (
        select b.repository_id from release_actions a join release_branches b on b.release_id = a.release_id
         where a.kind = 'pick' and a.state <> 'running' and a.updated_at > now() - interval '2 days')
      order by r.id`,
  );
  return found.map(({ ref }) => ref);
}

/** Which of these actions are under way. */
export async function listRunning(db: Db, actionIds: readonly string[]): Promise<Set<string>> {
  const found = await rows<{ id: string }>(
    db,
    "select id from release_actions where id = any(cast(:actionIds as uuid[])) and state = 'running'",
    { actionIds: [...actionIds] },
  );
  return new Set(found.map(({ id }) => id));
}
