import { notFound } from "../errors.ts";
import { slugOf } from "../flow/branch-name.ts";
import { freeSlug } from "../flow/page-slug.ts";
import { lockProject, type Project } from "../store/projects.ts";
import { insertRelease, listReleaseSlugs, readRelease } from "../store/releases.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";

/** Adds an empty release to a project. Its slug, which names its branches, is no other release's of the project. Answers 201 with it. */
export async function createRelease(
  deps: Deps,
  caller: Caller,
  project: Project,
  name: string,
): Promise<Answered> {
  const id = deps.newId();
  return deps.db.transaction(async (trx) => {
    if (!(await lockProject(trx, project.id, "no key update"))) {
      throw notFound("There is no project with this id on this board.");
    }
    const taken = await listReleaseSlugs(trx, project.id);
    const slug = freeSlug(slugOf(name) || "release", (candidate) => taken.has(candidate));
    await insertRelease(trx, { id, projectId: project.id, name, slug, createdBy: caller.userId });
    return caller.answer(trx, await readRelease(trx, id), 201);
  });
}
