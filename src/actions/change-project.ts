import { notFound } from "../errors.ts";
import {
  holdProjects,
  listProjects,
  readProject,
  updateProject,
  type Project,
  type ProjectChanges,
} from "../store/cards/projects.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import { requireFreeSlug } from "./create-project.ts";

/** Sets the fields that are given; a new name leaves the slug as it is. Answers with the whole project. */
export async function changeProject(
  write: Write,
  project: Project,
  changes: ProjectChanges,
): Promise<StoredAnswer> {
  const { trx, workspaceId } = write;
  await holdProjects(trx, workspaceId);
  if (changes.slug !== undefined) {
    const all = await listProjects(trx, workspaceId);
    requireFreeSlug(
      changes.slug,
      all.filter(({ id }) => id !== project.id),
    );
  }
  await updateProject(trx, project.id, changes);
  const changed = await readProject(trx, workspaceId, project.id);
  if (!changed) throw notFound("There is no project with this id on this board.");
  return write.answer(changed);
}
