import { outcomeOfCheckRun, outcomeOfStatus, type CheckOutcome } from "../../../src/flow/checks.ts";
import type { ForgeContext } from "../context.ts";
import type { CheckRunRow, StatusRow } from "../rows.ts";
import { commitKey } from "../state.ts";

/** The last status or check run reported under one name. */
export interface ReportedOutcome {
  readonly name: string;
  readonly appId: number | null;
  readonly outcome: CheckOutcome;
}

/** The newest status of each context. */
export function latestStatuses(forge: ForgeContext, repositoryId: number, sha: string): StatusRow[] {
  const latest = new Map<string, StatusRow>();
  for (const status of forge.state.statuses.inGroup(commitKey(repositoryId, sha)))
    latest.set(status.context, status);
  return [...latest.values()];
}

/** The newest check run of each name in each suite. */
export function latestCheckRuns(forge: ForgeContext, repositoryId: number, sha: string): CheckRunRow[] {
  const latest = new Map<string, CheckRunRow>();
  for (const run of forge.state.checkRuns.inGroup(commitKey(repositoryId, sha)))
    latest.set(`${run.suiteId}:${run.name}`, run);
  return [...latest.values()];
}

/** The latest outcomes of a commit, of statuses and check runs. */
export function outcomesOf(forge: ForgeContext, repositoryId: number, sha: string): ReportedOutcome[] {
  const statuses = latestStatuses(forge, repositoryId, sha);
  const runs = latestCheckRuns(forge, repositoryId, sha);
  return [
    ...statuses.map((each) => ({
      name: each.context,
      appId: forge.state.apps.find(({ botId }) => botId === each.creatorId)?.id ?? null,
      outcome: outcomeOfStatus(each.state),
    })),
    ...runs.map((each) => ({
      name: each.name,
      appId: each.appId,
      outcome: outcomeOfCheckRun(each.status, each.conclusion),
    })),
  ];
}
