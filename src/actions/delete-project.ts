import { conflict, notFound } from "../errors.ts";
import { holdProjects, listProjects, lockProject, removeProject, type Project } from "../store/projects.ts";
import { listProjectRepositories } from "../store/repositories.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { requireNoReleaseBranches } from "./release-branches.ts";

/**
 * Deletes a project that holds no cards any more; its releases go with it, its repositories are free for another one. The last project of a board stays. Answers
 * 204.
 */
export async function deleteProject(deps: Deps, caller: Caller, project: Project): Promise<Answered> {
  return deps.db.transaction(async (trx) => {
    await holdProjects(trx, caller.workspaceId);
    await lockProject(trx, project.id, "update");
    const all = await listProjects(trx, caller.workspaceId);
    const current = all.find(({ id }) => id === project.id);
    if (!current) throw notFound("There is no project with this id on this board.");
    const { name, taskCount } = current;
    if (taskCount > 0) {
      const cards = taskCount === 1 ? "1 card" : `${taskCount} cards`;
      throw conflict(`The project ${name} still holds ${cards}. Delete them first.`);
    }
    if (all.length === 1) {
      throw conflict(`${name} is the only project of this board. Create another one before deleting it.`);
    }
    await requireNoReleaseBranches(trx, project.id, await listProjectRepositories(trx, project.id));
    await removeProject(trx, project.id);
    return caller.answer(trx, null, 204);
  });
}
