import { upsertInboxItem } from "../store/inbox/stored-items.ts";
import { recordReport, type Monitor } from "../store/ops/monitors.ts";
import type { Deps } from "./deps.ts";
import { transaction } from "../store/db/transaction.ts";

/** A monitor's report on a group of production errors. */
export interface ErrorReport {
  /** Identifies the group: a later report on it updates the same inbox item. */
  readonly fingerprint: string;
  readonly title: string;
  /** A web page about the group, if the monitor gave one. Trunkline never fetches it. */
  readonly url: string | null;
  /** Identifies the report, if the monitor gave an id: a repeated report is ignored. */
  readonly reportId: string | null;
}

/** Adds a reported error to the inbox of the monitor's project. False for a repeated report. */
export async function reportError(deps: Deps, monitor: Monitor, report: ErrorReport): Promise<boolean> {
  const { fingerprint, title, url, reportId } = report;
  return transaction(deps.db, async (trx) => {
    if (reportId !== null && !(await recordReport(trx, monitor.id, reportId))) return false;
    await upsertInboxItem(trx, {
      workspaceId: monitor.workspaceId,
      projectId: monitor.projectId,
      cardId: null,
      repositoryId: null,
      kind: "error_reported",
      naturalKey: `${monitor.id}:${fingerprint}`,
      detail: title,
      data: { monitorId: monitor.id, monitorName: monitor.name, fingerprint, title, url },
    });
    return true;
  });
}
