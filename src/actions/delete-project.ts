import { conflict, notFound } from "../errors.ts";
import {
  holdProjects,
  listProjects,
  lockProject,
  removeProject,
  type Project,
} from "../store/cards/projects.ts";
import { listProjectRepositories } from "../store/forge/repositories.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import { requireNoReleaseBranches } from "./release-branches.ts";

/**
 * Deletes a project that holds no cards any more; its releases go with it, its repositories are free for another one. The last project of a board stays. Answers
 * 204.
 */
export async function deleteProject(write: Write, project: Project): Promise<StoredAnswer> {
  const { trx } = write;
  await holdProjects(trx, write.workspaceId);
  await lockProject(trx, project.id, "update");
  const all = await listProjects(trx, write.workspaceId);
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
  return write.answer(null, 204);
}
