import { z } from "zod";
import packageJson from "../../../package.json" with { type: "json" };
import { LATE_AFTER } from "../../actions/doctor/check-database.ts";
import type { Examine } from "../../actions/doctor/examine.ts";
import { retryDeliveries, retryJobs } from "../../actions/reconcile/retry-failed.ts";
import { UNAVAILABLE_REASONS } from "../../forge/values.ts";
import { chainAge } from "../../store/audit/attempts.ts";
import { listInstallationStates, INSTALLATION_STATES } from "../../store/ops/installation-states.ts";
import { listInstances } from "../../store/ops/instances.ts";
import {
  listFailedJobs,
  listParked,
  listTaskStatistics,
  readDatabaseFacts,
} from "../../store/ops/overview.ts";
import { readQueueStatistics } from "../../store/ops/queue-statistics.ts";
import type { Route } from "../route.ts";
import { timestamp } from "../v1/shapes.ts";
import { operatorRead, operatorWrite } from "./operator-routes.ts";

const count = z.int();
/** The age of the oldest entry in seconds, 0 if nothing waits, and whether `doctor` reports it. */
const age = z.object({ seconds: z.number(), isLate: z.boolean() });

const overview = z.object({
  version: z.string(),
  processes: z.array(
    z.object({
      id: z.uuid(),
      version: z.string().nullable(),
      startedAt: timestamp,
      seenAt: timestamp,
      isAlive: z.boolean(),
    }),
  ),
  database: z.object({
    version: z.string(),
    name: z.string(),
    bytes: z.int(),
    connections: count,
    maxConnections: count,
  }),
  lag: z.object({ jobs: age, deliveries: age, events: age, webhooks: age, auditChain: age }),
  waiting: z.object({
    jobs: count,
    deliveries: count,
    parked: count,
    webhooksPaused: count,
    failedJobs: count,
  }),
  tasks: z.array(z.object({ task: z.string(), due: count, running: count, later: count, failed: count })),
  failedJobs: z.array(
    z.object({
      id: z.string(),
      task: z.string(),
      attempts: count,
      error: z.string().nullable(),
      failedAt: timestamp,
    }),
  ),
  parked: z.array(
    z.object({
      guid: z.string(),
      event: z.string(),
      about: z.string(),
      attempts: count,
      crashes: count,
      error: z.string().nullable(),
      receivedAt: timestamp,
    }),
  ),
});

const installation = z.object({
  login: z.string(),
  installationId: z.int().nullable(),
  state: z.enum(INSTALLATION_STATES),
  since: timestamp.nullable(),
  refused: z.string().nullable(),
  missingPermissions: z.array(z.string()),
  boards: count,
  repositories: count,
  unavailable: z.enum(UNAVAILABLE_REASONS).nullable(),
  limitedUntil: timestamp.nullable(),
  contentLeft: count.nullable(),
  contentBurst: count,
});

const finding = z.object({
  about: z.string(),
  state: z.enum(["ok", "warning", "problem"]),
  message: z.string(),
  advice: z.string().optional(),
});

const ageOf = (seconds: number, lateAfter: number): z.input<typeof age> => ({
  seconds,
  isLate: seconds > lateAfter,
});

const retried = z.object({ retried: count });

/** The operations page. It has no texts of boards. */
export const operationsRoutes = (examine: Examine): readonly Route[] => [
  operatorRead({
    path: "/console/operations/overview",
    summary: "Get processes, database, queues and failures",
    result: overview,
    handle: async ({ db }) => {
      const queue = await readQueueStatistics(db);
      const { queueDepth, queueAge, waiting, waitingAge, parked, eventsAge, webhooksAge } = queue;
      const { webhooksPaused, failedJobs } = queue;
      return {
        version: packageJson.version,
        processes: await listInstances(db),
        database: await readDatabaseFacts(db),
        lag: {
          jobs: ageOf(queueAge, LATE_AFTER.jobs),
          deliveries: ageOf(waitingAge, LATE_AFTER.deliveries),
          events: ageOf(eventsAge, LATE_AFTER.events),
          webhooks: ageOf(webhooksAge, LATE_AFTER.webhooks),
          auditChain: ageOf(await chainAge(db), LATE_AFTER.auditChain),
        },
        waiting: { jobs: queueDepth, deliveries: waiting, parked, webhooksPaused, failedJobs },
        tasks: await listTaskStatistics(db),
        failedJobs: await listFailedJobs(db),
        parked: await listParked(db),
      };
    },
  }),
  operatorRead({
    path: "/console/operations/installations",
    summary: "List the installations of all organizations",
    result: z.array(installation),
    handle: ({ db }) => listInstallationStates(db),
  }),
  operatorRead({
    path: "/console/operations/findings",
    summary: "Check settings, database, webhook and permissions",
    result: z.array(finding),
    handle: ({ forge }, { response }) => {
      // GitHub may take long to respond.
      response.locals.limiter.schedule.leave(response);
      return examine(forge);
    },
  }),
  operatorWrite({
    path: "/console/operations/deliveries/retry",
    summary: "Retry all parked deliveries",
    result: retried,
    handle: (trx) => retryDeliveries(trx, null),
  }),
  operatorWrite({
    path: "/console/operations/deliveries/{guid}/retry",
    summary: "Retry a parked delivery",
    params: z.object({ guid: z.string().regex(/^[\w-]{1,100}$/) }),
    result: retried,
    handle: (trx, { guid }) => retryDeliveries(trx, guid),
  }),
  operatorWrite({
    path: "/console/operations/jobs/retry",
    summary: "Retry the jobs that failed at their last attempt",
    result: retried,
    handle: retryJobs,
  }),
];
