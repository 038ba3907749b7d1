import { putInboxItem } from "../store/inbox/stored-items.ts";
import { rememberReport, type Monitor } from "../store/ops/monitors.ts";
import type { Deps } from "./deps.ts";
import { transaction } from "../store/db/transaction.ts";

/** What a monitor says of a group of production errors. */
export interface ErrorReport {
  /** Names the group: the same one again updates its item. */
  readonly fingerprint: string;
  readonly title: string;
  /** A web page about it; null where the monitor gave none. It is shown and never fetched. */
  readonly url: string | null;
  /** Names the report itself, where it has a name: repeated, it is one. */
  readonly reportId: string | null;
}

/** Puts a reported error into the inbox of the monitor's project. False for a report that came before. */
export async function reportError(deps: Deps, monitor: Monitor, report: ErrorReport): Promise<boolean> {
  const { fingerprint, title, url, reportId } = report;
  return transaction(deps.db, async (trx) => {
    if (reportId !== null && !(await rememberReport(trx, monitor.id, reportId))) return false;
    await putInboxItem(trx, {
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
