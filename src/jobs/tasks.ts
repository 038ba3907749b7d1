import type { Task } from "graphile-worker";
import { z } from "zod";
import {
  BACK_MERGE,
  backMergeCard,
  SWEEP_BACK_MERGES,
  sweepBackMerges,
} from "../actions/releases/back-merge.ts";
import { CLOSE_PULL_REQUESTS, closePullRequests } from "../actions/cards/close-pull-requests.ts";
import { CATCH_UP_CARD, catchUpCard } from "../actions/reconcile/catch-up-card.ts";
import { RECORD_EXPIRED_CLAIMS, recordExpiredClaims } from "../actions/claims/claims.ts";
import type { Deps } from "../actions/deps.ts";
import {
  FOLLOW_TRUNK,
  FOLLOW_ALL_TRUNKS,
  followTrunk,
  followAllTrunks,
} from "../actions/reconcile/follow-trunk.ts";
import { CHECK_GRAPHQL, logGraphqlGaps } from "../actions/installations/check-graphql.ts";
import {
  CHECK_REFUSED_INSTALLATION,
  checkRefusedInstallation,
} from "../actions/installations/refused-installation.ts";
import { JOB_WAITS_MS, MIRROR_COMMENT, mirrorComment } from "../actions/comments/comments.ts";
import { INSPECT_ALL_ARMED, inspectAllArmed, inspectArmed } from "../actions/moves/inspect-armed.ts";
import { INSPECT_ARMED } from "../actions/reconcile/inspect-soon.ts";
import { RECONCILE } from "../actions/reconcile/reconcile-later.ts";
import { reconcile } from "../actions/reconcile/reconcile.ts";
import {
  RESUME_ORPHANED_MOVES,
  RESUME_QUEUED_MOVE,
  resumeOrphanedMoves,
  resumeQueuedMove,
} from "../actions/moves/resume-move.ts";
import { RESUME_RELEASE_ACTION } from "../actions/releases/release-action.ts";
import { resumeReleaseAction } from "../actions/releases/resume-release-action.ts";
import { SUGGEST_BRANCH, suggestBranch } from "../actions/events/unassigned-branch.ts";
import { SWEEP_PICK_BRANCHES, sweepPickBranches } from "../actions/releases/pick-card.ts";
import { syncInstallations } from "../actions/installations/sync-installation.ts";
import { listWaitingLanes } from "../store/forge/deliveries.ts";
import { dropOldBoardChanges } from "../store/cards/cached-boards.ts";
import { dropOldPlaceChanges } from "../store/cards/placing.ts";
import { recheckBlocked } from "../actions/reconcile/recheck-blocked.ts";
import { RECHECK_BLOCKED } from "../actions/reconcile/recheck-soon.ts";
import type { Db } from "../store/db/connect.ts";
import { dropOldAttempts } from "../store/audit/chain.ts";
import {
  dropDeadInstances,
  dropEndedSessions,
  dropFailedJobs,
  dropOldActions,
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
import { REPLAY_DEFERRED, replayDeferred, PROCESS_LANE, addLaneJobs } from "../store/forge/lanes.ts";
import { RECOVER_MISSED_DELIVERIES, recoverMissedDeliveries } from "../webhooks/recover-missed-deliveries.ts";
import { processLane } from "../webhooks/process-lane.ts";
import { waitForLimits } from "./wait-for-limits.ts";

const DELETE_OLD_ROWS = "delete-old-rows";

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
    releaseActions: await dropOldActions(db, historyDays),
    auditRows: await dropOldAttempts(db, auditDays),
  };
  await dropOldOperations(db, historyDays);
  log.info(dropped, "deleted old rows");
}

const SYNC_INSTALLATIONS = "sync-installations";
export const WAKE_WAITING_LANES = "wake-waiting-lanes";

const lanePayload = z.object({ lane: z.string() });
const cardPayload = z.object({ cardId: z.uuid() });
const recheckPayload = z.object({ cardId: z.uuid(), refusedAt: z.string().optional() });
const boardPayload = z.object({ boardId: z.uuid() });
const commentPayload = z.object({ commentId: z.uuid() });
const actionPayload = z.object({ actionId: z.uuid() });
const pullPayload = z.object({ repositoryId: z.uuid(), number: z.int() });
const trunkPayload = z.object({ repositoryId: z.uuid(), branchName: z.string() });
const accountPayload = z.object({ installationId: z.int().optional() });
const refusedInstallationPayload = z.object({ installationId: z.int(), waitedMs: z.number() });
const queuedPayload = z.object({
  cardId: z.uuid(),
  repositoryId: z.uuid(),
  prNumber: z.int(),
  inspections: z.int().optional(),
});
const reconcilePayload = z.object({ minAgeMs: z.int().optional(), organizationId: z.uuid().optional() });
const branchPayload = z.object({
  repositoryId: z.uuid(),
  branchName: z.string(),
  login: z.string().nullable(),
  at: z.string().nullable(),
});

/** Every task, by the workers that run it. Tasks of one kind never wait for workers of another kind. */
export const createTasks = (deps: Deps, retention: Retention) => ({
  lanes: waitForLimits(deps, laneTasks(deps)),
  repairs: waitForLimits(deps, withoutOldFailures(deps, timetableTasks(deps, retention))),
  moves: waitForLimits(deps, eventTasks(deps)),
});

/** Tasks that process deliveries. */
const laneTasks = (deps: Deps): Readonly<Record<string, Task>> => ({
  [PROCESS_LANE]: (payload) => processLane(deps, lanePayload.parse(payload).lane),
  [REPLAY_DEFERRED]: (payload) => {
    const { repositoryId, number } = pullPayload.parse(payload);
    return replayDeferred(deps.db, repositoryId, number);
  },
});

/** Tasks that an event, a call or the heartbeat adds. */
const eventTasks = (deps: Deps): Readonly<Record<string, Task>> => ({
  [CATCH_UP_CARD]: (payload) => catchUpCard(deps, cardPayload.parse(payload).cardId),
  [BACK_MERGE]: (payload) => backMergeCard(deps, cardPayload.parse(payload).cardId),
  [CLOSE_PULL_REQUESTS]: (payload) => closePullRequests(deps, cardPayload.parse(payload).cardId),
  [RECHECK_BLOCKED]: (payload) => {
    const { cardId, refusedAt } = recheckPayload.parse(payload);
    return recheckBlocked(deps, cardId, refusedAt);
  },
  [INSPECT_ARMED]: (payload) => inspectArmed(deps, cardPayload.parse(payload).cardId),
  [MIRROR_COMMENT]: (payload) => mirrorComment(deps, commentPayload.parse(payload).commentId, JOB_WAITS_MS),
  [RESUME_QUEUED_MOVE]: (payload) => {
    return resumeQueuedMove(deps, queuedPayload.parse(payload));
  },
  [SUGGEST_BRANCH]: (payload) => suggestBranch(deps, branchPayload.parse(payload)),
  [RESUME_ORPHANED_MOVES]: (payload) => resumeOrphanedMoves(deps, boardPayload.parse(payload).boardId),
  [RESUME_RELEASE_ACTION]: (payload) => resumeReleaseAction(deps, actionPayload.parse(payload).actionId),
  [FOLLOW_TRUNK]: (payload) => {
    const { repositoryId, branchName } = trunkPayload.parse(payload);
    return followTrunk(deps, repositoryId, branchName);
  },
  [CHECK_REFUSED_INSTALLATION]: (payload) => {
    const { installationId, waitedMs } = refusedInstallationPayload.parse(payload);
    return checkRefusedInstallation(deps, installationId, waitedMs);
  },
});

const timetableTasks = (deps: Deps, retention: Retention): Readonly<Record<string, Task>> => ({
  [WAKE_WAITING_LANES]: async () => {
    await addLaneJobs(deps.db, await listWaitingLanes(deps.db));
  },
  [RECOVER_MISSED_DELIVERIES]: async () => {
    const { mayHaveMissed } = await recoverMissedDeliveries(deps);
    // After the recovered deliveries are processed, this finds changes that no delivery reports. A
    // separate key, so that this job does not delay one that is due now.
    if (mayHaveMissed) await addJob(deps.db, RECONCILE, {}, { key: `${RECONCILE}:missed`, delayMs: 60_000 });
  },
  [SWEEP_PICK_BRANCHES]: () => sweepPickBranches(deps),
  [SWEEP_BACK_MERGES]: () => sweepBackMerges(deps),
  [RECONCILE]: (payload) => reconcile(deps, reconcilePayload.parse(payload)),
  [SYNC_INSTALLATIONS]: () => syncInstallations(deps),
  [CHECK_GRAPHQL]: () => logGraphqlGaps(deps),
  [RECORD_EXPIRED_CLAIMS]: () => recordExpiredClaims(deps),
  [INSPECT_ALL_ARMED]: () => inspectAllArmed(deps),
  [FOLLOW_ALL_TRUNKS]: (payload) => followAllTrunks(deps, accountPayload.parse(payload).installationId),
  [DELETE_OLD_ROWS]: () => deleteOldRows(deps, retention),
  "drop-old-board-changes": async () => {
    await dropOldBoardChanges(deps.db);
    await dropOldPlaceChanges(deps.db);
  },
});

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

/** The timetable (minute, hour, day of month, month, day of week; UTC). */
export const TIMETABLE = `
* * * * * wake-waiting-lanes ?max=1
* * * * * record-expired-claims ?max=1
* * * * * inspect-all-armed ?max=1
*/5 * * * * recover-missed-deliveries ?max=1
*/5 * * * * sweep-pick-branches ?max=1
27 * * * * sweep-back-merges ?max=1
29 * * * * reconcile ?max=1
17 * * * * sync-installations ?max=3
43 * * * * follow-all-trunks ?max=3
41 * * * * delete-old-rows ?max=3
11 * * * * drop-old-board-changes ?max=3
`;

/** Tasks that run when a process starts, for what happened while it was down. */
export const START_TASKS: readonly string[] = [
  WAKE_WAITING_LANES,
  RECOVER_MISSED_DELIVERIES,
  FOLLOW_ALL_TRUNKS,
  CHECK_GRAPHQL,
];

const REPAIRS = [
  SYNC_INSTALLATIONS,
  RECOVER_MISSED_DELIVERIES,
  WAKE_WAITING_LANES,
  FOLLOW_ALL_TRUNKS,
  SWEEP_BACK_MERGES,
  SWEEP_PICK_BRANCHES,
] as const;

/**
 * Adds all repair jobs (the comparison also of recent changes) and retries the failed jobs of other
 * tasks. Returns the names of the repair jobs.
 */
export async function scheduleRepairs(db: Db): Promise<string[]> {
  for (const task of REPAIRS) await addJob(db, task, {}, { key: task });
  await addJob(db, RECONCILE, { minAgeMs: 0 }, { key: RECONCILE });
  const added = [...REPAIRS, RECONCILE];
  await retryFailedJobs(db, added);
  return added;
}
