import { conflict, invalid, notFound } from "../errors.ts";
import { slugOf } from "../flow/branch-name.ts";
import { DEFAULT_FLOW } from "../flow/flow.ts";
import { insertProject } from "../store/cards/projects.ts";
import { unlessTaken, transaction } from "../store/db/transaction.ts";
import { findOrganization, insertWorkspace } from "../store/tenancy/workspaces.ts";
import type { Deps } from "./deps.ts";
import { freshFlow } from "./fresh-flow.ts";

const MAX_NAME = 80;

export interface CreatedWorkspace {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly organizationId: string;
  readonly organizationSlug: string;
  /** Its first project. */
  readonly projectId: string;
}

/** A name as the command line gives it, without spaces around it; throws where it is empty or too long. */
export function requireName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > MAX_NAME) throw invalid(`A name has 1 to ${MAX_NAME} characters.`);
  return trimmed;
}

/** Makes an organization one more board, with a first project on the default flow. */
export async function createWorkspace(
  deps: Pick<Deps, "db" | "newId">,
  order: { readonly organization: string; readonly name: string },
): Promise<CreatedWorkspace> {
  const name = requireName(order.name);
  const organization = await findOrganization(deps.db, order.organization);
  if (!organization) {
    throw notFound(
      `There is no organization ${order.organization}: install the App on that account, and it is one.`,
    );
  }
  const [id, projectId] = [deps.newId(), deps.newId()];
  const slug = slugOf(name) || "board";
  await transaction(deps.db, async (trx) => {
    const workspace = { id, organizationId: organization.id, name, slug };
    if (!(await unlessTaken(insertWorkspace(trx, workspace)))) {
      throw conflict(`${organization.slug} has a workspace called ${slug} already. Choose another name.`);
    }
    const flow = freshFlow(deps, DEFAULT_FLOW);
    await insertProject(trx, { id: projectId, workspaceId: id, name, slug, flow });
  });
  const { id: organizationId, slug: organizationSlug } = organization;
  return { id, name, slug, organizationId, organizationSlug, projectId };
}
