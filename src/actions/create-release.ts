import { notFound } from "../errors.ts";
import { slugOf } from "../flow/branch-name.ts";
import { freeSlug } from "../flow/page-slug.ts";
import { lockProject, type Project } from "../store/cards/projects.ts";
import { insertRelease, listReleaseSlugs, readRelease } from "../store/releases/releases.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import type { Deps } from "./deps.ts";

/** Adds an empty release to a project. Its slug, which names its branches, is no other release's of the project. Answers 201 with it. */
export async function createRelease(
  deps: Deps,
  write: Write,
  project: Project,
  name: string,
): Promise<StoredAnswer> {
  const id = deps.newId();
  const { trx } = write;
  if (!(await lockProject(trx, project.id, "no key update"))) {
    throw notFound("There is no project with this id on this board.");
  }
  const taken = await listReleaseSlugs(trx, project.id);
  const slug = freeSlug(slugOf(name) || "release", (candidate) => taken.has(candidate));
  await insertRelease(trx, { id, projectId: project.id, name, slug, createdBy: write.userId });
  return write.answer(await readRelease(trx, id), 201);
}
