import { exists, firstRow, rows, type Db } from "../db/connect.ts";
import type { Identified } from "../db/list-window.ts";
import { userJsonSql } from "../tenancy/users.ts";

interface NewMonitor {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly secret: string;
  /** The user who gets the secret; null for the operator. */
  readonly createdBy: string | null;
}

/** False if the project does not exist. */
export async function insertMonitor(db: Db, monitor: NewMonitor): Promise<boolean> {
  return exists(
    db,
    `insert into monitors (id, project_id, name, secret, created_by, known_to)
     select :id, p.id, :name, :secret, cast(:createdBy as uuid), array_remove(array[cast(:createdBy as uuid)], null)
       from projects p where p.id = :projectId returning id`,
    { ...monitor },
  );
}

/** Lists all monitors, or those of one board, the oldest first. */
export async function listMonitors(db: Db, workspaceId: string | null = null): Promise<Identified[]> {
  return rows<Identified>(
    db,
    `select m.id, m.name, m.project_id as "projectId", m.created_at as "createdAt",
            m.stopped_at as "stoppedAt",
            (select ${userJsonSql("p.workspace_id", "u")} from users u where u.id = m.created_by) as "createdBy"
       from monitors m join projects p on p.id = m.project_id
      where cast(:workspaceId as uuid) is null or p.workspace_id = :workspaceId
      order by m.created_at, m.id`,
    { workspaceId },
  );
}

/** Finds a monitor of a board. */
export async function findBoardMonitor(db: Db, workspaceId: string, id: string): Promise<Monitor | null> {
  const monitor = await findMonitor(db, id);
  return monitor?.workspaceId === workspaceId ? monitor : null;
}

export interface Monitor {
  readonly id: string;
  readonly workspaceId: string;
  readonly projectId: string;
  readonly name: string;
  readonly secret: string;
}

export async function findMonitor(db: Db, monitorId: string): Promise<Monitor | null> {
  return firstRow<Monitor>(
    db,
    `select m.id, p.workspace_id as "workspaceId", m.project_id as "projectId", m.name, m.secret
       from monitors m join projects p on p.id = m.project_id where m.id = :monitorId`,
    { monitorId },
  );
}

/** Replaces the secret. `by` gets it; null for the operator. False if the monitor does not exist. */
export async function setMonitorSecret(
  db: Db,
  monitorId: string,
  { secret, by }: { readonly secret: string; readonly by: string | null },
): Promise<boolean> {
  const changes = { secret, known_to: by === null ? [] : [by], stopped_at: null };
  return (await db("monitors").where({ id: monitorId }).update(changes)) > 0;
}

/** False if the monitor does not exist. */
export async function removeMonitor(db: Db, monitorId: string): Promise<boolean> {
  return (await db("monitors").where({ id: monitorId }).delete()) > 0;
}

/** Records the id of a report. False if the monitor has sent it before. */
export async function recordReport(db: Db, monitorId: string, reportId: string): Promise<boolean> {
  return exists(
    db,
    `insert into monitor_reports (monitor_id, report_id) values (:monitorId, :reportId)
     on conflict do nothing returning report_id`,
    { monitorId, reportId },
  );
}
