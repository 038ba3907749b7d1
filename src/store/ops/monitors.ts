import { exists, firstRow, rows, type Db } from "../db/connect.ts";

/** What may be told of a monitor: everything but its secret. */
interface MonitorSummary {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly createdAt: Date;
}

interface NewMonitor {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly secret: string;
}

/** Adds a monitor to a project; false when there is no such project. */
export async function insertMonitor(db: Db, monitor: NewMonitor): Promise<boolean> {
  return exists(
    db,
    `insert into monitors (id, project_id, name, secret)
     select :id, p.id, :name, :secret from projects p where p.id = :projectId returning id`,
    { ...monitor },
  );
}

/** The monitors, the oldest first. */
export async function listMonitors(db: Db): Promise<MonitorSummary[]> {
  return rows<MonitorSummary>(
    db,
    `select id, name, project_id as "projectId", created_at as "createdAt" from monitors order by created_at, id`,
  );
}

/** What a report is checked and filed by. */
export interface Monitor {
  readonly id: string;
  readonly workspaceId: string;
  readonly projectId: string;
  readonly name: string;
  readonly secret: string;
}

/** The monitor with this id, or null. */
export async function findMonitor(db: Db, monitorId: string): Promise<Monitor | null> {
  return firstRow<Monitor>(
    db,
    `select m.id, p.workspace_id as "workspaceId", m.project_id as "projectId", m.name, m.secret
       from monitors m join projects p on p.id = m.project_id where m.id = :monitorId`,
    { monitorId },
  );
}

/** Checks a monitor's reports with another secret from now on; false when there is no such monitor. */
export async function setMonitorSecret(db: Db, monitorId: string, secret: string): Promise<boolean> {
  return (await db("monitors").where({ id: monitorId }).update({ secret })) > 0;
}

/** Removes a monitor: its reports are refused from now on. False when there is no such monitor. */
export async function removeMonitor(db: Db, monitorId: string): Promise<boolean> {
  return (await db("monitors").where({ id: monitorId }).delete()) > 0;
}

/** Remembers a report by the name it goes by; false when it is known already. */
export async function rememberReport(db: Db, monitorId: string, reportId: string): Promise<boolean> {
  return exists(
    db,
    `insert into monitor_reports (monitor_id, report_id) values (:monitorId, :reportId)
     on conflict do nothing returning report_id`,
    { monitorId, reportId },
  );
}
