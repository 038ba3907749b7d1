import { conflict, invalid, notFound } from "../../errors.ts";
import { slugOf } from "../../flow/names.ts";
import { DEFAULT_FLOW } from "../../flow/flow.ts";
import { insertProject } from "../../store/cards/projects.ts";
import { transaction, unlessTaken } from "../../store/db/transaction.ts";
import { findOrganization, insertWorkspace } from "../../store/tenancy/workspaces.ts";
import type { Deps } from "../deps.ts";
import { copyFlow } from "./projects.ts";

const MAX_NAME = 80;

/** Trims the name of a board or monitor. Throws `invalid` for a wrong length. */
export function requireName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > MAX_NAME) throw invalid(`A name has 1 to ${MAX_NAME} characters.`);
  return trimmed;
}

/** Adds a board to an organization, with one project and the default flow. */
export async function createWorkspace(
  deps: Pick<Deps, "db" | "newId">,
  order: { readonly organization: string; readonly name: string },
) {
  const name = requireName(order.name);
  const organization = await findOrganization(deps.db, order.organization);
  if (!organization) {
    throw notFound(
      `There is no organization ${order.organization}. Install the App on that account to add it.`,
    );
  }
  const [id, projectId] = [deps.newId(), deps.newId()];
  const slug = slugOf(name) || "board";
  await transaction(deps.db, async (trx) => {
    const workspace = { id, organizationId: organization.id, name, slug };
    if (!(await unlessTaken(insertWorkspace(trx, workspace)))) {
      throw conflict(`${organization.slug} has a workspace called ${slug} already. Choose another name.`);
    }
    const flow = copyFlow(deps, DEFAULT_FLOW);
    await insertProject(trx, { id: projectId, workspaceId: id, name, slug, flow });
  });
  const { id: organizationId, slug: organizationSlug } = organization;
  return { id, name, slug, organizationId, organizationSlug, projectId };
}
