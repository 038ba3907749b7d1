import { invalid, notFound, requireFound } from "../errors.ts";
import type { Db } from "../store/connect.ts";
import { findProject, listProjectsWithFlow, type Project } from "../store/projects.ts";

/**
 * The project a call is about: the one it names, or the board's only one. Throws `invalid` when several could be meant, `not_found` for
 * one that is not this board's.
 */
export async function projectOf(
  db: Db,
  workspaceId: string,
  projectId: string | undefined,
): Promise<Project> {
  if (projectId !== undefined) {
    return requireFound(await findProject(db, workspaceId, projectId), "project");
  }
  const projects = await listProjectsWithFlow(db, workspaceId);
  const [only] = projects;
  if (!only) throw notFound("This board has no project.");
  if (projects.length > 1) {
    const known = projects.map((project) => `${project.id} (${project.name})`).join(", ");
    throw invalid(`This board holds several projects, so projectId is required: ${known}.`);
  }
  return only;
}
