import { columnsOf, column, firstRow, rows, type Db } from "../db/connect.ts";
import type { Identified } from "../db/list-window.ts";

interface Organization {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/** Lists the boards of a user, the oldest first. */
export async function listWorkspacesOfUser(db: Db, userId: string): Promise<Identified[]> {
  return rows<Identified>(
    db,
    `select w.id, w.name, w.slug, o.id as "organizationId", o.slug as "organizationSlug",
            o.name as "organizationName", m.role
       from memberships m
       join workspaces w on w.id = m.workspace_id
       join organizations o on o.id = w.organization_id
      where m.user_id = :userId
      order by w.created_at, w.id`,
    { userId },
  );
}

/** Lists the organizations of a user's boards, each with only the user's boards. */
export async function listOrganizationsOfUser(db: Db, userId: string): Promise<Identified[]> {
  return rows<Identified>(
    db,
    `select o.id, o.name, o.slug, json_agg(w.id order by w.created_at, w.id) as "workspaceIds"
       from memberships m
       join workspaces w on w.id = m.workspace_id
       join organizations o on o.id = w.organization_id
      where m.user_id = :userId
      group by o.id order by o.created_at, o.id`,
    { userId },
  );
}

export async function insertWorkspace(
  db: Db,
  workspace: { id: string; organizationId: string; name: string; slug: string },
): Promise<void> {
  await db("workspaces").insert(columnsOf(workspace));
}

interface WorkspaceEntry {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly organizationSlug: string;
}

/** Lists all boards, the oldest first. */
export async function listWorkspaces(db: Db): Promise<WorkspaceEntry[]> {
  return rows<WorkspaceEntry>(
    db,
    `select w.id, w.name, w.slug, o.id as "organizationId", o.slug as "organizationSlug", o.name as "organizationName"
       from workspaces w join organizations o on o.id = w.organization_id
      order by w.created_at, w.id`,
  );
}

interface WorkspaceHead {
  readonly id: string;
  /** Null while the App is not installed or is suspended. */
  readonly installationId: number | null;
}

export async function findWorkspace(db: Db, workspaceId: string): Promise<WorkspaceHead | null> {
  return firstRow<WorkspaceHead>(
    db,
    `select w.id, case when o.suspended then null else o.installation_id end as "installationId"
       from workspaces w join organizations o on o.id = w.organization_id where w.id = :workspaceId`,
    { workspaceId },
  );
}

/** Slugs are case-insensitive, like GitHub logins. */
export async function findOrganization(db: Db, slug: string): Promise<Organization | null> {
  return firstRow<Organization>(
    db,
    "select id, slug, name from organizations where lower(slug) = lower(:slug)",
    { slug },
  );
}

/** Takes the next card number. Call it last: it locks the board until the transaction ends. */
export async function takeCardNumber(db: Db, workspaceId: string): Promise<number> {
  const taken = await firstRow<{ number: number }>(
    db,
    `update workspaces set next_card_number = next_card_number + 1 where id = :workspaceId
     returning next_card_number - 1 as number`,
    { workspaceId },
  );
  if (!taken) throw new Error(`There is no workspace ${workspaceId}.`);
  return taken.number;
}

/** Lists the ids of an organization's boards, the oldest first. */
export async function listWorkspacesOfOrganization(db: Db, organizationId: string): Promise<string[]> {
  return column<string>(
    db,
    "select id from workspaces where organization_id = :organizationId order by created_at, id",
    { organizationId },
  );
}
