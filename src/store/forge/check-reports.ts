import { CHECKS_PRECEDENCE, type CheckOutcome } from "../../flow/checks.ts";
import { firstRow, rows, type Db } from "../db/connect.ts";

export interface CheckReport {
  readonly repositoryId: string;
  readonly sha: string;
  readonly source: "check_run" | "status";
  readonly name: string;
  readonly appId: number;
  /** Grows within a series; an older one never replaces a newer. */
  readonly forgeId: number;
  readonly outcome: CheckOutcome;
}

/**
 * Keeps the newest report of its series; false when it says nothing new. Within one run (`forgeId` equal) what has an outcome is not
 * taken back to pending, since deliveries may come in any order.
 */
export async function saveCheckReport(db: Db, report: CheckReport): Promise<boolean> {
  const saved = await firstRow(
    db,
    `insert into check_reports as k (repository_id, sha, source, name, app_id, forge_id, outcome)
     values (:repositoryId, :sha, :source, :name, :appId, :forgeId, :outcome)
     on conflict (repository_id, sha, source, name, app_id) do update
       set forge_id = excluded.forge_id, outcome = excluded.outcome, changed_at = now()
       where excluded.forge_id > k.forge_id
          or (excluded.forge_id = k.forge_id and excluded.outcome <> k.outcome and excluded.outcome <> 'pending')
     returning sha`,
    { ...report },
  );
  return saved !== null;
}

/** SQL for the state of a commit with the reports `k`, generated from the rule in `flow/checks.ts`. */
export const CHECKS_STATE = `case ${CHECKS_PRECEDENCE.map(
  ([state, from]) =>
    `when bool_or(k.outcome in (${from.map((outcome) => `'${outcome}'`).join(", ")})) then '${state}'`,
).join(" ")} end`;

/** The outcomes of all that reported on a commit. */
export async function listOutcomes(db: Db, repositoryId: string, sha: string): Promise<CheckOutcome[]> {
  const found = await rows<{ outcome: CheckOutcome }>(
    db,
    "select outcome from check_reports where repository_id = :repositoryId and sha = :sha",
    { repositoryId, sha },
  );
  return found.map((row) => row.outcome);
}
