import { conflict, requireFound } from "../../errors.ts";
import { freeSlug, slugOf } from "../../flow/names.ts";
import { DEFAULT_FLOW, type Flow, type Stage } from "../../flow/flow.ts";
import type { Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { recordChange } from "../../store/events/feed.ts";
import {
  lockProjectList,
  insertProject,
  listProjects,
  listProjectsWithFlow,
  lockProject,
  readProject,
  removeProject,
  updateProject,
  type Project,
  type ProjectChanges,
  type ProjectEntry,
} from "../../store/cards/projects.ts";
import { listOpenReleaseBranches } from "../../store/releases/release-branches.ts";
import { listProjectRepositories } from "../../store/forge/repositories.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";

interface CreateProjectInput {
  readonly name: string;
  /** Defaults to one made from the name. */
  readonly slug?: string | undefined;
  readonly description?: string | undefined;
}

function requireFreeSlug(slug: string, others: readonly ProjectEntry[]): void {
  const holder = others.find((project) => project.slug === slug);
  if (holder) throw conflict(`The project ${holder.name} has the slug ${slug} already. Choose another one.`);
}

/** Adds a project with a copy of the flow of `flowFrom`, or of the oldest project. Returns 201. */
export async function createProject(
  deps: Deps,
  write: Write,
  { name, slug, description = "" }: CreateProjectInput,
  flowFrom?: Project,
): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  const id = deps.newId();
  await lockProjectList(trx, workspaceId);
  const others = await listProjects(trx, workspaceId);
  if (slug !== undefined) requireFreeSlug(slug, others);
  const taken = new Set(others.map((project) => project.slug));
  const [oldest] = flowFrom ? [flowFrom] : await listProjectsWithFlow(trx, workspaceId);
  await insertProject(trx, {
    id,
    workspaceId,
    name,
    slug: slug ?? freeSlug(slugOf(name) || "project", (candidate) => taken.has(candidate)),
    description,
    flow: copyFlow(deps, oldest?.flow ?? DEFAULT_FLOW),
  });
  await recordChange(trx, write, { kind: "project_changed", data: { from: null, to: { id, name } } });
  return write.respond(await readProject(trx, workspaceId, id), 201);
}

/** Sets the given fields; a new name leaves the slug as it is. Returns the project. */
export async function changeProject(
  write: Write,
  project: Project,
  changes: ProjectChanges,
): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  await lockProjectList(trx, workspaceId);
  if (changes.slug !== undefined) {
    const others = (await listProjects(trx, workspaceId)).filter(({ id }) => id !== project.id);
    requireFreeSlug(changes.slug, others);
  }
  await updateProject(trx, project.id, changes);
  const changed = requireFound(await readProject(trx, workspaceId, project.id), "project");
  const { id, name } = project;
  const data = { from: { id, name }, to: { id, name: changed.name } };
  await recordChange(trx, write, { kind: "project_changed", data });
  return write.respond(changed);
}

/**
 * Deletes a project without cards, and its releases. Its repositories can be added to another
 * project. Returns 204. Throws `conflict` for the last project of a board.
 */
export async function deleteProject(write: Write, project: Project): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  await lockProjectList(trx, workspaceId);
  await lockProject(trx, project.id, "update");
  const all = await listProjects(trx, workspaceId);
  const current = all.find(({ id }) => id === project.id) ?? null;
  const { name, taskCount } = requireFound(current, "project");
  if (taskCount > 0) {
    const cards = taskCount === 1 ? "1 card" : `${taskCount} cards`;
    throw conflict(`The project ${name} still holds ${cards}. Delete them first.`);
  }
  if (all.length === 1) {
    throw conflict(`${name} is the only project of this board. Create another one before deleting it.`);
  }
  await requireNoReleaseBranches(trx, project.id, await listProjectRepositories(trx, project.id));
  await removeProject(trx, project.id);
  const from = { id: project.id, name };
  await recordChange(trx, write, { kind: "project_changed", data: { from, to: null } });
  return write.respond(null, 204);
}

/**
 * Throws `conflict` if an open release has a branch in one of the repositories. The caller has
 * locked the project, so that no release is frozen in the meantime.
 */
export async function requireNoReleaseBranches(
  trx: Trx,
  projectId: string,
  repositories: readonly { readonly id: string; readonly fullName: string }[],
): Promise<void> {
  const names = new Map(repositories.map(({ id, fullName }) => [id, fullName]));
  const [branch] = await listOpenReleaseBranches(trx, projectId, [...names.keys()]);
  if (!branch) return;
  throw conflict(
    `The release ${branch.releaseName} has the branch ${branch.branchName} in ${names.get(branch.repositoryId)}. Unfreeze or complete it first.`,
  );
}

/** A copy of a flow with new stage ids. */
export const copyFlow = (
  deps: Pick<Deps, "newId">,
  flow: Omit<Flow, "stages"> & { readonly stages: readonly Omit<Stage, "id">[] },
): Flow => ({ ...flow, stages: flow.stages.map((stage) => ({ ...stage, id: deps.newId() })) });
