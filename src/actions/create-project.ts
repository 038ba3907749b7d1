import { conflict } from "../errors.ts";
import { slugOf } from "../flow/branch-name.ts";
import { DEFAULT_FLOW } from "../flow/flow.ts";
import { freeSlug } from "../flow/page-slug.ts";
import {
  holdProjects,
  insertProject,
  listProjects,
  listProjectsWithFlow,
  readProject,
  type Project,
  type ProjectEntry,
} from "../store/cards/projects.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import type { Deps } from "./deps.ts";
import { freshFlow } from "./fresh-flow.ts";

export interface CreateProjectInput {
  readonly name: string;
  /** Made from the name when left out. */
  readonly slug?: string | undefined;
  readonly description?: string | undefined;
}

/** Refuses a slug that another project of the board has. */
export function requireFreeSlug(slug: string, others: readonly ProjectEntry[]): void {
  const holder = others.find((project) => project.slug === slug);
  if (holder) throw conflict(`The project ${holder.name} has the slug ${slug} already. Choose another one.`);
}

/**
 * Adds a project whose flow starts as a copy of another's: of `flowFrom`, or of the board's oldest project. Answers 201 with the project.
 */
export async function createProject(
  deps: Deps,
  write: Write,
  { name, slug, description = "" }: CreateProjectInput,
  flowFrom?: Project,
): Promise<StoredAnswer> {
  const { trx, workspaceId } = write;
  const id = deps.newId();
  await holdProjects(trx, workspaceId);
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
    flow: freshFlow(deps, oldest?.flow ?? DEFAULT_FLOW),
  });
  return write.answer(await readProject(trx, workspaceId, id), 201);
}
