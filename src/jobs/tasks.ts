import type { Task, TaskList } from "graphile-worker";
import { z } from "zod";
import { CATCH_UP_CARD, catchUpCard } from "../actions/catch-up-card.ts";
import {
  BRING_BACK_HOTFIX,
  bringBackHotfix,
  LOOK_AFTER_HOTFIXES,
  lookAfterHotfixes,
} from "../actions/bring-back-hotfix.ts";
import type { Deps } from "../actions/deps.ts";
import { FOLLOW_TRUNK, FOLLOW_TRUNKS, followTrunk, followTrunks } from "../actions/follow-trunk.ts";
import { LOOK_AT_REFUSED, lookAtRefused } from "../actions/heed-refusal.ts";
import { JOB_WAITS_MS, MIRROR_COMMENT, mirrorComment } from "../actions/comments/comments.ts";
import { RECONCILE } from "../actions/reconcile-later.ts";
import { reconcile } from "../actions/reconcile.ts";
import { RECHECK_BLOCKED, recheckBlocked } from "../actions/recheck-blocked.ts";
import {
  RESUME_ORPHANED_MOVES,
  RESUME_QUEUED_MOVE,
  resumeOrphanedMoves,
  resumeQueuedMove,
} from "../actions/resume-move.ts";
import { RESUME_RELEASE_ACTION } from "../actions/releases/release-action.ts";
import { resumeAction } from "../actions/releases/resume-release-action.ts";
import { SUGGEST_BRANCH, suggestBranch } from "../actions/events/stray-branch.ts";
import { SWEEP_PICK_LEFTOVERS, sweepPickLeftovers } from "../actions/releases/pick-card.ts";
import { syncInstallations } from "../actions/sync-installation.ts";
import { listWaitingLanes } from "../store/deliveries.ts";
import { dropOldBoardChanges } from "../store/ready-boards.ts";
import { dropOldPlaceChanges } from "../store/column-counts.ts";
import type { Retention } from "../store/retention.ts";
import { addJob, forgetGivenUp } from "../store/jobs.ts";
import { REPLAY_DEFERRED, replayDeferred, WORK_LANE, workLanesSoon } from "../store/lanes.ts";
import { TAKE_IN_MISSED, takeInMissed } from "../webhooks/take-in-missed.ts";
import { workLane } from "../webhooks/work-lane.ts";
import { DROP_OLD, dropOld } from "./drop-old.ts";

export const SYNC_INSTALLATIONS = "sync-installations";
export const WORK_FORGOTTEN_LANES = "work-forgotten-lanes";

const lanePayload = z.object({ lane: z.string() });
const cardPayload = z.object({ cardId: z.uuid() });
const recheckPayload = z.object({ cardId: z.uuid(), permittedAfter: z.string().optional() });
const commentPayload = z.object({ commentId: z.uuid() });
const actionPayload = z.object({ actionId: z.uuid() });
const pullPayload = z.object({ repositoryId: z.uuid(), number: z.int() });
const trunkPayload = z.object({ repositoryId: z.uuid(), branchName: z.string() });
const accountPayload = z.object({ installationId: z.int().optional() });
const refusedPayload = z.object({ installationId: z.int(), waitedMs: z.number() });
const queuedPayload = z.object({
  cardId: z.uuid(),
  repositoryId: z.uuid(),
  prNumber: z.int(),
  looks: z.int().optional(),
});
const pacePayload = z.object({ quietMs: z.int().optional(), organizationId: z.uuid().optional() });
const branchPayload = z.object({
  repositoryId: z.uuid(),
  branchName: z.string(),
  login: z.string().nullable(),
  at: z.string().nullable(),
});

/** All that runs later. */
export const tasksOf = (deps: Deps, retention: Retention): TaskList => ({
  ...forgetting(deps, tasksByTheClock(deps, retention)),
  [WORK_LANE]: (payload) => workLane(deps, lanePayload.parse(payload).lane),
  [REPLAY_DEFERRED]: (payload) => {
    const { repositoryId, number } = pullPayload.parse(payload);
    return replayDeferred(deps.db, repositoryId, number);
  },
  [CATCH_UP_CARD]: (payload) => catchUpCard(deps, cardPayload.parse(payload).cardId),
  [BRING_BACK_HOTFIX]: (payload) => bringBackHotfix(deps, cardPayload.parse(payload).cardId),
  [RECHECK_BLOCKED]: (payload) => {
    const { cardId, permittedAfter } = recheckPayload.parse(payload);
    return recheckBlocked(deps, cardId, permittedAfter);
  },
  [MIRROR_COMMENT]: (payload) => mirrorComment(deps, commentPayload.parse(payload).commentId, JOB_WAITS_MS),
  [RESUME_QUEUED_MOVE]: (payload) => {
    return resumeQueuedMove(deps, queuedPayload.parse(payload));
  },
  [SUGGEST_BRANCH]: (payload) => suggestBranch(deps, branchPayload.parse(payload)),
  [RESUME_ORPHANED_MOVES]: () => resumeOrphanedMoves(deps),
  [RESUME_RELEASE_ACTION]: (payload) => resumeAction(deps, actionPayload.parse(payload).actionId),
  [FOLLOW_TRUNK]: (payload) => {
    const { repositoryId, branchName } = trunkPayload.parse(payload);
    return followTrunk(deps, repositoryId, branchName);
  },
  [LOOK_AT_REFUSED]: (payload) => {
    const { installationId, waitedMs } = refusedPayload.parse(payload);
    return lookAtRefused(deps, installationId, waitedMs);
  },
});

const tasksByTheClock = (deps: Deps, retention: Retention): Readonly<Record<string, Task>> => ({
  [WORK_FORGOTTEN_LANES]: async () => {
    await workLanesSoon(deps.db, await listWaitingLanes(deps.db));
  },
  [TAKE_IN_MISSED]: async () => {
    const { wasAway } = await takeInMissed(deps);
    // Once what the log brought has been worked, what no log knows of is looked for.
    // Under a key of its own: a comparison that was asked for at once must not become one in a minute.
    if (wasAway) await addJob(deps.db, RECONCILE, {}, { key: `${RECONCILE}:away`, delayMs: 60_000 });
  },
  [SWEEP_PICK_LEFTOVERS]: () => sweepPickLeftovers(deps),
  [LOOK_AFTER_HOTFIXES]: () => lookAfterHotfixes(deps),
  [RECONCILE]: (payload) => reconcile(deps, pacePayload.parse(payload)),
  [SYNC_INSTALLATIONS]: () => syncInstallations(deps),
  [FOLLOW_TRUNKS]: (payload) => followTrunks(deps, accountPayload.parse(payload).installationId),
  [DROP_OLD]: () => dropOld(deps, retention),
  "drop-old-board-changes": async () => {
    await dropOldBoardChanges(deps.db);
    await dropOldPlaceChanges(deps.db);
  },
});

/** Each run by the clock does all there is to do: once one went well, nothing is left of those that were given up. */
const forgetting = ({ db }: Deps, tasks: Readonly<Record<string, Task>>): TaskList =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, task]): [string, Task] => [
      name,
      async (payload, helpers) => {
        await task(payload, helpers);
        if (!isOfOneAccount(payload)) await forgetGivenUp(db, name);
      },
    ]),
  );

const isOfOneAccount = (payload: unknown): boolean =>
  typeof payload === "object" &&
  payload !== null &&
  ("installationId" in payload || "organizationId" in payload);

/** When what runs by the clock runs (minute, hour, day of month, month, day of week; UTC). */
export const TIMETABLE = `
* * * * * work-forgotten-lanes ?max=1
*/5 * * * * take-in-missed-deliveries ?max=1
*/5 * * * * sweep-pick-leftovers ?max=1
27 * * * * look-after-hotfixes ?max=1
29 * * * * reconcile ?max=1
17 * * * * sync-installations ?max=3
43 * * * * follow-trunks ?max=3
41 * * * * drop-what-is-old ?max=3
11 * * * * drop-old-board-changes ?max=3
`;

/** What runs once when a process starts: it may have been away. */
export const AT_START: readonly string[] = [WORK_FORGOTTEN_LANES, TAKE_IN_MISSED, FOLLOW_TRUNKS];
