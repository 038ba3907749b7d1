import { z } from "zod";
import type { Db } from "./db/connect.ts";
import { addJob, addJobsAboutLanes, type JobSubject } from "./db/jobs.ts";

/** A kind of job. The code that runs it is in `jobs/tasks.ts`. */
export interface Job<Payload extends object = object> {
  /** The task's name in graphile-worker. */
  readonly name: string;
  /** The workers that run it. Jobs of one kind never wait for workers of another kind. */
  readonly workers: "lanes" | "repairs" | "moves";
  readonly payload: z.ZodType<Payload>;
  /**
   * Identifies a job among those of its kind: a new job replaces a waiting one with the same key. By
   * default, and if it returns null, the kind has one waiting job.
   */
  readonly keyOf?: (payload: Payload) => string | null;
  /** Jobs of one queue run one after the other. */
  readonly queueOf?: (payload: Payload) => string;
  /** The board whose share of the workers it takes, by what it is about. */
  readonly aboutOf?: (payload: Payload) => JobSubject;
  /** The pause before it starts, in milliseconds; by default none. */
  readonly delayMs?: number;
  /** Minute, hour, day of month, month, day of week; UTC. */
  readonly cron?: string;
  /** Attempts of a job that the timetable has added: 1 if the next run comes soon. */
  readonly cronAttempts?: 1 | 3;
  /** Runs when a process starts, for what happened while it was down. */
  readonly runsAtStart?: boolean;
  /** Added by `trunkline repair`. */
  readonly isRepair?: boolean;
}

/** Defines a job. The type of the payload follows from its schema. */
const job = <Payload extends object>(definition: Job<Payload>): Job<Payload> => definition;

interface OfCard {
  readonly cardId: string;
}
const ofCard = {
  workers: "moves",
  payload: z.object({ cardId: z.uuid() }),
  keyOf: ({ cardId }: OfCard) => cardId,
  aboutOf: ({ cardId }: OfCard) => ({ cardId }),
} as const;

const everyMinute = {
  workers: "repairs",
  payload: z.looseObject({}),
  cron: "* * * * *",
  cronAttempts: 1,
} as const;
const every5Minutes = { ...everyMinute, cron: "*/5 * * * *" } as const;
const hourlyAt = (minute: number, cronAttempts: 1 | 3) =>
  ({ ...everyMinute, cron: `${minute} * * * *`, cronAttempts }) as const;

/** Every kind of job. */
export const JOBS = {
  // Deliveries.

  /** Processes the waiting deliveries of a lane. */
  processLane: job({
    name: "process-lane",
    workers: "lanes",
    payload: z.object({ lane: z.string() }),
    keyOf: ({ lane }) => lane,
    queueOf: ({ lane }) => lane,
    aboutOf: ({ lane }) => ({ lane }),
  }),
  /** Puts the deferred events of a pull request back into their lane. */
  replayDeferred: job({
    name: "replay-deferred-events",
    workers: "lanes",
    payload: z.object({ repositoryId: z.uuid(), number: z.int() }),
    keyOf: ({ repositoryId, number }) => `${repositoryId}:${number}`,
    aboutOf: ({ repositoryId }) => ({ repositoryId }),
  }),

  // After an event, a call or a crash.

  /** Does what a card's stage requires and could not be done before. */
  catchUpCard: job({
    ...ofCard,
    name: "catch-up-card",
    // One job per card at a time, or each would open the same pull request. Queues are never deleted,
    // so all cards share 256 of them.
    queueOf: ({ cardId }) => `catch-up-card:${cardId.slice(-2)}`,
  }),
  /** Brings a card's commits into the branches that lack them. */
  backMerge: job({
    ...ofCard,
    name: "back-merge-hotfix",
    queueOf: ({ cardId }) => `back-merge-hotfix:${cardId}`,
    delayMs: 200,
  }),
  /** Closes the open pull requests of a card that is being deleted. */
  closePullRequests: job({ ...ofCard, name: "close-pull-requests" }),
  /** Removes the reasons of a blocked card that no longer hold. */
  recheckBlocked: job({
    ...ofCard,
    name: "recheck-blocked",
    // `refusedAt` is the time of a refusal whose missing permission was granted since.
    payload: z.object({ cardId: z.uuid(), refusedAt: z.string().optional() }),
    // A recheck without `refusedAt` must not replace one with it.
    keyOf: ({ cardId, refusedAt }) => (refusedAt === undefined ? cardId : `permitted:${cardId}`),
    delayMs: 200,
  }),
  /** Reads which check runs count, if several suites have runs of one name. */
  compareChecks: job({ ...ofCard, name: "compare-checks", delayMs: 1_000 }),
  /** Inspects an armed move. Because of the pause, a burst of events leads to one inspection. */
  inspectArmed: job({ ...ofCard, name: "inspect-armed", delayMs: 1_000 }),
  /** Resumes a card's move after a webhook of GitHub's merge queue about its pull request. */
  resumeQueuedMove: job({
    name: "resume-queued-move",
    workers: "moves",
    payload: z.object({
      cardId: z.uuid(),
      repositoryId: z.uuid(),
      prNumber: z.int(),
      /** How often the move was resumed after the removal from the queue. */
      inspections: z.int().optional(),
    }),
    keyOf: ({ repositoryId, prNumber }) => `${repositoryId}:${prNumber}`,
    aboutOf: ({ cardId }) => ({ cardId }),
  }),
  /** Continues an operation that no live process runs. */
  resumeOperation: job({
    name: "resume-operation",
    workers: "moves",
    payload: z.object({ operationId: z.uuid(), boardId: z.uuid() }),
    keyOf: ({ operationId }) => operationId,
    aboutOf: ({ boardId }) => ({ boardId }),
  }),
  /** Writes a comment to the pull requests that do not show its present text. */
  mirrorComment: job({
    name: "mirror-comment",
    workers: "moves",
    payload: z.object({ commentId: z.uuid() }),
    keyOf: ({ commentId }) => commentId,
    aboutOf: ({ commentId }) => ({ commentId }),
  }),
  /** Suggests a card for a branch that belongs to none, or withdraws the suggestion. */
  suggestBranch: job({
    name: "suggest-branch",
    workers: "moves",
    payload: z.object({
      repositoryId: z.uuid(),
      branchName: z.string(),
      login: z.string().nullable(),
      at: z.string().nullable(),
    }),
    keyOf: ({ repositoryId, branchName }) => `${repositoryId}:${branchName}`,
    aboutOf: ({ repositoryId }) => ({ repositoryId }),
  }),
  /** Reads what has landed on a trunk. */
  followTrunk: job({
    name: "follow-trunk",
    workers: "moves",
    payload: z.object({ repositoryId: z.uuid(), branchName: z.string() }),
    keyOf: ({ repositoryId, branchName }) => `${repositoryId}:${branchName}`,
    queueOf: ({ repositoryId, branchName }) => `follow-trunk:${repositoryId}:${branchName}`,
    aboutOf: ({ repositoryId }) => ({ repositoryId }),
  }),
  /** Asks whether GitHub still refuses an installation. */
  checkRefusedInstallation: job({
    name: "check-refused-installation",
    workers: "moves",
    payload: z.object({ installationId: z.int(), waitedMs: z.number() }),
    keyOf: ({ installationId }) => String(installationId),
  }),

  // Of the timetable.

  /** Adds the jobs of lanes that lack one. */
  wakeWaitingLanes: job({ ...everyMinute, name: "wake-waiting-lanes", runsAtStart: true, isRepair: true }),
  recordExpiredClaims: job({ ...everyMinute, name: "record-expired-claims" }),
  inspectAllArmed: job({ ...everyMinute, name: "inspect-all-armed" }),
  /** Reads again what boards show of Git and no longer holds. */
  refreshSnapshots: job({ ...everyMinute, name: "refresh-snapshots" }),
  recoverMissedDeliveries: job({
    ...every5Minutes,
    name: "recover-missed-deliveries",
    runsAtStart: true,
    isRepair: true,
  }),
  sweepPickBranches: job({ ...every5Minutes, name: "sweep-pick-branches", isRepair: true }),
  sweepBackMerges: job({ ...hourlyAt(27, 1), name: "sweep-back-merges", isRepair: true }),
  /** Compares all accounts, or one, with GitHub. */
  reconcile: job({
    ...hourlyAt(29, 1),
    name: "reconcile",
    payload: z.object({ minAgeMs: z.int().optional(), organizationId: z.uuid().optional() }),
    keyOf: ({ organizationId }) => organizationId ?? null,
  }),
  /** Compares installations and their repositories with GitHub. */
  syncInstallations: job({ ...hourlyAt(17, 3), name: "sync-installations", isRepair: true }),
  /** The trunks of all accounts, or of one. */
  followAllTrunks: job({
    ...hourlyAt(43, 3),
    name: "follow-all-trunks",
    payload: z.object({ installationId: z.int().optional() }),
    keyOf: ({ installationId }) => (installationId === undefined ? null : String(installationId)),
    runsAtStart: true,
    isRepair: true,
  }),
  deleteOldRows: job({ ...hourlyAt(41, 3), name: "delete-old-rows" }),
  dropOldBoardChanges: job({ ...hourlyAt(11, 3), name: "drop-old-board-changes" }),
  /** Logs what the GitHub server's GraphQL API lacks. */
  checkGraphql: job({
    name: "check-graphql",
    workers: "repairs",
    payload: z.looseObject({}),
    runsAtStart: true,
  }),
} as const;

export type JobName = keyof typeof JOBS;
export type PayloadOf<Name extends JobName> = z.infer<(typeof JOBS)[Name]["payload"]>;

/**
 * Adds a job. In a transaction, the job exists only if the transaction commits. `delayMs` replaces the
 * pause of its kind. `besides` keeps it from replacing the job with the usual key.
 */
export function schedule<Payload extends object>(
  db: Db,
  job: Job<Payload>,
  payload: Payload,
  { delayMs = job.delayMs ?? 0, besides }: { readonly delayMs?: number; readonly besides?: string } = {},
): Promise<void> {
  const about = job.aboutOf?.(payload);
  const options = { ...placeOf(job, payload, besides), delayMs, ...(about && { about }) };
  return addJob(db, job.name, { ...payload }, options);
}

/** Adds the jobs of lanes, without a pause. Those that wait already keep their start time. */
export const scheduleLanes = (db: Db, lanes: readonly string[]): Promise<void> =>
  addJobsAboutLanes(
    db,
    JOBS.processLane.name,
    lanes.map((lane) => ({ lane, payload: { lane }, ...placeOf(JOBS.processLane, { lane }) })),
  );

const placeOf = <Payload extends object>(
  { name, keyOf, queueOf }: Job<Payload>,
  payload: Payload,
  besides?: string,
): { readonly key: string; readonly queue: string | null } => ({
  key: [name, besides, keyOf?.(payload)].filter((part) => part !== undefined && part !== null).join(":"),
  queue: queueOf?.(payload) ?? null,
});

/** In the format of graphile-worker's crontab. */
export const TIMETABLE = Object.values(JOBS)
  .flatMap(({ name, cron, cronAttempts = 1 }: Pick<Job, "name" | "cron" | "cronAttempts">) =>
    cron ? `${cron} ${name} ?max=${cronAttempts}\n` : [],
  )
  .join("");
