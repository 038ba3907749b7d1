import type { Task } from "graphile-worker";
import type { z } from "zod";
import { backMergeCard, sweepBackMerges } from "../actions/releases/back-merge.ts";
import { closePullRequests } from "../actions/cards/close-pull-requests.ts";
import { catchUpCard } from "../actions/reconcile/catch-up-card.ts";
import { compareChecks } from "../actions/reconcile/compare-checks.ts";
import { recordExpiredClaims } from "../actions/claims/claims.ts";
import type { Deps } from "../actions/deps.ts";
import { followAllTrunks, followTrunk } from "../actions/trunks/follow-trunk.ts";
import { logGraphqlGaps } from "../actions/installations/check-graphql.ts";
import { checkRefusedInstallation } from "../actions/installations/refused-installation.ts";
import { JOB_WAITS_MS, mirrorComment } from "../actions/comments/comments.ts";
import { inspectAllArmed, inspectArmed } from "../actions/moves/inspect-armed.ts";
import { reconcile } from "../actions/reconcile/reconcile.ts";
import { resumeQueuedMove } from "../actions/moves/resume-move.ts";
import { resumeOperation } from "../actions/resume-operation.ts";
import { suggestBranch } from "../actions/events/unassigned-branch.ts";
import { sweepPickBranches } from "../actions/releases/pick-card.ts";
import { syncInstallations } from "../actions/installations/sync-installation.ts";
import { listWaitingLanes } from "../store/forge/deliveries.ts";
import { dropOldBoardChanges } from "../store/cards/cached-boards.ts";
import { refreshSnapshots } from "../actions/reconcile/refresh-snapshots.ts";
import { recheckBlocked } from "../actions/reconcile/recheck-blocked.ts";
import type { Db } from "../store/db/connect.ts";
import { dropOldAttempts } from "../store/audit/chain.ts";
import {
  dropDeadInstances,
  dropEndedSessions,
  dropFailedJobs,
  dropOldCheckReports,
  dropOldDeliveries,
  dropOldEvents,
  dropOldKeys,
  dropOldOperations,
  dropOldReports,
  dropOldWebhookDeliveries,
  type Retention,
} from "../store/ops/retention.ts";
import { addJob, deleteFailedJobs, retryFailedJobs } from "../store/db/jobs.ts";
import { addLaneJobs, replayDeferred } from "../store/forge/lanes.ts";
import { JOBS, schedule, type Job, type JobName, type PayloadOf } from "../store/jobs.ts";
import { recoverMissedDeliveries } from "../webhooks/recover-missed-deliveries.ts";
import { processLane } from "../webhooks/process-lane.ts";
import { waitForLimits } from "./wait-for-limits.ts";

/** What runs each kind of job. */
type Handlers = { readonly [Name in JobName]: (payload: PayloadOf<Name>) => Promise<unknown> };

const handlersOf = (deps: Deps, retention: Retention): Handlers => ({
  processLane: ({ lane }) => processLane(deps, lane),
  replayDeferred: ({ repositoryId, number }) => replayDeferred(deps.db, repositoryId, number),

  catchUpCard: ({ cardId }) => catchUpCard(deps, cardId),
  backMerge: ({ cardId }) => backMergeCard(deps, cardId),
  closePullRequests: ({ cardId }) => closePullRequests(deps, cardId),
  recheckBlocked: ({ cardId, refusedAt }) => recheckBlocked(deps, cardId, refusedAt),
  compareChecks: ({ cardId }) => compareChecks(deps, cardId),
  inspectArmed: ({ cardId }) => inspectArmed(deps, cardId),
  resumeQueuedMove: (pull) => resumeQueuedMove(deps, pull),
  resumeOperation: ({ operationId }) => resumeOperation(deps, operationId),
  mirrorComment: ({ commentId }) => mirrorComment(deps, commentId, JOB_WAITS_MS),
  suggestBranch: (branch) => suggestBranch(deps, branch),
  followTrunk: ({ repositoryId, branchName }) => followTrunk(deps, repositoryId, branchName),
  checkRefusedInstallation: ({ installationId, waitedMs }) =>
    checkRefusedInstallation(deps, installationId, waitedMs),

  wakeWaitingLanes: async () => addLaneJobs(deps.db, await listWaitingLanes(deps.db)),
  recordExpiredClaims: () => recordExpiredClaims(deps),
  inspectAllArmed: () => inspectAllArmed(deps),
  refreshSnapshots: () => refreshSnapshots(deps),
  recoverMissedDeliveries: async () => {
    const { mayHaveMissed } = await recoverMissedDeliveries(deps);
    // After the recovered deliveries are processed, this finds changes that no delivery reports. It
    // must not delay a comparison that is due now.
    if (mayHaveMissed) await schedule(deps.db, JOBS.reconcile, {}, { delayMs: 60_000, besides: "missed" });
  },
  sweepPickBranches: () => sweepPickBranches(deps),
  sweepBackMerges: () => sweepBackMerges(deps),
  reconcile: (payload) => reconcile(deps, payload),
  syncInstallations: () => syncInstallations(deps),
  followAllTrunks: ({ installationId }) => followAllTrunks(deps, installationId),
  deleteOldRows: () => deleteOldRows(deps, retention),
  dropOldBoardChanges: () => dropOldBoardChanges(deps.db),
  checkGraphql: () => logGraphqlGaps(deps),
});

/** Deletes rows past their retention, and logs how many. */
export async function deleteOldRows(
  { db, log }: Deps,
  { deliveryDays, historyDays, auditDays }: Retention,
): Promise<void> {
  const dropped = {
    keys: await dropOldKeys(db),
    sessions: await dropEndedSessions(db),
    deliveries: await dropOldDeliveries(db, deliveryDays),
    events: await dropOldEvents(db),
    jobs: await dropFailedJobs(db, historyDays),
    instances: await dropDeadInstances(db),
    monitorReports: await dropOldReports(db),
    webhookDeliveries: await dropOldWebhookDeliveries(db),
    checkReports: await dropOldCheckReports(db, historyDays),
    auditRows: await dropOldAttempts(db, auditDays),
  };
  await dropOldOperations(db, historyDays);
  log.info(dropped, "deleted old rows");
}

/** Every task, by the workers that run it. */
export function createTasks(deps: Deps, retention: Retention) {
  const handlers = handlersOf(deps, retention);
  const tasksOf = (workers: Job["workers"]): Readonly<Record<string, Task>> =>
    Object.fromEntries(
      Object.entries(JOBS)
        .filter(([, job]) => job.workers === workers)
        .map(([kind, job]) => [job.name, taskOf(job, handlers[kind as JobName])]),
    );
  return {
    lanes: waitForLimits(deps, tasksOf("lanes")),
    repairs: waitForLimits(deps, withoutOldFailures(deps, tasksOf("repairs"))),
    moves: waitForLimits(deps, tasksOf("moves")),
  };
}

const taskOf =
  (job: { readonly payload: z.ZodType }, handle: (payload: never) => Promise<unknown>): Task =>
  async (payload) => {
    // The handler is that of the same kind of job.
    await handle(job.payload.parse(payload) as never);
  };

/** A timetable run does all pending work: its success deletes earlier failed jobs of the task. */
const withoutOldFailures = (
  { db }: Deps,
  tasks: Readonly<Record<string, Task>>,
): Readonly<Record<string, Task>> =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, task]): [string, Task] => [
      name,
      async (payload, helpers) => {
        await task(payload, helpers);
        if (!isForOneAccount(payload)) await deleteFailedJobs(db, name);
      },
    ]),
  );

const isForOneAccount = (payload: unknown): boolean =>
  typeof payload === "object" &&
  payload !== null &&
  ("installationId" in payload || "organizationId" in payload);

const kinds: readonly Pick<Job, "name" | "runsAtStart" | "isRepair">[] = Object.values(JOBS);

/** Adds the jobs that run when a process starts. */
export async function scheduleAtStart(db: Db): Promise<void> {
  for (const job of kinds.filter(({ runsAtStart }) => runsAtStart)) await scheduleEmpty(db, job);
}

/**
 * Adds all repair jobs (the comparison also of recent changes) and retries the failed jobs of other
 * kinds. Returns the names of the repair jobs.
 */
export async function scheduleRepairs(db: Db): Promise<string[]> {
  const repairs = kinds.filter(({ isRepair }) => isRepair);
  for (const job of repairs) await scheduleEmpty(db, job);
  await schedule(db, JOBS.reconcile, { minAgeMs: 0 });
  const added = [...repairs, JOBS.reconcile].map(({ name }) => name);
  await retryFailedJobs(db, added);
  return added;
}

const scheduleEmpty = (db: Db, { name }: Pick<Job, "name">): Promise<void> =>
  addJob(db, name, {}, { key: name });
